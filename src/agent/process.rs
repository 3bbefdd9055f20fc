//! Processes by their identity, and the way of a backend's children into the store.
//!
//! A backend starts a child so that it does nothing yet, hands it to [`Children::keep`], and lets it
//! work only when that returns: whatever kills the engine then, the next start finds the child. A
//! process is told from a later one of the same number by the boot and the tick in which it began.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::time::Duration;

use rustix::process::{
    DumpableBehavior, Pid, Signal, kill_process, kill_process_group, set_dumpable_behavior,
};
use tokio::sync::{mpsc, oneshot};

use super::AgentError;
use crate::domain::id::{SessionId, TurnId};
use crate::domain::process::{ChildProcess, Fate, ProcessIdentity};

/// The variables that tell a child where it is. Whatever it starts has them too.
const SESSION: &str = "SWITCHBOARD_SESSION";
const TURN: &str = "SWITCHBOARD_TURN";
/// Marks a background process and all that it starts: it goes on without its turn and its engine.
pub(super) const BACKGROUND: &str = "SWITCHBOARD_BACKGROUND";

/// So often, with a pause between, the members of a group are looked for until none is left.
const END_ROUNDS: u32 = 100;
const END_PAUSE: Duration = Duration::from_millis(5);
/// So often, with a pause between, the environment of a process is looked for that becomes another program.
const EXEC_ROUNDS: u32 = 250;
const EXEC_PAUSE: Duration = Duration::from_millis(1);

/// Children that wait to be kept; beyond that a backend waits to hand one over.
const CHILDREN: usize = 8;

/// Where a backend hands the children of a turn over, before they work.
#[derive(Debug, Clone)]
pub struct Children(mpsc::Sender<NewChild>);

/// A child that does nothing until it is kept.
#[derive(Debug)]
pub struct NewChild {
    /// Which process it is.
    pub identity: ProcessIdentity,
    /// Its program, as the settings name it.
    pub program: String,
    kept: oneshot::Sender<()>,
}

impl Children {
    /// The way, and its end. A [`NewChild`] that is dropped there is refused.
    pub fn channel() -> (Self, mpsc::Receiver<NewChild>) {
        let (children, kept) = mpsc::channel(CHILDREN);
        (Self(children), kept)
    }

    /// Has the child with this number kept. It may work only when this has returned.
    ///
    /// # Errors
    /// Where it was not kept: then it must not work.
    pub async fn keep(&self, pid: u32, program: &str) -> Result<(), AgentError> {
        let identity = identify(pid).map_err(|error| {
            AgentError::Failed(format!(
                "{program} was not let work: /proc does not tell its process: {error}"
            ))
        })?;
        let (kept, is_kept) = oneshot::channel();
        let child = NewChild { identity, program: program.to_owned(), kept };
        let handed = self.0.send(child).await.is_ok();
        if handed && is_kept.await.is_ok() {
            return Ok(());
        }
        Err(AgentError::Failed(format!("{program} was not let work: its process could not be kept")))
    }
}

impl NewChild {
    /// Tells the backend that the child may work.
    pub fn keep(self) {
        // A turn that was dropped meanwhile has killed it.
        let _ = self.kept.send(());
    }
}

/// Tells a child where it is.
pub(super) fn place(session: &SessionId, turn: TurnId) -> [(&'static str, String); 2] {
    [(SESSION, session.as_str().to_owned()), (TURN, turn.to_string())]
}

/// Ends what is left of a child whose engine died: its group, and what left the group with the marks of the
/// child's turn, but for what went on in the background.
pub fn end_leftover(child: &ChildProcess, session: &SessionId) -> Fate {
    let fate = end_group_of(child, session);
    let marks = marks(session, child.turn);
    let of_this_boot = boot().is_ok_and(|boot| boot == child.identity.boot);
    let left = if of_this_boot {
        end_all(|pid| has_marks(pid, &marks) && !has_variable(pid, BACKGROUND))
    } else {
        0
    };
    match fate {
        Fate::Gone if left > 0 => Fate::Killed,
        fate => fate,
    }
}

/// Ends the group of a child. A process that only has its number now is left alone: where the leader is gone, a
/// member must have the marks of the child's turn.
fn end_group_of(child: &ChildProcess, session: &SessionId) -> Fate {
    let ours = match identify(child.identity.pid) {
        Ok(found) => found == child.identity,
        Err(_) => boot().is_ok_and(|boot| boot == child.identity.boot) && member_has_marks(child, session),
    };
    let group = i32::try_from(child.identity.pid).ok().and_then(Pid::from_raw);
    let (true, Some(group)) = (ours, group) else { return Fate::Gone };
    match kill_process_group(group, Signal::KILL) {
        Ok(()) => Fate::Killed,
        Err(rustix::io::Errno::SRCH) => Fate::Gone,
        Err(error) => Fate::Lives { why: error.to_string() },
    }
}

/// Whether a process lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    /// It does.
    Lives,
    /// It has ended, or was of an earlier boot.
    Gone,
    /// Nobody can tell.
    Unknown,
}

