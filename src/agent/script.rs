//! The script of a scheduled task: a program in `scripts/` that runs by itself, without an agent.
//!
//! It leads its own process group and nothing that it started outlives it: not on success, not on a
//! stop, not when the future is dropped. What outlives the engine is found by the marks in its
//! environment ([`super::end_marked`]).

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::AsyncRead;
use tokio::process::Command;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::program::group::ProcessGroup;
use super::program::rest::Rest;
use super::program::{PIECE_BYTES, bad_end, environment, read, read_tail};
use crate::config::{Keys, Secrets};

/// So much of its output is kept: the beginning.
const KEPT_BYTES: usize = 1024 * 1024;
/// Told where output was cut.
const CUT: &str = "\n[the rest of the output was cut]\n";

/// A script that is to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptCall {
    /// The file, whole and resolved.
    pub program: PathBuf,
    /// Where it runs.
    pub workdir: PathBuf,
    /// What its environment has beside the engine's own without secrets.
    pub variables: Vec<(&'static str, String)>,
    /// Where the keys are, which it neither sees nor tells.
    pub keys: Keys,
    /// How long it may take.
    pub limit: Duration,
}

/// What a script wrote to its standard output: at most a mebibyte of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptOutput(pub String);

/// Why a script has no output.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScriptError {
    /// It could not be started.
    #[error("{0}")]
    NotStarted(String),
    /// It ended with an error.
    #[error("{why}")]
    Failed {
        /// How it ended, and its last words on its standard error.
        why: String,
        /// What it had written to its standard output.
        output: String,
    },
    /// It took longer than it may.
    #[error("the script took longer than {} s and was stopped", limit.as_secs())]
    TooSlow {
        /// How long it may take.
        limit: Duration,
    },
    /// It was told to stop.
    #[error("the script was stopped")]
    Stopped,
}

/// How a program file is run.
enum Way {
    Itself,
    By(&'static str),
}

/// Runs a script to its end. `on_output` is called whenever it writes something. When `stop` fires it
/// ends soon, with all that it started.
///
/// # Errors
/// Where it could not be started, ended with an error, took too long or was stopped.
pub async fn run_script(
    call: &ScriptCall,
    on_output: impl Fn() + Send + Sync,
    stop: &CancellationToken,
) -> Result<ScriptOutput, ScriptError> {
    // What stands there may be a pipe.
    let program = call.program.clone();
    let way =
        tokio::task::spawn_blocking(move || way(&program)).await.unwrap_or_else(|error| Err(error.into()));
    let way = way.map_err(|error| not_started(&call.program, &error))?;
    let mut command = match way {
        Way::Itself => Command::new(&call.program),
        Way::By(interpreter) => {
            let mut command = Command::new(interpreter);
            command.arg(&call.program);
            command
        }
    };
    let rest = Rest::new();
    environment::hide_secrets(&mut command, &call.keys.variables);
    command
        .envs([rest.mark()])
        .envs(call.variables.iter().map(|(name, value)| (*name, value)))
        .current_dir(&call.workdir)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    let mut child = command.spawn().map_err(|error| not_started(&call.program, &error))?;
    let group = ProcessGroup::led_by(&child);
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let ended = CancellationToken::new();
    let work = async {
        tokio::join!(
            group.exit(&mut child, &ended),
            read_head(stdout, &ended, &on_output),
            read_tail(stderr, &ended)
        )
    };
    let mut work = std::pin::pin!(work);
    let stopped = tokio::select! {
        biased;
        () = stop.cancelled() => ScriptError::Stopped,
        () = sleep(call.limit) => ScriptError::TooSlow { limit: call.limit },
        (status, output, complaint) = &mut work => {
            rest.end().await;
            let secrets = Secrets::read_aside(call.keys.clone()).await;
            return judge(status, output.told(&secrets), &complaint.last_lines());
        }
    };
    group.stop(work).await;
    rest.end().await;
    Err(stopped)
}

fn judge(
    status: io::Result<ExitStatus>,
    output: String,
    complaint: &str,
) -> Result<ScriptOutput, ScriptError> {
    let Some(how) = bad_end(&status) else { return Ok(ScriptOutput(output)) };
    let said = if complaint.is_empty() { String::new() } else { format!(": {complaint}") };
    Err(ScriptError::Failed { why: format!("the script {how}{said}"), output })
}

/// A file that may be run and says by what runs by itself; else its ending tells.
fn way(program: &Path) -> io::Result<Way> {
    let mut begin = Vec::new();
    File::open(program)?.take(4).read_to_end(&mut begin)?;
    let executable = rustix::fs::access(program, rustix::fs::Access::EXEC_OK).is_ok();
    if executable && (begin.starts_with(b"#!") || begin == b"\x7fELF") {
        return Ok(Way::Itself);
    }
    match program.extension().and_then(|ending| ending.to_str()) {
        Some("py") => Ok(Way::By("python3")),
        Some("bash") => Ok(Way::By("bash")),
        Some("sh") => Ok(Way::By("/bin/sh")),
        _ if executable => Ok(Way::By("/bin/sh")),
        _ => Err(io::ErrorKind::PermissionDenied.into()),
    }
}

fn not_started(program: &Path, error: &io::Error) -> ScriptError {
    let program = program.display();
    let why = match error.kind() {
        io::ErrorKind::PermissionDenied => format!("it may not be run: try chmod +x {program}"),
        io::ErrorKind::NotFound => "it, its folder, or what runs it is missing".to_owned(),
        _ => error.to_string(),
    };
    ScriptError::NotStarted(format!("can't run {program}: {why}"))
}

/// The beginning of a stream.
#[derive(Default)]
struct Head {
    bytes: Vec<u8>,
    /// How long the whole stream is.
    total: usize,
}

impl Head {
    fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len();
        let room = KEPT_BYTES.saturating_sub(self.bytes.len()).min(bytes.len());
        self.bytes.extend_from_slice(bytes.get(..room).unwrap_or_default());
    }

