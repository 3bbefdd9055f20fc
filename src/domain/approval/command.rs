//! Shell commands, as far as it must be known whether one is a single simple command. Where there is
//! doubt it is not.

use super::programs::{BY_SUBCOMMAND, FAR_OPTIONS, GROUPS, OVERWRITE, RUN_OTHERS, name};

/// Why a command is not known to be a single simple one, or must be asked about each time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotSimple {
    /// There is none.
    #[error("there is no command")]
    Empty,
    /// Several commands.
    #[error("it is more than one command")]
    Several,
    /// A command inside a command, or a variable.
    #[error("the shell puts something into it ($ or `)")]
    Substitution,
    /// Input or output goes elsewhere.
    #[error("it reads or writes files by < or >")]
    Redirection,
    /// A backslash, or a character that can't be seen.
    #[error("it has a backslash or an invisible character")]
    Escape,
    /// A variable is set for it.
    #[error("it begins with a variable")]
    Assignment,
    /// Its program is not named plainly.
    #[error("its program is not named plainly")]
    Program,
    /// Its program runs other programs.
    #[error("{0} runs whatever it is given")]
    RunsOthers(String),
    /// Its program takes things away, or puts others in their place.
    #[error("{0} deletes or overwrites whatever it is given")]
    Overwrites(String),
    /// What it does is not told by its first two words.
    #[error("its second word is an option, so how it begins does not tell what it does")]
    Option,
    /// An option makes it do something else.
    #[error("its option {0} writes or runs what its other words don't tell")]
    FarOption(String),
    /// Its program does many things.
    #[error("all of {0} would be allowed")]
    NoSubcommand(String),
}

/// The beginning that `always` would allow: the program with its subcommand, with the one behind it where the first
/// names only a group, or the program alone where its second word is neither a subcommand nor an option.
///
/// # Errors
///
/// The command is not a single simple one, or what begins so could do anything.
pub fn prefix(command: &str) -> Result<String, NotSimple> {
    let words = words(command)?;
    let program = *words.first().ok_or(NotSimple::Empty)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "._/+-".contains(c);
    if !program.chars().all(plain) {
        return Err(NotSimple::Program);
    }
    let known = known(&words);
    let listed_in = |list: &[&str]| known.iter().find(|known| list.contains(&known.as_str())).cloned();
    if let Some(known) = listed_in(RUN_OTHERS) {
        return Err(NotSimple::RunsOthers(known));
    }
    if let Some(known) = listed_in(OVERWRITE) {
        return Err(NotSimple::Overwrites(known));
    }
    if words.get(1).is_some_and(|second| unquoted(second).starts_with('-')) {
        return Err(NotSimple::Option);
    }
    if let Some(option) = far_option(&words, 1) {
        return Err(NotSimple::FarOption(option.to_owned()));
    }
    let is_group = listed_in(GROUPS).is_some();
    match (words.get(1).filter(|word| is_subcommand(word)), words.get(2).filter(|word| is_plain(word))) {
        (Some(group), Some(subcommand)) if is_group => Ok(format!("{program} {group} {subcommand}")),
        (Some(group), None) if is_group => Err(NotSimple::NoSubcommand(format!("{} {group}", name(program)))),
        (Some(subcommand), _) => Ok(format!("{program} {subcommand}")),
        (None, _) => match listed_in(BY_SUBCOMMAND) {
            Some(known) => Err(NotSimple::NoSubcommand(known)),
            None => Ok(program.to_owned()),
        },
    }
}

/// Whether a command is a single simple one that begins with the words of `prefix`, and what comes behind them makes it
/// do nothing else.
pub fn begins_with(command: &str, prefix: &str) -> bool {
    match (words(command), words(prefix)) {
        (Ok(command), Ok(prefix)) => {
            command.starts_with(&prefix) && far_option(&command, prefix.len()).is_none()
        }
        _ => false,
    }
}

/// The words of a single simple command, quotes and all.
fn words(command: &str) -> Result<Vec<&str>, NotSimple> {
    let command = command.trim_matches([' ', '\n']);
    for c in command.chars() {
        match c {
            '\n' | '\r' | ';' | '&' | '|' | '(' | ')' => return Err(NotSimple::Several),
            '$' | '`' => return Err(NotSimple::Substitution),
            '<' | '>' => return Err(NotSimple::Redirection),
            '\\' => return Err(NotSimple::Escape),
            c if c.is_control() || (c.is_whitespace() && c != ' ') => return Err(NotSimple::Escape),
            _ => {}
        }
    }
    let words: Vec<&str> = command.split(' ').filter(|word| !word.is_empty()).collect();
    match words.first() {
        None => Err(NotSimple::Empty),
        Some(first) if first.contains('=') => Err(NotSimple::Assignment),
        Some(_) => Ok(words),
    }
}

