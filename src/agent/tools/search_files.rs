//! The tool that finds files, and lines in them.

use std::fs::File;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::path::Path;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkFinish, SinkMatch};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::{DirEntry, WalkBuilder};
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::tool::{Does, Kind, Need, Parameter, Tool, as_called};
use super::workdir::Workdir;
use super::{ToolError, output, typed};
use crate::config::ToolName;

/// So many results are given where the model names no limit.
const USUAL_RESULTS: usize = 100;
/// The most results.
const MOST_RESULTS: usize = 1_000;
/// A file with a longer line is not searched.
const LINE_BYTES: usize = 8 * 1024 * 1024;

pub(super) const TOOL: Tool = Tool {
    name: ToolName::SearchFiles,
    about: "Searches the text files in the working directory, line by line; each match comes as path:line: text. Without a pattern it lists the files. Hidden files and those that .gitignore names are left out.",
    parameters: &[
        Parameter {
            name: "pattern",
            about: "A regular expression (Rust's syntax) that lines are to match; (?i) at its beginning ignores case.",
            kind: Kind::Text,
            need: Need::Optional,
        },
        Parameter {
            name: "path",
            about: "The folder or file to search, relative to the working directory; without it all of that.",
            kind: Kind::Text,
            need: Need::Optional,
        },
        Parameter {
            name: "glob",
            about: "Only files that match, written as in .gitignore: *.rs or src/**/*.md.",
            kind: Kind::Text,
            need: Need::Optional,
        },
        Parameter {
            name: "limit",
            about: "The most results, up to 1000; without it 100.",
            kind: Kind::Count,
            need: Need::Optional,
        },
    ],
    does: Does::Files { run, asked: as_called },
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    pattern: Option<String>,
    path: Option<String>,
    glob: Option<String>,
    limit: Option<NonZeroUsize>,
}

fn run(arguments: Value, workdir: &Workdir, stop: &CancellationToken) -> Result<String, ToolError> {
    let Arguments { pattern, path, glob, limit } = typed(ToolName::SearchFiles, arguments)?;
    let matcher = pattern.as_deref().map(matcher).transpose()?;
    let glob = glob.as_deref().map(file_glob).transpose()?;
    let start = workdir.find(path.as_deref().unwrap_or("."))?;
    let limit = limit.map_or(USUAL_RESULTS, |limit| limit.get().min(MOST_RESULTS));
    let mut search = Search { workdir, stop, limit, results: Vec::new(), seen: Seen::default() };
    let mut searcher = searcher();
    for entry in files(&start) {
        if stop.is_cancelled() {
            return Err(ToolError::Stopped);
        }
        match entry {
            Ok(entry) if !is_file(&entry) || !fits(glob.as_ref(), workdir, entry.path()) => {}
            Ok(entry) => search.look(entry.path(), matcher.as_ref(), &mut searcher),
            Err(_) => search.seen.unreadable += 1,
        }
        if search.is_full() {
            break;
        }
    }
    if stop.is_cancelled() { Err(ToolError::Stopped) } else { Ok(search.told()) }
}

fn matcher(pattern: &str) -> Result<RegexMatcher, ToolError> {
    RegexMatcherBuilder::new()
        .line_terminator(Some(b'\n'))
        .build(pattern)
        .map_err(|error| wrong("pattern", &error))
}

/// A matcher that says "ignored" of the files that are meant.
fn file_glob(glob: &str) -> Result<Gitignore, ToolError> {
    let mut builder = GitignoreBuilder::new("");
    builder.add_line(None, glob).map_err(|error| wrong("glob", &error))?;
    builder.build().map_err(|error| wrong("glob", &error))
}

fn wrong(what: &str, error: &dyn std::error::Error) -> ToolError {
    ToolError::Arguments { tool: ToolName::SearchFiles.word(), why: format!("{what}: {error}") }
}

/// The files below a folder that a project means, in the order of their paths. Links are not followed.
fn files(start: &Path) -> ignore::Walk {
    let mut walk = WalkBuilder::new(start);
    // What counts is the folder, not the user's own Git settings.
    walk.require_git(false).git_global(false).sort_by_file_path(Ord::cmp).build()
}

fn searcher() -> Searcher {
    SearcherBuilder::new().binary_detection(BinaryDetection::quit(0)).heap_limit(Some(LINE_BYTES)).build()
}

fn is_file(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_file())
}

fn fits(glob: Option<&Gitignore>, workdir: &Workdir, path: &Path) -> bool {
    let inner = path.strip_prefix(workdir.root()).unwrap_or(path);
    glob.is_none_or(|glob| glob.matched_path_or_any_parents(inner, false).is_ignore())
}

