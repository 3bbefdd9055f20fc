//! Skills: the folders in `skills/` with a `SKILL.md` each, as a run reads them and an editor lists them.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::domain::cron::Fault;

/// The file that makes a folder a skill.
const FILE: &str = "SKILL.md";
/// So deep below `skills/` a skill may lie.
const DEPTH: usize = 3;

/// A skill that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Skill {
    /// Its name, as the job names it.
    pub(super) name: String,
    /// What it is for, by its front matter.
    pub(super) description: String,
    /// What the agent is told.
    pub(super) text: String,
}

/// Reads the skill that a job names: a folder below `skills/`, or the only one of that name in a deeper one.
///
/// # Errors
/// What is missing or can't be read.
pub(super) fn read(skills: &Path, name: &str) -> Result<Skill, Fault> {
    let folder = find(skills, name)?;
    let file = folder.join(FILE);
    let text = fs::read_to_string(&file)
        .map_err(|error| wrong(name, format_args!("{}: {error}", file.display())))?;
    let (front, text) = split(&text);
    let description = field(front, "description").unwrap_or_default();
    Ok(Skill { name: name.to_owned(), description, text: text.trim().to_owned() })
}

/// The skills that there are, by their names.
pub(super) fn list(skills: &Path) -> Vec<Skill> {
    let mut found: Vec<Skill> = folders(skills, DEPTH)
        .into_iter()
        .filter_map(|folder| {
            let name = folder.strip_prefix(skills).ok()?.to_str()?.to_owned();
            read(skills, &name).ok()
        })
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

fn wrong(name: &str, why: impl fmt::Display) -> Fault {
    Fault::new("skill", &format!("{name:?}"), why)
}

fn find(skills: &Path, name: &str) -> Result<PathBuf, Fault> {
    let named = skills.join(name);
    if named.join(FILE).exists() {
        return Ok(named);
    }
    let deeper: Vec<PathBuf> = folders(skills, DEPTH)
        .into_iter()
        .filter(|folder| folder.file_name().is_some_and(|last| last == name))
        .collect();
    match deeper.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(wrong(name, format_args!("there is no {}", named.join(FILE).display()))),
        _ => {
            let many = deeper.len();
            Err(wrong(name, format_args!("there are {many} of that name in skills/: name its folder too")))
        }
    }
}

/// The folders with a skill in them.
fn folders(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) if depth > 0 => entries,
        _ => return Vec::new(),
    };
    let inside = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir());
    inside
        .flat_map(|path| if path.join(FILE).is_file() { vec![path] } else { folders(&path, depth - 1) })
        .collect()
}

/// The front matter between two lines of dashes at the beginning, and what stands behind it.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim_start_matches('\u{feff}');
    let Some(rest) =
        text.strip_prefix("---").and_then(|rest| rest.trim_start_matches([' ', '\r']).strip_prefix('\n'))
    else {
        return ("", text);
    };
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return (&rest[..at], &rest[at + line.len()..]);
        }
        at += line.len();
    }
    ("", text)
}

/// A text of the front matter, in one line. Of YAML this reads what front matters have: a plain or quoted
/// text, or one that goes on in the indented lines behind it.
fn field(front: &str, name: &str) -> Option<String> {
    let mut lines = front.lines();
    let first = lines.find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix(':'))?.trim();
    let block = first.is_empty() || first.starts_with(['|', '>']);
    let more =
        lines.take_while(|line| line.trim().is_empty() || line.starts_with([' ', '\t'])).map(str::trim);
    let begin = if block { "" } else { first };
    let parts: Vec<&str> = [begin].into_iter().chain(more).filter(|part| !part.is_empty()).collect();
    let whole = parts.join(" ");
    let inner = ['"', '\''].iter().find_map(|quote| whole.strip_prefix(*quote)?.strip_suffix(*quote));
    Some(inner.unwrap_or(&whole).to_owned())
}

/// The scripts that there are, relative to `scripts/`.
pub(super) fn scripts(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let _ = files(folder, folder, DEPTH, &mut found);
    found.sort();
    found
}

fn files(root: &Path, folder: &Path, depth: usize, found: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)?.flatten() {
        let path = entry.path();
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if hidden {
            continue;
        }
        if path.is_file() {
            found.extend(path.strip_prefix(root).ok().and_then(Path::to_str).map(str::to_owned));
        } else if depth > 1 {
            let _ = files(root, &path, depth - 1, found);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skills(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    #[test]
    fn a_skill_is_its_text_and_what_its_front_matter_says() {
        for (text, description, body) in [
            ("---\nname: a\ndescription: reads mail\n---\n\nDo it.\n", "reads mail", "Do it."),
            ("\u{feff}---\r\ndescription: \"reads: mail\"\r\n---\r\nDo it.", "reads: mail", "Do it."),
            ("---\ndescription: >-\n  reads\n  mail\nother: x\n---\nDo it.", "reads mail", "Do it."),
            ("---\ndescription: reads\n  mail\n---\nDo it.\n---\nmore", "reads mail", "Do it.\n---\nmore"),
            ("# Do it.", "", "# Do it."),
            ("---\nname: cut", "", "---\nname: cut"),
        ] {
            let folder = skills(&[("a/SKILL.md", text)]);
            let skill = read(folder.path(), "a").unwrap();
            assert_eq!((skill.description.as_str(), skill.text.as_str()), (description, body), "{text:?}");
        }
    }

    #[test]
    fn a_skill_is_found_by_its_folder_or_by_the_name_of_a_deeper_one() {
        let folder =
            skills(&[("mail/read/SKILL.md", "x"), ("a/twin/SKILL.md", "x"), ("b/twin/SKILL.md", "x")]);
        assert!(read(folder.path(), "mail/read").is_ok());
        assert!(read(folder.path(), "read").is_ok());
        assert!(read(folder.path(), "twin").unwrap_err().why.contains("there are 2 of that name"));
        assert!(read(folder.path(), "b/twin").is_ok());
        let missing = read(folder.path(), "gone").unwrap_err().to_string();
        assert!(
            missing.starts_with("skill \"gone\": there is no ") && missing.ends_with("gone/SKILL.md"),
            "{missing}"
        );
        let names: Vec<String> = list(folder.path()).into_iter().map(|skill| skill.name).collect();
        assert_eq!(names, ["a/twin", "b/twin", "mail/read"]);
    }

    #[test]
    fn scripts_are_listed_by_their_path_in_the_folder() {
        let folder = skills(&[("check.sh", ""), ("nightly/b.py", ""), (".hidden", "")]);
        assert_eq!(scripts(folder.path()), ["check.sh", "nightly/b.py"]);
        assert_eq!(scripts(&folder.path().join("missing")), [] as [&str; 0]);
    }
}
