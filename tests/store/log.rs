//! The write-ahead log cut and damaged at every place: the store opens on an exact prefix of its commits,
//! loses nothing that was acknowledged by what a crash can do, and says so where something was lost.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use switchboard::domain::api::EventPage;
use switchboard::domain::damage::{FoundLog, LogDamage, Lost};
use switchboard::domain::event::{Event, Level};
use switchboard::store::sqlite::Database;
use switchboard::store::{Queries, StoreError};

use crate::given::{message, run};

const HEADER: usize = 32;
const FRAME: usize = 24 + 2048;

/// A store's files, as a machine that stops leaves them.
#[derive(Clone)]
struct Files {
    store: Vec<u8>,
    log: Vec<u8>,
    index: Option<Vec<u8>>,
}

/// A store after so many commits; what it told after each, and how long its log was then.
struct Written {
    files: Files,
    states: Vec<Vec<Event>>,
    ends: Vec<usize>,
    indexes: Vec<Vec<u8>>,
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    PathBuf::from(format!("{}{ending}", path.display()))
}

fn state(database: &Database) -> Vec<Event> {
    database
        .queries()
        .events(EventPage::After(switchboard::domain::id::Seq(0)), Level::Debug, None, 1000)
        .unwrap()
}

impl Files {
    fn of(path: &Path) -> Self {
        Self {
            store: fs::read(path).unwrap(),
            log: fs::read(beside(path, "-wal")).unwrap(),
            index: Some(fs::read(beside(path, "-shm")).unwrap()),
        }
    }

    fn put(&self, path: &Path) {
        fs::write(path, &self.store).unwrap();
        fs::write(beside(path, "-wal"), &self.log).unwrap();
        if let Some(index) = &self.index {
            fs::write(beside(path, "-shm"), index).unwrap();
        }
    }

    fn without_index(&self) -> Self {
        Self { index: None, ..self.clone() }
    }

    fn cut(&self, end: usize) -> Self {
        Self { log: self.log[..end].to_vec(), ..self.clone() }
    }

    fn flip(&self, at: usize) -> Self {
        let mut files = self.clone();
        files.log[at] ^= 0x10;
        files
    }

    /// Opens them: what the store tells, and what it says of its log.
    fn open(&self) -> Result<(Vec<Event>, Option<LogDamage>), StoreError> {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("state.db");
        self.put(&path);
        let database = Database::open(&path)?;
        let damage = database.log_damage().cloned();
        if let Some(LogDamage { found, .. }) = &damage {
            let FoundLog::Copied(copy) = found else { panic!("{found:?}") };
            assert_eq!(fs::read(copy).unwrap(), self.log, "the log is kept as it was found");
        }
        Ok((state(&database), damage))
    }

    fn lost(&self) -> (Vec<Event>, Option<Lost>) {
        let (state, damage) = self.open().unwrap();
        (state, damage.map(|damage| damage.lost))
    }
}

impl Written {
    /// A store of five commits, none of them moved from the log into the file.
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("state.db");
        let mut database = Database::open(&path).unwrap();
        let (mut states, mut ends, mut indexes) = (vec![state(&database)], vec![HEADER], vec![Vec::new()]);
        for step in 0..5 {
            match step {
                0 => drop(database.step(|t| t.open_run(&run(1, 0))).unwrap()),
                n => drop(database.step(|t| t.accept_message(&message("a", "text", n))).unwrap()),
            }
            states.push(state(&database));
            ends.push(fs::metadata(beside(&path, "-wal")).unwrap().len() as usize);
            indexes.push(fs::read(beside(&path, "-shm")).unwrap());
        }
        Self { files: Files::of(&path), states, ends, indexes }
    }

    /// How many commits are whole in the first bytes of the log.
    fn commits_within(&self, bytes: usize) -> usize {
        self.ends.iter().filter(|end| **end <= bytes).count() - 1
    }

    fn frames(&self) -> impl Iterator<Item = usize> + use<> {
        (HEADER..self.files.log.len()).step_by(FRAME)
    }
}

#[test]
fn the_store_of_the_sweep_is_what_it_is_taken_for() {
    let written = Written::new();
    assert_eq!((written.files.log.len() - HEADER) % FRAME, 0);
    assert_eq!(written.ends.last(), Some(&written.files.log.len()));
    assert!(written.ends.windows(2).all(|pair| pair[1] > pair[0] + FRAME), "each commit has several frames");
    assert_eq!(written.files.lost(), (written.states[5].clone(), None));
}

#[test]
fn cutting_what_was_not_synced_yet_loses_nothing_acknowledged_and_alarms_nobody() {
    let written = Written::new();
    for commit in 1..5 {
        let (acknowledged, next) = (written.ends[commit], written.ends[commit + 1]);
        let cuts = (acknowledged..next).step_by(FRAME).flat_map(|at| [at, at + 9, at + 24, at + FRAME - 1]);
        for cut in cuts.filter(|cut| *cut < next) {
            let mut files = written.files.cut(cut);
            files.index = Some(written.indexes[commit].clone());
            assert_eq!(files.lost(), (written.states[commit].clone(), None), "{commit} {cut}");
        }
    }
}