struct Search<'a> {
    workdir: &'a Workdir,
    stop: &'a CancellationToken,
    limit: usize,
    /// One more than the limit where there are more.
    results: Vec<String>,
    seen: Seen,
}

/// How many files were looked at, and how many were not, by reason.
#[derive(Default)]
struct Seen {
    files: usize,
    binary: usize,
    secret: usize,
    unreadable: usize,
}

impl Search<'_> {
    fn is_full(&self) -> bool {
        self.results.len() > self.limit
    }

    fn look(&mut self, path: &Path, matcher: Option<&RegexMatcher>, searcher: &mut Searcher) {
        if self.workdir.is_secret(path) {
            self.seen.secret += 1;
            return;
        }
        self.seen.files += 1;
        let Some(matcher) = matcher else {
            self.results.push(self.workdir.told(path));
            return;
        };
        let Ok((file, _)) = self.workdir.open_file(path) else {
            self.seen.unreadable += 1;
            return;
        };
        let file = Stoppable { file, stop: self.stop };
        let path = self.workdir.told(path);
        let mut found = Found { path: &path, search: self };
        if searcher.search_reader(matcher, file, &mut found).is_err() {
            self.seen.unreadable += 1;
        }
    }

    fn told(mut self) -> String {
        let full = self.is_full();
        self.results.truncate(self.limit);
        let mut told = output::joined(&self.results);
        let mut note = |note: String| {
            if !told.is_empty() {
                told.push('\n');
            }
            told.push_str(&note);
        };
        if self.results.is_empty() {
            note(format!("[nothing found, {} files looked at]", self.seen.files));
        }
        if full {
            note(format!(
                "[stopped at {} results: narrow the pattern, the path or the glob, or set a higher limit]",
                self.limit
            ));
        }
        let Seen { binary, secret, unreadable, .. } = self.seen;
        let left_out = [
            (binary, "binary"),
            (unreadable, "that can't be read"),
            (secret, "with settings, the store or keys of the engine"),
        ];
        let left_out = left_out.iter().filter(|(count, _)| *count > 0);
        let left_out: Vec<String> = left_out.map(|(count, what)| format!("{count} {what}")).collect();
        if !left_out.is_empty() {
            note(format!("[files left out: {}]", left_out.join(", ")));
        }
        told
    }
}

/// Takes the matches in one file.
struct Found<'s, 'a> {
    path: &'s str,
    search: &'s mut Search<'a>,
}

impl Sink for Found<'_, '_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let (path, line) = (self.path, found.line_number().unwrap_or_default());
        self.search.results.push(format!("{path}:{line}: {}", output::line(found.bytes())));
        Ok(!self.search.is_full())
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        self.search.seen.binary += usize::from(finish.binary_byte_offset().is_some());
        Ok(())
    }
}

/// A file whose reading fails once the search is stopped.
struct Stoppable<'a> {
    file: File,
    stop: &'a CancellationToken,
}