    /// It as text without keys, which says whether it was cut.
    fn told(&self, secrets: &Secrets) -> String {
        let text = String::from_utf8_lossy(&self.bytes).into_owned();
        match self.total > self.bytes.len() {
            true => secrets.hide_in_part(text) + CUT,
            false => secrets.hide(text),
        }
    }
}

/// Reads a stream to its end and keeps its beginning.
async fn read_head(
    stream: Option<impl AsyncRead + Unpin>,
    ended: &CancellationToken,
    on_output: impl Fn(),
) -> Head {
    let mut head = Head::default();
    let Some(mut stream) = stream else { return head };
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let bytes = read(&mut stream, &mut piece, ended).await;
        if bytes.is_empty() {
            return head;
        }
        on_output();
        head.push(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Instant;

    struct Place(tempfile::TempDir);

    impl Place {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn script(&self, name: &str, text: &str, mode: u32) -> ScriptCall {
            let program = self.0.path().join(name);
            // Written by another process: a neighbour that forks just now would keep our own file busy.
            let write = "printf %s \"$1\" > \"$0\" && chmod \"$2\" \"$0\"";
            let mut writer = std::process::Command::new("sh");
            writer.args(["-c", write]).arg(&program).args([text, &format!("{mode:o}")]);
            assert!(writer.status().unwrap().success());
            ScriptCall {
                program,
                workdir: self.0.path().to_owned(),
                variables: vec![("SWITCHBOARD_JOB_ID", "a".to_owned())],
                keys: Keys { variables: vec!["WALRUS".to_owned()], ..Keys::default() },
                limit: Duration::from_secs(60),
            }
        }
    }

    async fn run(call: &ScriptCall) -> Result<String, ScriptError> {
        run_script(call, || {}, &CancellationToken::new()).await.map(|output| output.0)
    }

    #[tokio::test]
    async fn a_script_runs_by_its_first_line_or_its_ending() {
        let place = Place::new();
        for (name, text, mode) in
            [("a", "#!/bin/sh\necho hello", 0o700), ("b.sh", "echo hello", 0o600), ("c", "echo hello", 0o700)]
        {
            assert_eq!(run(&place.script(name, text, mode)).await.unwrap(), "hello\n", "{name}");
        }
        let refused = run(&place.script("d", "echo hello", 0o600)).await.unwrap_err().to_string();
        assert!(refused.contains("chmod +x"), "{refused}");
    }

    #[tokio::test]
    async fn it_knows_its_job_and_reads_no_input() {
        let place = Place::new();
        let call = place.script("a.sh", "cat; pwd; echo $SWITCHBOARD_JOB_ID", 0o600);
        let folder = place.0.path().canonicalize().unwrap();
        assert_eq!(run(&call).await.unwrap(), format!("{}\na\n", folder.display()));
    }

    #[tokio::test]
    async fn an_error_tells_its_last_words_and_keeps_what_was_written() {
        let place = Place::new();
        let call = place.script("a.sh", "echo half; echo no disk >&2; exit 3", 0o600);
        assert_eq!(
            run(&call).await.unwrap_err(),
            ScriptError::Failed {
                why: "the script ended with exit code 3: no disk".to_owned(),
                output: "half\n".to_owned()
            }
        );
    }

    #[tokio::test]
    async fn one_that_takes_too_long_is_ended_with_all_that_it_started() {
        let place = Place::new();
        let mut call = place.script("a.sh", "sleep 1000 & echo $! > child; wait", 0o600);
        call.limit = Duration::from_secs(3);
        assert_eq!(run(&call).await.unwrap_err(), ScriptError::TooSlow { limit: call.limit });
        let child = std::fs::read_to_string(place.0.path().join("child")).unwrap();
        let until = Instant::now() + Duration::from_secs(10);
        while Path::new(&format!("/proc/{}/root", child.trim())).is_dir() {
            assert!(Instant::now() < until, "its child still runs");
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_stop_ends_it_and_output_is_a_sign_of_life() {
        let place = Place::new();
        let call = place.script("a.sh", "echo begun; sleep 1000", 0o600);
        let (stop, seen) = (CancellationToken::new(), AtomicUsize::new(0));
        let on_output = || {
            seen.fetch_add(1, Ordering::SeqCst);
            stop.cancel();
        };
        assert_eq!(run_script(&call, on_output, &stop).await, Err(ScriptError::Stopped));
        assert_eq!(seen.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_key_at_the_cut_is_not_told() {
        const KEY: &str = "canary-of-a-script-99e1";
        for cut in 0..=KEY.len() {
            let mut head = Head::default();
            head.push("x".repeat(KEPT_BYTES - cut).as_bytes());
            head.push(format!("{KEY}z").as_bytes());
            let told = head.told(&Secrets::of([KEY.to_owned()]));
            let tells = |run: &[u8]| told.as_bytes()[KEPT_BYTES - 99..].windows(8).any(|part| part == run);
            assert!(!KEY.as_bytes().windows(8).any(tells) && told.ends_with(CUT), "{cut}");
        }
    }

    #[tokio::test]
    async fn of_a_flood_the_beginning_is_kept() {
        let place = Place::new();
        let call = place.script("a.sh", "echo begin; head -c 3000000 /dev/zero | tr '\\0' x", 0o600);
        let output = run(&call).await.unwrap();
        assert!(output.starts_with("begin\nxxx") && output.ends_with(CUT));
        assert_eq!(output.len(), KEPT_BYTES + CUT.len());
    }
}
