//! A change on the disk is noticed, however it was made.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

use switchboard::store::jobs_file::{Reading, Watch};
use tokio::time::timeout;

use super::given::*;

/// Far beyond anything that a loaded machine takes: only a sign that never comes meets it.
const NEVER: Duration = Duration::from_secs(30);

async fn noticed(watch: &mut Watch) {
    timeout(NEVER, watch.changed()).await.expect("the change is noticed");
}

#[tokio::test]
async fn a_change_is_noticed_however_it_was_made() {
    let given = Given::nothing();
    let mut watch = given.file.watch();
    fs::write(given.file.path(), OURS).unwrap();
    noticed(&mut watch).await;
    assert!(matches!(given.file.read(), Reading::Read(..)));

    fs::write(given.path("new.json"), HERMES).unwrap();
    fs::rename(given.path("new.json"), given.file.path()).unwrap();
    noticed(&mut watch).await;
    assert_eq!(given.text(), HERMES);

    given.file.edit(&add("b")).unwrap();
    noticed(&mut watch).await;

    fs::remove_file(given.file.path()).unwrap();
    noticed(&mut watch).await;
    assert_eq!(given.file.read(), Reading::Missing);
}

#[tokio::test]
async fn a_change_before_the_wait_is_not_missed() {
    let given = Given::file(OURS);
    let mut watch = given.file.watch();
    fs::write(given.file.path(), HERMES).unwrap();
    drop(watch.changed());
    noticed(&mut watch).await;
}

#[tokio::test]
async fn behind_a_link_the_file_itself_is_watched() {
    let given = Given::nothing();
    let repository = tempfile::tempdir().unwrap();
    let target = repository.path().join("tasks.json");
    fs::write(&target, OURS).unwrap();
    symlink(&target, given.file.path()).unwrap();
    let mut watch = given.file.watch();
    fs::write(&target, HERMES).unwrap();
    noticed(&mut watch).await;

    let other = repository.path().join("other.json");
    fs::write(&other, OURS).unwrap();
    fs::remove_file(given.file.path()).unwrap();
    symlink(&other, given.file.path()).unwrap();
    noticed(&mut watch).await;
    fs::write(&other, HERMES).unwrap();
    noticed(&mut watch).await;
}

#[tokio::test]
async fn reading_and_what_happens_to_other_files_is_no_change() {
    let given = Given::file(OURS);
    let mut watch = given.file.watch();
    given.document();
    fs::write(given.path("state.db"), "x").unwrap();
    fs::write(given.path("jobs.json.bak"), "x").unwrap();
    let quiet = timeout(Duration::from_millis(200), watch.changed()).await;
    assert!(quiet.is_err(), "nothing happened to jobs.json");
}