#[test]
fn a_log_cut_at_any_place_opens_on_the_commits_that_are_whole_and_says_what_the_index_knows() {
    let written = Written::new();
    let frames = written.frames().flat_map(|at| [at, at + 12, at + 24, at + 1000]);
    for cut in [0, 1, HEADER - 1].into_iter().chain(frames) {
        let files = written.files.cut(cut);
        let kept = written.commits_within(cut.max(HEADER));
        let (state, _) = files.without_index().lost();
        assert_eq!(state, written.states[kept], "{cut}");
        let (state, lost) = files.lost();
        assert_eq!(state, written.states[kept], "{cut}");
        if cut >= HEADER {
            assert!(matches!(lost, Some(Lost::AtLeast(1..))), "{cut}: {lost:?}");
        }
    }
}

#[test]
fn a_byte_flipped_in_any_frame_opens_on_the_commits_before_it_and_says_so() {
    let written = Written::new();
    let last_frame = written.files.log.len() - FRAME;
    for frame in written.frames() {
        let kept = written.commits_within(frame);
        for place in [1, 6, 9, 14, 17, 21, 24, 500, FRAME - 1] {
            let files = written.files.flip(frame + place);
            let (state, lost) = files.lost();
            assert_eq!(state, written.states[kept], "{frame} {place}");
            assert!(matches!(lost, Some(Lost::AtLeast(1..))), "{frame} {place}: {lost:?}");
            let (state, lost) = files.without_index().lost();
            assert_eq!(state, written.states[kept], "{frame} {place}");
            match 5 - kept {
                // The salts gone, nothing shows that the last frame belongs to this log.
                1 if frame == last_frame && (8..16).contains(&place) => assert_eq!(lost, None),
                // With them goes the mark of its commit: the next may then be part of the same.
                2 if written.ends.contains(&(frame + FRAME)) && (8..16).contains(&place) => {
                    assert!(lost.is_some(), "{frame}")
                }
                // Of the last commit the log alone can't tell whether it was acknowledged.
                1 if place == 6 => assert!(lost.is_some(), "{frame}: {lost:?}"),
                1 => assert_eq!(lost, Some(Lost::PerhapsOne), "{frame} {place}"),
                _ => assert!(matches!(lost, Some(Lost::AtLeast(1..))), "{frame} {place}: {lost:?}"),
            }
        }
    }
}

#[test]
fn as_many_commits_are_told_as_are_known_to_be_lost() {
    let written = Written::new();
    for (kept, end) in written.ends.iter().enumerate().take(5) {
        let files = written.files.flip(end + 100);
        let lost = u32::try_from(5 - kept).unwrap();
        assert_eq!(files.lost().1, Some(Lost::AtLeast(lost)), "the index knows them all");
        let proven = if lost == 1 { Lost::PerhapsOne } else { Lost::AtLeast(lost - 1) };
        assert_eq!(files.without_index().lost().1, Some(proven), "the log proves all but the last");
    }
}

#[test]
fn a_damaged_header_of_the_log_is_told_too() {
    let written = Written::new();
    for at in 0..HEADER {
        let (state, lost) = written.files.without_index().flip(at).lost();
        assert_eq!(state, written.states[0], "{at}");
        assert_eq!(lost, Some(Lost::AtLeast(4)), "{at}");
    }
}

#[test]
fn what_was_found_behind_the_last_commit_is_told_once_and_not_taken_for_new_damage_later() {
    let written = Written::new();
    let damaged = written.files.flip(written.ends[2] + 100);
    let torn =
        Files { index: Some(written.indexes[4].clone()), ..written.files.cut(written.ends[5] - FRAME) };
    for (files, kept) in [(damaged, 2), (torn, 4)] {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("state.db");
        files.put(&path);
        let mut database = Database::open(&path).unwrap();
        assert_eq!(database.log_damage().is_some(), kept == 2);
        database.step(|t| t.accept_message(&message("b", "new", 9))).unwrap();
        let goes_on = state(&database);
        assert!(goes_on.starts_with(&written.states[kept]) && goes_on.len() > written.states[kept].len());
        let killed = Files::of(&path);
        assert_eq!(killed.lost(), (goes_on.clone(), None));
        assert_eq!(killed.without_index().lost(), (goes_on, None));
    }
}

#[test]
fn a_log_damaged_in_what_the_file_holds_already_never_gives_a_state_that_never_was() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("state.db");
    let written = Written::new();
    written.files.put(&path);
    let database = Database::open(&path).unwrap();
    let other = Connection::open(&path).unwrap();
    other.query_row("PRAGMA wal_checkpoint(PASSIVE)", (), |_| Ok(())).unwrap();
    let moved = Files::of(&path);
    drop(database);
    let (mut refused, mut opened) = (0, 0);
    for frame in written.frames() {
        match moved.without_index().flip(frame + 100).open() {
            Ok((state, damage)) => {
                assert!(written.states.contains(&state), "{frame}");
                assert!(damage.is_some(), "{frame}");
                opened += 1;
            }
            Err(error) => {
                assert!(error.to_string().contains("no state that ever was"), "{error}");
                refused += 1;
            }
        }
    }
    assert!(refused > 0 && opened > 0, "{refused} refused, {opened} opened");
}

#[test]
fn damage_is_told_in_words_with_where_the_log_is_kept() {
    let found = FoundLog::Copied("state.db-wal.corrupt-1".to_owned());
    let words = LogDamage { lost: Lost::AtLeast(3), found }.words();
    assert_eq!(
        words,
        "the store's log is damaged: 3 commits or more that had been kept are lost; \
         the store goes on from the commit before; as it was found it is state.db-wal.corrupt-1"
    );
}
