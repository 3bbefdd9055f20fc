//! Shell commands, as far as it must be known whether one is a single simple command. Where there is
//! doubt it is not.

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
    /// Its program takes things away.
    #[error("{0} takes away whatever it is given")]
    TakesAway(String),
}

/// Programs that run what their arguments say.
const RUN_OTHERS: &[&str] = &[
    ".",
    "awk",
    "bash",
    "builtin",
    "bun",
    "busybox",
    "chroot",
    "command",
    "csh",
    "dash",
    "deno",
    "doas",
    "env",
    "eval",
    "exec",
    "expect",
    "find",
    "fish",
    "flock",
    "gawk",
    "ionice",
    "ksh",
    "lua",
    "make",
    "mawk",
    "nice",
    "node",
    "nohup",
    "npx",
    "nsenter",
    "parallel",
    "perl",
    "php",
    "python",
    "python2",
    "python3",
    "ruby",
    "script",
    "sed",
    "setsid",
    "sh",
    "source",
    "ssh",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "systemd-run",
    "tcsh",
    "time",
    "timeout",
    "tmux",
    "unshare",
    "uvx",
    "vi",
    "vim",
    "watch",
    "xargs",
    "zsh",
];
/// Programs that delete, end or overwrite.
const TAKE_AWAY: &[&str] = &[
    "dd", "kill", "killall", "mkfs", "mv", "pkill", "reboot", "rm", "rmdir", "shred", "shutdown", "truncate",
];

/// The beginning that `always` would allow: the program, with its subcommand where the second word looks
/// like one.
///
/// # Errors
///
/// The command is not a single simple one, or its program could do anything.
pub fn prefix(command: &str) -> Result<String, NotSimple> {
    let words = words(command)?;
    let program = *words.first().ok_or(NotSimple::Empty)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "._/+-".contains(c);
    if !program.chars().all(plain) {
        return Err(NotSimple::Program);
    }
    let name = program.rsplit('/').next().unwrap_or(program);
    if RUN_OTHERS.contains(&name) {
        return Err(NotSimple::RunsOthers(name.to_owned()));
    }
    if TAKE_AWAY.contains(&name) {
        return Err(NotSimple::TakesAway(name.to_owned()));
    }
    match words.get(1).filter(|word| is_subcommand(word)) {
        Some(subcommand) => Ok(format!("{program} {subcommand}")),
        None => Ok(program.to_owned()),
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
    for c in command.trim().chars() {
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
            ("ls -la src", "ls"),
            ("./deploy.sh staging", "./deploy.sh staging"),
            ("cat Cargo.toml", "cat"),
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
            ("(a)", NotSimple::Several),
            ("a $(b)", NotSimple::Substitution),
            ("a `b`", NotSimple::Substitution),
            ("a $HOME", NotSimple::Substitution),
            ("a > b", NotSimple::Redirection),
            ("a <b", NotSimple::Redirection),
            ("a \\x", NotSimple::Escape),
            ("a\tb", NotSimple::Escape),
            ("a\u{1b}[2Jb", NotSimple::Escape),
            ("X=1 a", NotSimple::Assignment),
            ("'g'it log", NotSimple::Program),
            ("{a,b}", NotSimple::Program),
            ("sudo reboot", NotSimple::RunsOthers("sudo".to_owned())),
            ("/usr/bin/python3 x.py", NotSimple::RunsOthers("python3".to_owned())),
            ("rm -rf build", NotSimple::TakesAway("rm".to_owned())),
        ];
        for (command, why) in refused {
            assert_eq!(prefix(command), Err(why), "{command:?}");
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