/// Whether a process of this host lives.
pub fn life(process: &ProcessIdentity) -> Life {
    let (Ok(boot), false) = (boot(), process.boot.is_empty()) else { return Life::Unknown };
    if boot != process.boot {
        return Life::Gone;
    }
    match identify(process.pid) {
        Ok(found) if found == *process => Life::Lives,
        Ok(_) => Life::Gone,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Life::Gone,
        Err(_) => Life::Unknown,
    }
}

/// The identity of this process. Where the system does not tell it, one that nobody can look for.
pub fn this_process() -> ProcessIdentity {
    let pid = std::process::id();
    identify(pid).unwrap_or(ProcessIdentity { pid, boot: String::new(), started: 0 })
}

/// Keeps this process's environment, which may hold keys, from what its agents run: without that, /proc shows
/// it to every process of the same user. The super-user still sees it.
///
/// # Errors
/// Where the system refuses.
pub fn hide_environment() -> io::Result<()> {
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}

/// The name of this host; empty where the system does not tell it.
pub fn host_name() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname").map(|name| name.trim().to_owned()).unwrap_or_default()
}

/// Ends the groups of all processes that have these marks in their environment: what a script left that
/// outlived its engine. Returns how many groups were found.
pub fn end_marked(marks: &[String]) -> usize {
    let marked = || other_processes().filter(|pid| has_marks(*pid, marks));
    end_until_none(|| marked().filter_map(|pid| Some(Stat::of(pid).ok()?.group)), kill_process_group)
}

/// Ends every process that has this mark in its environment, and every one of the group, if one is given,
/// but not its leader.
pub(super) fn end_members(group: Option<u32>, mark: &str) {
    let mark = [mark.to_owned()];
    end_all(|pid| Some(pid) != group && (is_member(pid, group) || has_marks(pid, &mark)));
}

/// Ends every process that is meant, and what they start meanwhile. Returns how many were found.
fn end_all(is_meant: impl Fn(u32) -> bool) -> usize {
    end_until_none(|| other_processes().filter(|pid| is_meant(*pid)), kill_process)
}

/// Ends what is found until nothing is found any more. Returns how many were found in all.
fn end_until_none<Found: Iterator<Item = u32>>(
    find: impl Fn() -> Found,
    end: impl Fn(Pid, Signal) -> rustix::io::Result<()>,
) -> usize {
    let mut ended = BTreeSet::new();
    for _ in 0..END_ROUNDS {
        let found: BTreeSet<i32> = find().filter_map(|number| i32::try_from(number).ok()).collect();
        if found.is_empty() {
            break;
        }
        for one in found.iter().filter_map(|number| Pid::from_raw(*number)) {
            // The only failure is that it has ended.
            let _ = end(one, Signal::KILL);
        }
        ended.extend(found);
        std::thread::sleep(END_PAUSE);
    }
    ended.len()
}

fn is_member(pid: u32, group: Option<u32>) -> bool {
    group.is_some() && Stat::of(pid).is_ok_and(|stat| stat.state != "Z" && Some(stat.group) == group)
}

fn all_processes() -> impl Iterator<Item = u32> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn other_processes() -> impl Iterator<Item = u32> {
    all_processes().filter(|pid| *pid != std::process::id())
}

/// The identity of a process that lives.
pub(super) fn identify(pid: u32) -> io::Result<ProcessIdentity> {
    let stat = Stat::of(pid)?;
    if stat.state == "Z" {
        return Err(io::Error::new(io::ErrorKind::NotFound, "it only waits to be reaped"));
    }
    Ok(ProcessIdentity { pid, boot: boot()?, started: stat.started })
}

fn boot() -> io::Result<String> {
    Ok(fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned())
}

/// The marks of a turn's children, as they stand in an environment.
fn marks(session: &SessionId, turn: TurnId) -> [String; 2] {
    place(session, turn).map(|(name, value)| format!("{name}={value}"))
}

