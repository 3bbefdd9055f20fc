//! The manual pages and completions in the repository are those of this command line.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use clap::ValueEnum;

use crate::support::files::{assert_kept, repository};

fn files(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let named = |entry: fs::DirEntry| {
        (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap())
    };
    entries.map(named).collect()
}

fn assert_fresh(kept: &str, made: &Path) {
    let kept = repository(kept);
    let made = files(made);
    for (name, text) in &made {
        assert_kept(&kept.join(name), text);
    }
    let kept: Vec<String> = files(&kept).into_keys().collect();
    assert_eq!(kept, made.into_keys().collect::<Vec<_>>(), "a file is left over");
}

#[test]
fn the_manual_pages_are_fresh() {
    let made = tempfile::tempdir().unwrap();
    clap_mangen::generate_to(switchboard::cli::command(), made.path()).unwrap();
    assert_fresh("assets/man", made.path());
}

#[test]
fn the_completions_are_fresh() {
    let made = tempfile::tempdir().unwrap();
    for shell in clap_complete::Shell::value_variants() {
        let mut command = switchboard::cli::command();
        clap_complete::generate_to(*shell, &mut command, "switchboard", made.path()).unwrap();
    }
    assert_fresh("assets/completions", made.path());
}
