//! Shell commands, as far as it must be known whether one is a single simple command. Where there is
//! doubt it is not.

use super::programs::{BY_SUBCOMMAND, OVERWRITE, RUN_OTHERS, name};

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
    /// Its program does many things.
    #[error("all of {0} would be allowed")]
    NoSubcommand(String),
}

/// The beginning that `always` would allow: the program with its subcommand, or the program alone where its second
/// word is neither a subcommand nor an option.
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
    let name = name(program);
    let second = words.get(1).copied();
    let known = [Some(name.to_owned()), second.map(|second| format!("{name} {second}"))];
    for known in known.into_iter().flatten() {
        if RUN_OTHERS.contains(&known.as_str()) {
            return Err(NotSimple::RunsOthers(known));
        }
        if OVERWRITE.contains(&known.as_str()) {
            return Err(NotSimple::Overwrites(known));
        }
    }
    match second {
        Some(word) if word.trim_start_matches(['"', '\'']).starts_with('-') => Err(NotSimple::Option),
        Some(subcommand) if is_subcommand(subcommand) => Ok(format!("{program} {subcommand}")),
        _ if BY_SUBCOMMAND.contains(&name) => Err(NotSimple::NoSubcommand(name.to_owned())),
        _ => Ok(program.to_owned()),
    }
}

/// Whether a command is a single simple one that begins with the words of `prefix`.
pub fn begins_with(command: &str, prefix: &str) -> bool {
    match (words(command), words(prefix)) {
        (Ok(command), Ok(prefix)) => !prefix.is_empty() && command.starts_with(&prefix),
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
            ("npm run build", "npm run"),
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