fn member_has_marks(child: &ChildProcess, session: &SessionId) -> bool {
    let marks = marks(session, child.turn);
    all_processes()
        .filter(|pid| Stat::of(*pid).is_ok_and(|stat| stat.group == child.identity.pid))
        .any(|pid| has_marks(pid, &marks))
}

fn has_marks(pid: u32, marks: &[String]) -> bool {
    let environment = environment(pid);
    let has = |mark: &String| environment.split(|byte| *byte == 0).any(|pair| pair == mark.as_bytes());
    marks.iter().all(has)
}

fn has_variable(pid: u32, name: &str) -> bool {
    let is_it = |pair: &[u8]| pair.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.starts_with(b"="));
    environment(pid).split(|byte| *byte == 0).any(is_it)
}

/// The environment that a process was started with. While it becomes another program there is none to read, some
/// milliseconds long: then it is waited for. None is believed where it is seen twice, and no exec is under way.
fn environment(pid: u32) -> Vec<u8> {
    let (mut is_whole, mut was_empty) = (false, false);
    for _ in 0..EXEC_ROUNDS {
        let Ok(environment) = fs::read(format!("/proc/{pid}/environ")) else { break };
        if !environment.is_empty() || (is_whole && was_empty) {
            return environment;
        }
        was_empty = is_whole;
        is_whole = match Stat::of(pid).map_or(Memory::None, |stat| stat.memory) {
            Memory::None => break,
            Memory::Begun => false,
            Memory::Whole => true,
        };
        std::thread::sleep(EXEC_PAUSE);
    }
    Vec::new()
}

/// What the kernel tells of a process.
struct Stat {
    state: String,
    group: u32,
    started: u64,
    memory: Memory,
}

/// What a process has in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Memory {
    /// Nothing: it has ended, or is a part of the kernel.
    None,
    /// Not all of a program yet: an exec is under way, which tells where the code is after where the environment is.
    Begun,
    /// A program.
    Whole,
}