impl Read for Stoppable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_cancelled() {
            return Err(io::Error::other("stopped"));
        }
        self.file.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::tools::workdir::Places;
    use serde_json::json;
    use std::fs;
    use std::os::unix::fs::symlink;

    struct Project(tempfile::TempDir);

    impl Project {
        fn with(files: &[(&str, &[u8])]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            for (path, content) in files {
                let path = folder.path().join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, content).unwrap();
            }
            Self(folder)
        }

        fn search(&self, arguments: Value) -> Result<String, ToolError> {
            self.search_until(arguments, &CancellationToken::new())
        }

        fn search_until(&self, arguments: Value, stop: &CancellationToken) -> Result<String, ToolError> {
            let workdir = self.0.path().to_path_buf();
            let places = Places { home: workdir.join("home"), workdir, key_files: Vec::new() };
            run(arguments, &Workdir::open(&places).unwrap(), stop)
        }
    }

    fn usual() -> Project {
        Project::with(&[
            ("src/main.rs", b"fn main() {\n    hello();\n}\n"),
            ("src/hello.rs", b"pub fn hello() {}\r\n"),
            ("notes.md", "Grüße: hello\n".as_bytes()),
            ("target/debug/hello.rs", b"hello\n"),
            ("src/deep/made.out", b"hello\n"),
            (".hidden/hello.rs", b"hello\n"),
            (".gitignore", b"/target\n*.out\n"),
        ])
    }

    #[test]
    fn matches_come_with_path_and_line_and_without_hidden_and_ignored_files() {
        let found = usual().search(json!({"pattern": "hel+o"})).unwrap();
        assert_eq!(
            found,
            "notes.md:1: Grüße: hello\nsrc/hello.rs:1: pub fn hello() {}\nsrc/main.rs:2:     hello();"
        );
    }

    #[test]
    fn without_a_pattern_the_files_are_listed() {
        assert_eq!(usual().search(json!({})).unwrap(), "notes.md\nsrc/hello.rs\nsrc/main.rs");
        assert_eq!(usual().search(json!({"path": "src"})).unwrap(), "src/hello.rs\nsrc/main.rs");
    }

    #[test]
    fn a_search_is_narrowed_by_path_and_glob() {
        let cases = [
            (json!({"glob": "*.md"}), "notes.md"),
            (json!({"glob": "src/**/m*.rs"}), "src/main.rs"),
            (json!({"path": "src", "glob": "*.md"}), "[nothing found, 0 files looked at]"),
            (json!({"path": "src/main.rs", "pattern": "fn"}), "src/main.rs:1: fn main() {"),
            (json!({"pattern": "(?i)HELLO", "glob": "*.md"}), "notes.md:1: Grüße: hello"),
            (json!({"pattern": "HELLO"}), "[nothing found, 3 files looked at]"),
        ];
        for (arguments, expected) in cases {
            assert_eq!(usual().search(arguments.clone()).unwrap(), expected, "{arguments}");
        }
    }

    #[test]
    fn a_glob_does_not_bring_ignored_files_back() {
        let found = usual().search(json!({"glob": "*.out"})).unwrap();
        assert_eq!(found, "[nothing found, 0 files looked at]");
    }

    #[test]
    fn what_is_no_expression_is_told() {
        for (arguments, words) in [
            (json!({"pattern": "a("}), "pattern: regex parse error"),
            (json!({"pattern": "a\nb"}), "pattern: the literal"),
            (json!({"glob": "{a"}), "glob: "),
        ] {
            let refused = usual().search(arguments).unwrap_err().to_string();
            assert!(refused.contains(words), "{refused}");
        }
    }

    #[test]
    fn results_are_bounded_and_the_bound_is_told() {
        let project = Project::with(&[("a", b"x\nx\n"), ("b", b"x\nx\n")]);
        let found = project.search(json!({"pattern": "x", "limit": 3})).unwrap();
        assert!(found.starts_with("a:1: x\na:2: x\nb:1: x\n[stopped at 3 results: "), "{found}");
        let all = project.search(json!({"pattern": "x", "limit": 4})).unwrap();
        assert_eq!(all, "a:1: x\na:2: x\nb:1: x\nb:2: x");
        assert!(project.search(json!({"limit": 1})).unwrap().starts_with("a\n[stopped at 1 results: "));
        let many = Project::with(&[("a", "x\n".repeat(2_000).as_bytes())]);
        for (arguments, most) in
            [(json!({"pattern": "x"}), 100), (json!({"pattern": "x", "limit": 5000}), 1000)]
        {
            let found = many.search(arguments).unwrap();
            assert!(found.contains(&format!("[stopped at {most} results")), "{found}");
            assert_eq!(found.lines().count(), most + 1);
        }
    }

    #[test]
    fn what_is_left_out_is_counted() {
        let project = Project::with(&[
            ("image.txt", b"\x89PNG\0hello\n"),
            ("latin.txt", b"hello caf\xe9\n"),
            ("home/config.toml", b"hello = 1\n"),
            ("home/skill.md", b"hello\n"),
            ("long.txt", "hello".repeat(2_000_000).as_bytes()),
        ]);
        let found = project.search(json!({"pattern": "hello"})).unwrap();
        assert_eq!(
            found,
            "home/skill.md:1: hello\nlatin.txt:1: hello caf\u{FFFD}\n[files left out: 1 binary, 1 that can't be read, 1 with settings, the store or keys of the engine]"
        );
    }

    #[test]
    fn links_are_not_followed() {
        let elsewhere = Project::with(&[("secret", b"hello\n")]);
        let project = Project::with(&[("a", b"hello\n")]);
        symlink(elsewhere.0.path(), project.0.path().join("folder")).unwrap();
        symlink(elsewhere.0.path().join("secret"), project.0.path().join("file")).unwrap();
        assert_eq!(project.search(json!({"pattern": "hello"})).unwrap(), "a:1: hello");
        let outside = project.search(json!({"path": "folder"})).unwrap_err();
        assert!(matches!(outside, ToolError::Outside { .. }), "{outside}");
    }

    #[test]
    fn a_stop_ends_the_search() {
        let stop = CancellationToken::new();
        stop.cancel();
        let end = usual().search_until(json!({"pattern": "hello"}), &stop);
        assert!(matches!(end, Err(ToolError::Stopped)), "{end:?}");
    }
}