/// By what a command can be known: its program, and its program with the word behind it.
fn known(words: &[&str]) -> Vec<String> {
    let name = words.first().map(|program| name(program));
    let with_second = name.zip(words.get(1)).map(|(name, second)| format!("{name} {second}"));
    name.map(str::to_owned).into_iter().chain(with_second).collect()
}

/// The first of the words from one on that is an option of [`FAR_OPTIONS`].
fn far_option<'a>(words: &[&'a str], from: usize) -> Option<&'a str> {
    let known = known(words);
    let listed = FAR_OPTIONS.iter().filter(|(of, _)| known.iter().any(|known| known == of));
    let options: Vec<&str> = listed.flat_map(|(_, options)| *options).copied().collect();
    words.iter().skip(from).copied().find(|word| options.iter().any(|option| is_option(word, option)))
}

/// Whether a word is an option, also where it is cut short (`--out`) or one letter among others (`-no`).
fn is_option(word: &str, option: &str) -> bool {
    let word = unquoted(word);
    let given = word.split('=').next().unwrap_or_default();
    match (given.strip_prefix("--"), given.strip_prefix('-')) {
        (Some(long), _) => !long.is_empty() && option.starts_with(long),
        (None, Some(short)) => short == option || (option.len() == 1 && short.contains(option)),
        (None, None) => false,
    }
}

fn unquoted(word: &str) -> String {
    word.replace(['"', '\''], "")
}

/// A name of something that is done, also one that people gave: `build:web`.
fn is_plain(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_:.".contains(c))
}

