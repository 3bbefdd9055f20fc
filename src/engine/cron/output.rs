//! Output documents: `output/<job>/<time>_<execution>.md`, one a run, the newest kept.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::config::Home;
use crate::domain::Time;
use crate::domain::cron::{Execution, ExecutionState, How, JobId};
use crate::domain::sanitize::one_line;

/// The headings behind which a document tells the result.
const ANSWER: &str = "## Answer";
const ERROR: &str = "## Error";

/// A run as its document tells it.
#[derive(Debug)]
pub(super) struct Report<'a> {
    /// The execution, as it was claimed.
    pub(super) execution: &'a Execution,
    /// What a person calls the job.
    pub(super) name: &'a str,
    /// How the run ended.
    pub(super) state: ExecutionState,
    /// When it began and ended.
    pub(super) began: Time,
    pub(super) ended: Time,
    /// What the agent was told; none without an agent.
    pub(super) prompt: Option<&'a str>,
    /// What the agent or the script said.
    pub(super) answer: Option<&'a str>,
    /// Why it did not succeed; else what of its work was not done.
    pub(super) why: Option<&'a str>,
    /// The background processes that end with it.
    pub(super) ends: &'a [String],
}

/// Writes the document of a run, and takes away those of its job that are older than the newest `keep`.
/// Returns its path, relative to the home.
pub(super) fn write(home: &Home, report: &Report<'_>, keep: usize) -> io::Result<String> {
    let job = &report.execution.job;
    let folder = home.output().join(job.as_str());
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    let name = format!("{}_{}.md", report.began.format("%Y%m%d_%H%M%S"), report.execution.id);
    // A temporary file is 0600 from its first moment.
    let mut file = tempfile::Builder::new().prefix(".").suffix(".part").tempfile_in(&folder)?;
    file.write_all(text(report).as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(folder.join(&name))?;
    prune(&folder, keep);
    Ok(format!("output/{job}/{name}"))
}

/// Reads a document. None where it is gone.
pub(super) fn read(home: &Home, path: &str) -> io::Result<Option<String>> {
    let file = place(home, path)?;
    match fs::read(file) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// What the run of a document said: all behind the heading. A prompt can't hold that line: it is quoted.
pub(super) fn answer_of(document: &str) -> Option<&str> {
    let heading = format!("\n{ANSWER}\n");
    let at = document.find(&heading)? + heading.len();
    Some(document[at..].trim())
}

/// Takes away the oldest documents beyond the newest `keep`. Whatever else lies in the folder stays.
fn prune(folder: &Path, keep: usize) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let ours = |entry: &fs::DirEntry| {
        entry.file_type().is_ok_and(|kind| kind.is_file()) && entry.file_name().to_str().is_some_and(is_ours)
    };
    let mut documents: Vec<(Time, u64, PathBuf)> = entries
        .flatten()
        .filter(ours)
        .filter_map(|entry| {
            let name = entry.file_name();
            let (time, execution) = parts(name.to_str()?)?;
            Some((time, execution, entry.path()))
        })
        .collect();
    documents.sort();
    let excess = documents.len().saturating_sub(keep);
    for (_, _, path) in documents.into_iter().take(excess) {
        if let Err(error) = fs::remove_file(&path) {
            tracing::warn!(path = %path.display(), %error, "an old output document stays");
        }
    }
}

fn is_ours(name: &str) -> bool {
    parts(name).is_some()
}

/// The time and the execution in the name of a document.
fn parts(name: &str) -> Option<(Time, u64)> {
    let (time, execution) = name.strip_suffix(".md")?.rsplit_once('_')?;
    if !execution.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let time = chrono::NaiveDateTime::parse_from_str(time, "%Y%m%d_%H%M%S").ok()?;
    Some((time.and_utc(), execution.parse().ok()?))
}

/// The file that a path of the store names; only what lies in `output/` is read.
fn place(home: &Home, path: &str) -> io::Result<PathBuf> {
    let inside = path
        .strip_prefix("output/")
        .and_then(|rest| rest.split_once('/'))
        .filter(|(job, name)| job.parse::<JobId>().is_ok() && is_ours(name));
    match inside {
        Some((job, name)) => Ok(home.output().join(job).join(name)),
        None => Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{path:?} is no output document"))),
    }
}

fn text(report: &Report<'_>) -> String {
    let Report { execution, name, state, began, ended, prompt, answer, why, ends } = report;
    let clock = |at: &Time| at.format("%Y-%m-%d %H:%M:%S UTC");
    let mut text = format!("# {}\n\n", one_line(name));
    let _ = writeln!(text, "- job: {}", execution.job);
    let _ = writeln!(text, "- run: {}, {}", execution.id, how(execution));
    let _ = writeln!(text, "- state: {state}");
    let _ = writeln!(text, "- began: {}", clock(began));
    let _ = writeln!(text, "- ended: {}", clock(ended));
    if let Some(session) = &execution.session {
        let _ = writeln!(text, "- session: {session}");
    }
    if !ends.is_empty() {
        let _ = writeln!(text, "- background processes ended with it: {}", one_line(&ends.join(", ")));
    }
    if let (ExecutionState::Succeeded, Some(undone)) = (state, why) {
        let _ = writeln!(text, "- not done: {}", one_line(undone));
    }
    if let Some(prompt) = prompt {
        let _ = write!(text, "\n## Prompt\n\n{}\n", quoted(prompt));
    }
    if let Some(why) = why.filter(|_| *state != ExecutionState::Succeeded) {
        let _ = write!(text, "\n{ERROR}\n\n{}\n", one_line(why));
    }
    if let Some(answer) = answer {
        let _ = write!(text, "\n{ANSWER}\n\n{}\n", answer.trim_end());
    }
    text
}

fn how(execution: &Execution) -> String {
    let how = match execution.how {
        How::OnTime => "on time",
        How::Late => "late",
        How::CatchUp => "to catch up",
        How::RunNow => return "run now".to_owned(),
    };
    match &execution.slots {
        Some(slots) if slots.count > 1 => format!(
            "{how}, {} slots from {} to {}",
            slots.count,
            slots.first.format("%Y-%m-%d %H:%M"),
            slots.last.format("%Y-%m-%d %H:%M UTC")
        ),
        Some(slots) => format!("{how}, slot {}", slots.first.format("%Y-%m-%d %H:%M:%S UTC")),
        None => how.to_owned(),
    }
}

fn quoted(text: &str) -> String {
    let lines = text.lines().map(|line| if line.is_empty() { ">".to_owned() } else { format!("> {line}") });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::cron::Slots;
    use crate::domain::id::ExecutionId;
    use chrono::{TimeDelta, TimeZone, Utc};
    use std::os::unix::fs::PermissionsExt;

    fn execution(id: i64) -> Execution {
        let slot = Utc.with_ymd_and_hms(2026, 11, 30, 8, 0, 0).unwrap();
        Execution {
            id: ExecutionId(id),
            job: "news".parse().unwrap(),
            slots: Some(Slots::one(slot)),
            how: How::OnTime,
            state: ExecutionState::Running,
            taken_at: slot,
            began_at: Some(slot),
            ended_at: None,
            why: None,
            attempt: 1,
            claim: None,
            session: None,
            turn: None,
            output: None,
            deliveries: Vec::new(),
            cut_with: None,
        }
    }

    fn report<'a>(execution: &'a Execution, answer: &'a str) -> Report<'a> {
        Report {
            execution,
            name: "News",
            state: ExecutionState::Succeeded,
            began: execution.taken_at + TimeDelta::seconds(execution.id.0),
            ended: execution.taken_at + TimeDelta::seconds(60),
            prompt: Some("Look.\n\n## Answer\n\nno"),
            answer: Some(answer),
            why: None,
            ends: &[],
        }
    }

    fn home() -> (tempfile::TempDir, Home) {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::resolve(Some(folder.path())).unwrap();
        (folder, home)
    }

    #[test]
    fn a_document_tells_the_run_and_its_answer_reads_back() {
        let (_folder, home) = home();
        let run = execution(7);
        let path = write(&home, &report(&run, "two\n\n## Answer\nlines\n"), 50).unwrap();
        assert_eq!(path, "output/news/20261130_080007_7.md");
        let document = read(&home, &path).unwrap().unwrap();
        assert_eq!(
            document,
            "# News\n\n- job: news\n- run: 7, on time, slot 2026-11-30 08:00:00 UTC\n- state: succeeded\n\
             - began: 2026-11-30 08:00:07 UTC\n- ended: 2026-11-30 08:01:00 UTC\n\n## Prompt\n\n> Look.\n>\n\
             > ## Answer\n>\n> no\n\n## Answer\n\ntwo\n\n## Answer\nlines\n"
        );
        assert_eq!(answer_of(&document), Some("two\n\n## Answer\nlines"));
        let file = home.root().join(&path);
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(file.parent().unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn the_newest_documents_are_kept_and_nothing_else_is_ever_deleted() {
        let (_folder, home) = home();
        let folder = home.output().join("news");
        fs::create_dir_all(folder.join("20200101_000000_1.md")).unwrap();
        for other in ["notes.md", "20200101_000000_x.md", "2020_1.md", "jobs.json", "20200101_000000_1.txt"] {
            fs::write(folder.join(other), "mine").unwrap();
        }
        for id in 8..=13 {
            write(&home, &report(&execution(id), "x"), 3).unwrap();
        }
        let mut left: Vec<String> = fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(
            left,
            [
                "20200101_000000_1.md",
                "20200101_000000_1.txt",
                "20200101_000000_x.md",
                "2020_1.md",
                "20261130_080011_11.md",
                "20261130_080012_12.md",
                "20261130_080013_13.md",
                "jobs.json",
                "notes.md",
            ]
        );
    }

    #[test]
    fn only_documents_are_read_and_a_missing_one_is_none() {
        let (_folder, home) = home();
        assert_eq!(read(&home, "output/news/20261130_080007_7.md").unwrap(), None);
        for wrong in [
            "state.db",
            "output/../state.db",
            "output/news/../../state.db",
            "output/news/notes.md",
            "/etc/passwd",
        ] {
            assert!(read(&home, wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_failed_run_tells_its_error_before_what_it_had_said() {
        let run = execution(7);
        let ends = ["1 (make serve)".to_owned(), "2 (watch)".to_owned()];
        let why = Some("no disk\nat all");
        let failed = Report { state: ExecutionState::Failed, why, ends: &ends, ..report(&run, "half") };
        let text = text(&failed);
        let ended = "\n- background processes ended with it: 1 (make serve), 2 (watch)\n\n## Prompt";
        assert!(text.contains(ended), "{text}");
        assert!(text.ends_with("\n## Error\n\nno disk at all\n\n## Answer\n\nhalf\n"), "{text}");
    }
}
