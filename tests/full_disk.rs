//! A home on a disk that is really full, or that nobody can write. It needs the right to mount a small file system
//! of its own; without it the tests show as ignored.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, missing_docs)]

mod support;

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Trial};
use rustix::process::Signal;

use support::program::{Place, Serve};

fn main() {
    let is_missing = SmallDisk::mount().is_none();
    if is_missing {
        eprintln!("ignored: this user may not mount a file system (it takes root)");
    }
    let trials = [
        ("on_a_full_disk_nothing_acknowledged_is_lost_and_with_space_again_all_goes_on", story as fn(&_)),
        ("a_home_that_nobody_can_write_can_be_looked_at_however_its_engine_ended", looked_at),
    ];
    let trials = trials.map(|(name, story)| {
        let trial = Trial::test(name, move || {
            story(&SmallDisk::mount().unwrap());
            Ok(())
        });
        trial.with_ignored_flag(is_missing)
    });
    libtest_mimic::run(&Arguments::from_args(), trials.into()).exit();
}

/// A file system of 2 MiB in memory.
struct SmallDisk {
    place: Place,
}

impl SmallDisk {
    fn mount() -> Option<Self> {
        let place = Place::new();
        fs::create_dir(place.home()).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=2m,mode=0700", "none"]).arg(place.home());
        let mounted = mount.stdout(Stdio::null()).stderr(Stdio::null()).status();
        mounted.is_ok_and(|end| end.success()).then_some(Self { place })
    }

    /// Lets it be written, or not.
    fn remount(&self, how: &str) {
        let mut mount = Command::new("mount");
        mount.args(["-o", &format!("remount,{how}")]).arg(self.place.home());
        assert!(mount.status().unwrap().success());
    }

    fn ballast(&self) -> PathBuf {
        self.place.home().join("ballast")
    }

    /// Writes until not a byte more is taken.
    fn fill(&self) {
        let mut file = File::create(self.ballast()).unwrap();
        for size in [64 * 1024, 1024, 1] {
            loop {
                match file.write(&vec![0; size]) {
                    Ok(written) => assert!(written > 0),
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::StorageFull, "{error}");
                        break;
                    }
                }
            }
        }
    }

    fn free(&self) {
        fs::remove_file(self.ballast()).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: what a killed engine still holds goes with it.
        let _ = Command::new("umount").arg("-l").arg(self.place.home()).status();
    }
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what} never came");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn no_state_file_is_empty(home: &Path) {
    for name in ["config.toml", "state.db"] {
        assert!(home.join(name).metadata().unwrap().len() > 0, "{name} is empty");
    }
}

/// Each command about a job answers while the disk is full, and the file and the store agree after it.
fn scheduled_tasks(disk: &SmallDisk) {
    let place = &disk.place;
    place.done(&["cron", "add", "@yearly", "say nightly", "--id", "nightly"]);
    let before = fs::read_to_string(place.home().join("jobs.json")).unwrap();
    disk.fill();
    // Until not even what is in the log already has room for one more commit.
    while place.run(&["cron", "run", "nightly"]).code == 0 {}
    let commands: [&[&str]; 5] = [
        &["cron", "run", "nightly"],
        &["cron", "pause", "nightly"],
        &["cron", "edit", "nightly", "--prompt", "say something else", "--id", "renamed"],
        &["cron", "add", "@yearly", "say more", "--id", "more"],
        &["cron", "remove", "nightly"],
    ];
    for command in commands {
        let began = Instant::now();
        let run = place.run(command);
        // A message waits for half a minute.
        assert!(began.elapsed() < Duration::from_secs(28), "{command:?} took {:?}", began.elapsed());
        assert_eq!(run.code, 1, "{command:?}: {run:?}");
        assert!(run.err.contains("full") || run.err.contains("No space left"), "{command:?}: {run:?}");
    }
    assert_eq!(fs::read_to_string(place.home().join("jobs.json")).unwrap(), before);
    disk.free();
    until("a pause", || place.run(&["cron", "pause", "nightly"]).code == 0);
    let [job] = &place.json(&["cron", "list"])[..] else { panic!("one job") };
    assert_eq!(job["id"], "nightly");
    place.done(&["cron", "edit", "nightly", "--id", "renamed"]);
    assert!(place.done(&["cron", "list"]).contains("renamed"));
}

fn story(disk: &SmallDisk) {
    let place = &disk.place;
    let engine = place.serve(&[]);
    assert_eq!(place.done(&["send", "--wait", "say before"]), "before\n");

    disk.fill();
    let sends: Vec<_> = ["a", "b"]
        .map(|name| place.command(&["send", "--session", name, "--wait", "say during"]).spawn().unwrap())
        .into();
    let trouble = || place.done(&["status"]).contains("store     can't be written since");
    until("the word that the disk is full", trouble);
    no_state_file_is_empty(&place.home());
    assert!(place.done(&["sessions"]).contains("console"), "what is kept can be read");
    disk.free();
    for send in sends {
        let run = send.wait_with_output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        assert_eq!(run.stdout, b"during\n");
    }
    assert_eq!(place.done(&["send", "--wait", "say after"]), "after\n");
    assert!(place.done(&["events"]).contains("the store works again after"));

    scheduled_tasks(disk);

    // A reset and a stop on the full disk.
    let before = place.json(&["sessions"]).len();
    disk.fill();
    let reset = place.command(&["send", "--session", "a", "/new"]).spawn().unwrap();
    engine.signal(Signal::TERM);
    disk.free();
    // Done before the stop, or refused by it: never half done.
    drop(reset.wait_with_output().unwrap());
    let (end, log) = Serve::ended(engine);
    assert!(end.success(), "{log}");
    no_state_file_is_empty(&place.home());
    let _engine = place.serve(&[]);
    assert_eq!(place.json(&["sessions"]).len(), before, "each session is there as it was");
    assert_eq!(place.done(&["send", "--wait", "--session", "a", "say at the end"]), "at the end\n");
}

fn looked_at(disk: &SmallDisk) {
    let place = &disk.place;
    let engine = place.serve(&[]);
    assert_eq!(place.done(&["send", "--wait", "say before"]), "before\n");
    let look = || {
        disk.remount("ro");
        assert!(place.done(&["status"]).contains("no engine"));
        assert!(place.done(&["sessions"]).contains("console"));
        assert!(place.done(&["events"]).contains("turn"));
        let refused = place.run(&["serve"]);
        assert!(refused.code == 1 && refused.err.contains("look at it with --read-only"), "{refused:?}");
        disk.remount("rw");
    };
    place.done(&["stop"]);
    assert!(engine.ended().0.success());
    look();
    let engine = place.serve(&[]);
    assert_eq!(place.done(&["send", "--wait", "say again"]), "again\n");
    engine.kill();
    look();
}