impl Stat {
    fn of(pid: u32) -> io::Result<Self> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat"))?;
        Self::read(&text).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, text))
    }

    /// The name stands in parentheses and may hold anything; behind it come numbered fields, from 3.
    fn read(text: &str) -> Option<Self> {
        let (_, rest) = text.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let field = |number: usize| fields.get(number - 3).copied();
        Some(Self {
            state: field(3)?.to_owned(),
            group: field(5)?.parse().ok()?,
            started: field(22)?.parse().ok()?,
            memory: match (field(23)?, field(26)?) {
                ("0", _) => Memory::None,
                (_, "0") => Memory::Begun,
                _ => Memory::Whole,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Read};
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command, Stdio};
    use std::time::Instant;

    thread_local! {
        /// Each test's own: what has its marks is ended wherever it runs.
        static SESSION_OF_TEST: SessionId = SessionId::new(chrono::DateTime::UNIX_EPOCH, fastrand::u32(..));
    }

    fn session() -> SessionId {
        SESSION_OF_TEST.with(SessionId::clone)
    }

    /// A child that leads a group, with the marks of turn 7.
    fn leader(script: &str) -> Child {
        shell(script).envs(place(&session(), TurnId(7))).spawn().unwrap()
    }

    fn shell(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped());
        command
    }

    fn wait_until(holds: impl Fn() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !holds() {
            assert!(Instant::now() < deadline, "waited in vain");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn kept(child: &Child) -> ChildProcess {
        let identity = identify(child.id()).unwrap();
        ChildProcess { turn: TurnId(7), program: "sh".to_owned(), identity }
    }

    #[test]
    fn a_child_is_killed_with_its_group_once() {
        let mut child = leader("trap '' TERM; sleep 1000 & wait");
        let process = kept(&child);
        assert_eq!(end_leftover(&process, &session()), Fate::Killed);
        assert!(!child.wait().unwrap().success());
        // The other member of the group is its new parent's to bury.
        wait_until(|| !all_processes().any(|pid| is_member(pid, Some(child.id()))));
        assert_eq!(end_leftover(&process, &session()), Fate::Gone);
    }

    #[test]
    fn a_process_that_only_has_the_number_is_left_alone() {
        let mut child = shell("exec sleep 1000").spawn().unwrap();
        let process = kept(&child);
        for other in [
            ProcessIdentity { started: process.identity.started + 1, ..process.identity.clone() },
            ProcessIdentity { boot: "another".to_owned(), ..process.identity.clone() },
        ] {
            let earlier = ChildProcess { identity: other, ..process.clone() };
            assert_eq!(end_leftover(&earlier, &session()), Fate::Gone);
        }
        assert!(child.try_wait().unwrap().is_none(), "it was killed");
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_group_without_its_leader_is_known_by_the_marks_of_its_turn() {
        let mut child = leader("sleep 1000 & echo begun; read -r never");
        let process = kept(&child);
        let mut begun = [0; 6];
        child.stdout.as_mut().unwrap().read_exact(&mut begun).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let later = ChildProcess { turn: TurnId(8), ..process.clone() };
        assert_eq!(end_leftover(&later, &session()), Fate::Gone, "another turn's");
        assert_eq!(end_leftover(&process, &session()), Fate::Killed);
    }

    #[test]
    fn what_left_the_group_of_a_child_is_ended_with_it_but_for_what_is_in_the_background() {
        let mut child = leader(
            "setsid sleep 1000 & left=$!; SWITCHBOARD_BACKGROUND=x setsid sleep 1000 & echo $left $!; read -r never",
        );
        let process = kept(&child);
        let mut told = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut told).unwrap();
        let (left, stays) = told.trim().split_once(' ').unwrap();
        let [left, stays] = [left, stays].map(|pid| pid.parse::<u32>().unwrap());
        let sleeps =
            |pid| fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm == "sleep\n");
        wait_until(|| sleeps(left) && sleeps(stays));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(end_leftover(&process, &session()), Fate::Killed);
        wait_until(|| identify(left).is_err());
        let stays = Pid::from_raw(stays.cast_signed()).unwrap();
        kill_process(stays, Signal::KILL).expect("what is in the background was ended");
    }

    #[test]
    fn a_process_is_told_from_a_later_one_of_its_number() {
        let mut child = leader("exec sleep 1000");
        let identity = kept(&child).identity;
        assert_eq!(life(&identity), Life::Lives);
        assert_eq!(life(&this_process()), Life::Lives);
        let later = ProcessIdentity { started: identity.started - 1, ..identity.clone() };
        assert_eq!(life(&later), Life::Gone);
        let earlier_boot = ProcessIdentity { boot: "another".to_owned(), ..identity.clone() };
        assert_eq!(life(&earlier_boot), Life::Gone);
        let untold = ProcessIdentity { boot: String::new(), ..identity.clone() };
        assert_eq!(life(&untold), Life::Unknown);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(life(&identity), Life::Gone);
    }

    #[test]
    fn what_has_the_marks_is_ended_with_its_group_and_nothing_else() {
        let (mut ours, mut other) = (leader("sleep 1000 & echo begun; wait"), leader("sleep 1000"));
        let mut begun = [0; 6];
        ours.stdout.as_mut().unwrap().read_exact(&mut begun).unwrap();
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "sleep 1000 & echo begun; wait"]).env("MARK_A", "x").env("MARK_B", "y");
        let mut marked = command.process_group(0).stdout(Stdio::piped()).spawn().unwrap();
        marked.stdout.as_mut().unwrap().read_exact(&mut begun).unwrap();
        assert_eq!(end_marked(&["MARK_A=x".to_owned(), "MARK_B=z".to_owned()]), 0);
        assert_eq!(end_marked(&["MARK_A=x".to_owned(), "MARK_B=y".to_owned()]), 1);
        assert!(!marked.wait().unwrap().success());
        for child in [&mut ours, &mut other] {
            assert!(child.try_wait().unwrap().is_none(), "it was killed");
        }
        assert_eq!(end_leftover(&kept(&ours), &session()), Fate::Killed, "with all of its turn");
        for child in [&mut ours, &mut other] {
            child.wait().unwrap();
        }
    }

    #[test]
    fn what_just_becomes_another_program_has_its_marks_already() {
        for _ in 0..100 {
            let mut child = leader("sleep 1000");
            let has_its_marks = has_marks(child.id(), &marks(&session(), TurnId(7)));
            child.kill().unwrap();
            child.wait().unwrap();
            assert!(has_its_marks);
        }
    }

    #[test]
    fn a_name_with_parentheses_hides_nothing() {
        let text = format!("12 (a) b) (c) S 1 34{} 77 4096 0 0 65536", " 0".repeat(16));
        let stat = Stat::read(&text).unwrap();
        assert_eq!((stat.state.as_str(), stat.group, stat.started), ("S", 34, 77));
        assert!(Stat::read("12 (a) S").is_none());
    }
}
