//! What must be there before a run costs anything: its agent, its skills, its script, its folder.

use std::path::{Path, PathBuf};

use super::skill::{self, Skill};
use crate::config::Home;
use crate::domain::agent::Roster;
use crate::domain::cron::{Definition, Fault};

/// A job with everything that its run needs.
#[derive(Debug)]
pub(super) struct Ready {
    /// Its skills, read.
    pub(super) skills: Vec<Skill>,
    /// Its script, resolved.
    pub(super) script: Option<PathBuf>,
}

/// Looks at everything that a job names. Touches nothing.
///
/// # Errors
/// What is missing and where it was looked for.
pub(super) fn check(home: &Home, agents: &Roster, job: &Definition) -> Result<Ready, Fault> {
    agent(agents, job)?;
    let skills = job.skills.iter().map(|name| skill::read(&home.skills(), name)).collect::<Result<_, _>>()?;
    let script = job.script.as_deref().map(|name| script(&home.scripts(), name)).transpose()?;
    job.workdir.as_deref().map_or(Ok(()), workdir)?;
    Ok(Ready { skills, script })
}

/// Everything that a job names and that can't be used now: its agent, its skills, its script, its folder.
pub fn missing(home: &Home, agents: &Roster, job: &Definition) -> Vec<Fault> {
    let agent = agent(agents, job).err().into_iter();
    let skills = job.skills.iter().filter_map(|name| skill::read(&home.skills(), name).err());
    let script = job.script.as_deref().and_then(|name| script(&home.scripts(), name).err());
    let workdir = job.workdir.as_deref().and_then(|path| workdir(path).err());
    agent.chain(skills).chain(script).chain(workdir).collect()
}

/// A job whose script is its result has no agent.
fn agent(agents: &Roster, job: &Definition) -> Result<(), Fault> {
    let Some(name) = job.agent.as_deref().filter(|_| !job.no_agent) else { return Ok(()) };
    match name.parse().is_ok_and(|name| agents.find(&name).is_ok()) {
        true => Ok(()),
        false => Err(Fault::new("agent", &format!("{name:?}"), agents.unknown(name))),
    }
}

fn workdir(path: &str) -> Result<(), Fault> {
    match Path::new(path).is_dir() {
        true => Ok(()),
        false => Err(Fault::new("workdir", &format!("{path:?}"), "there is no such folder")),
    }
}

/// A script lies in `scripts/`, whatever links lead there.
fn script(scripts: &Path, name: &str) -> Result<PathBuf, Fault> {
    let named = scripts.join(name);
    let wrong =
        |why: &str| Fault::new("script", &format!("{name:?}"), format_args!("{}: {why}", named.display()));
    let found = named.canonicalize().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => wrong("there is no such file"),
        _ => wrong(&error.to_string()),
    })?;
    let inside = scripts.canonicalize().is_ok_and(|scripts| found.starts_with(scripts));
    if !inside {
        return Err(wrong(&format!("it leads out of scripts/, to {}", found.display())));
    }
    if !found.is_file() {
        return Err(wrong("it is no file"));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn home() -> (tempfile::TempDir, Home) {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::resolve(Some(folder.path())).unwrap();
        fs::create_dir_all(home.scripts().join("nightly")).unwrap();
        fs::create_dir_all(home.skills().join("mail")).unwrap();
        fs::write(home.skills().join("mail/SKILL.md"), "read").unwrap();
        fs::write(home.scripts().join("check.sh"), "true").unwrap();
        fs::write(home.root().join("outside.sh"), "true").unwrap();
        (folder, home)
    }

    fn job() -> Definition {
        Definition::new("a".parse().unwrap(), "@daily".to_owned())
    }

    #[test]
    fn a_job_is_ready_when_all_that_it_names_is_there() {
        let (_folder, home) = home();
        let whole = Definition {
            skills: vec!["mail".to_owned()],
            script: Some("check.sh".to_owned()),
            workdir: Some(home.root().display().to_string()),
            ..job()
        };
        let ready = check(&home, &Roster::default(), &whole).unwrap();
        assert_eq!(ready.skills.len(), 1);
        assert_eq!(ready.script, Some(home.scripts().join("check.sh").canonicalize().unwrap()));
        assert!(check(&home, &Roster::default(), &job()).unwrap().script.is_none());
    }

    #[test]
    fn what_is_missing_is_named() {
        let (_folder, home) = home();
        for (broken, why) in [
            (Definition { skills: vec!["gone".to_owned()], ..job() }, "skill \"gone\": there is no "),
            (Definition { script: Some("gone.sh".to_owned()), ..job() }, "there is no such file"),
            (Definition { script: Some("nightly".to_owned()), ..job() }, "it is no file"),
            (
                Definition { workdir: Some("/nowhere/at/all".to_owned()), ..job() },
                "workdir \"/nowhere/at/all\": there is",
            ),
            (
                Definition { agent: Some("coder".to_owned()), ..job() },
                "agent \"coder\": there is no agent \"coder\"",
            ),
        ] {
            let fault = check(&home, &Roster::default(), &broken).unwrap_err();
            assert!(fault.to_string().contains(why), "{fault}");
            assert_eq!(missing(&home, &Roster::default(), &broken), [fault]);
        }
        let all = Definition {
            skills: vec!["gone".to_owned(), "mail".to_owned()],
            script: Some("gone.sh".to_owned()),
            workdir: Some("/nowhere/at/all".to_owned()),
            ..job()
        };
        assert_eq!(missing(&home, &Roster::default(), &all).len(), 3);
    }

    #[test]
    fn a_link_that_leads_out_of_the_scripts_is_refused_and_one_that_stays_is_not() {
        let (_folder, home) = home();
        symlink(home.root().join("outside.sh"), home.scripts().join("out.sh")).unwrap();
        symlink(home.root(), home.scripts().join("up")).unwrap();
        symlink("check.sh", home.scripts().join("same.sh")).unwrap();
        for out in ["out.sh", "up/outside.sh"] {
            let fault =
                check(&home, &Roster::default(), &Definition { script: Some(out.to_owned()), ..job() })
                    .unwrap_err();
            assert!(fault.why.contains("it leads out of scripts/"), "{fault}");
        }
        assert!(
            check(&home, &Roster::default(), &Definition { script: Some("same.sh".to_owned()), ..job() })
                .is_ok()
        );
    }
}