fn is_subcommand(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn always_is_offered_for_a_single_simple_command_only() {
        let offered = [
            ("git log --oneline v0.8..HEAD", "git log"),
            ("  cargo test -- 'a b' ", "cargo test"),
            ("git log\n", "git log"),
            ("ls src -la", "ls src"),
            ("ls ./src -la", "ls"),
            ("./deploy.sh staging", "./deploy.sh staging"),
            ("cat Cargo.toml", "cat"),
            ("uptime", "uptime"),
            ("npm run build", "npm run build"),
            ("npm run build:web -- --watch", "npm run build:web"),
            ("npm test", "npm test"),
            ("/usr/bin/aws s3 ls x", "/usr/bin/aws s3 ls"),
            ("gh pr create --fill", "gh pr create"),
            ("git stash list", "git stash list"),
            ("kubectl get pods", "kubectl get"),
            ("kubectl rollout status x", "kubectl rollout status"),
            ("git log -p -Sfoo", "git log"),
            ("go test -v -count=1 ./x", "go test"),
            ("rg foo --pretty", "rg foo"),
            ("jq .", "jq"),
        ];
        for (command, expected) in offered {
            assert_eq!(prefix(command).as_deref(), Ok(expected), "{command}");
        }
        let refused = [
            ("", NotSimple::Empty),
            ("  ", NotSimple::Empty),
            ("a && b", NotSimple::Several),
            ("a; b", NotSimple::Several),
            ("a | b", NotSimple::Several),
            ("a & b", NotSimple::Several),
            ("a\nb", NotSimple::Several),
            ("a\rb", NotSimple::Several),
            ("a b\r", NotSimple::Several),
            ("(a)", NotSimple::Several),
            ("a $(b)", NotSimple::Substitution),
            ("a `b`", NotSimple::Substitution),
            ("a $HOME", NotSimple::Substitution),
            ("a > b", NotSimple::Redirection),
            ("a <b", NotSimple::Redirection),
            ("a \\x", NotSimple::Escape),
            ("a\tb", NotSimple::Escape),
            ("a b\u{a0}", NotSimple::Escape),
            ("a\u{1b}[2Jb", NotSimple::Escape),
            ("X=1 a", NotSimple::Assignment),
            ("'g'it log", NotSimple::Program),
            ("{a,b}", NotSimple::Program),
            ("git -C d log", NotSimple::Option),
            ("git '-c' alias.x=!sh x", NotSimple::Option),
            ("ls -la src", NotSimple::Option),
            ("git", NotSimple::NoSubcommand("git".to_owned())),
            ("git 'log'", NotSimple::NoSubcommand("git".to_owned())),
            ("pip3 ./package", NotSimple::NoSubcommand("pip".to_owned())),
            ("gh", NotSimple::NoSubcommand("gh".to_owned())),
            ("gh status", NotSimple::NoSubcommand("gh status".to_owned())),
            ("npm run", NotSimple::NoSubcommand("npm run".to_owned())),
            ("npm run 'x'", NotSimple::NoSubcommand("npm run".to_owned())),
            ("git stash -u", NotSimple::NoSubcommand("git stash".to_owned())),
            ("git log --output=x", NotSimple::FarOption("--output=x".to_owned())),
            ("git diff --outp x", NotSimple::FarOption("--outp".to_owned())),
            ("git log '--out'put=x", NotSimple::FarOption("'--out'put=x".to_owned())),
            ("git grep foo -Oless", NotSimple::FarOption("-Oless".to_owned())),
            ("git fetch --upload-pack=x", NotSimple::FarOption("--upload-pack=x".to_owned())),
            ("go test -exec x", NotSimple::FarOption("-exec".to_owned())),
            ("go vet --vettool=x", NotSimple::FarOption("--vettool=x".to_owned())),
            ("man ls -P x", NotSimple::FarOption("-P".to_owned())),
            ("rg foo --pre x", NotSimple::FarOption("--pre".to_owned())),
            ("sort ./a -no b", NotSimple::FarOption("-no".to_owned())),
        ];
        for (command, why) in refused {
            assert_eq!(prefix(command), Err(why), "{command:?}");
        }
    }

    #[test]
    fn a_program_that_could_do_anything_is_known_by_any_of_its_names() {
        for (command, known) in [
            ("sudo reboot", "sudo"),
            ("/usr/bin/python3 x.py", "python"),
            ("python3.12 x.py", "python"),
            ("python2 x.py", "python"),
            ("pypy3 x.py", "pypy"),
            ("perl5.36 x.pl", "perl"),
            ("lua5.4 x.lua", "lua"),
            ("tclsh8.6 x.tcl", "tclsh"),
            ("nodejs x.js", "nodejs"),
            ("vim.tiny x", "vim"),
            ("nvim x", "nvim"),
            (". x", "."),
            ("tar xf a.tar", "tar"),
            ("rsync a b", "rsync"),
            ("docker ps", "docker"),
            ("sqlite3 x.db", "sqlite"),
            ("git config core.pager x", "git config"),
            ("/usr/bin/git bisect run x", "git bisect"),
            ("npm exec x", "npm exec"),
            ("npm config set script-shell x", "npm config"),
            ("gh api x", "gh api"),
            ("gcloud compute ssh x", "gcloud"),
            ("ip netns exec a ls", "ip netns"),
        ] {
            assert_eq!(prefix(command), Err(NotSimple::RunsOthers(known.to_owned())), "{command:?}");
        }
        for (command, known) in [
            ("rm -rf build", "rm"),
            ("tee x", "tee"),
            ("mkfs.ext4 x", "mkfs"),
            ("cp a b", "cp"),
            ("git clean -fdx", "git clean"),
        ] {
            assert_eq!(prefix(command), Err(NotSimple::Overwrites(known.to_owned())), "{command:?}");
        }
    }

    #[test]
    fn a_beginning_is_compared_word_by_word() {
        assert!(begins_with("git log", "git log"));
        assert!(begins_with("git  log -p", "git log"));
        assert!(!begins_with("git logout", "git log"));
        assert!(!begins_with("git", "git log"));
        assert!(!begins_with("git log; rm x", "git log"));
        assert!(!begins_with("git log", ""));
        assert!(!begins_with("A=1 git log", "git log"));
    }

    #[test]
    fn what_is_allowed_covers_no_option_that_does_something_else_unless_it_says_so() {
        assert!(begins_with("git log --oneline", "git log"));
        assert!(!begins_with("git log --output=x", "git log"));
        assert!(!begins_with("npm run build --script-shell=x", "npm run build"));
        assert!(begins_with("git log --output=x -p", "git log --output=x"));
    }

    proptest! {
        #[test]
        fn what_is_offered_begins_the_command(command in "[a-z./ =;|$-]{0,20}") {
            if let Ok(prefix) = prefix(&command) {
                prop_assert!(begins_with(&command, &prefix));
            }
        }

        #[test]
        fn nothing_behind_an_allowed_beginning_can_start_another_command(
            tail in any::<String>(),
            meta in proptest::sample::select(vec![";", "&", "|", "\n", "$(x)", "`x`", ">x", "<x", "\\"]),
        ) {
            let command = format!("git log {tail}{meta}y");
            prop_assert!(!begins_with(&command, "git log"));
        }
    }
}
