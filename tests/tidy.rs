//! The walls of the house, checked by reading the sources.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::fs;
use std::path::{Path, PathBuf};

struct Wall<'a> {
    rooms: &'a [&'a str],
    except: &'a [&'a str],
    never: &'a [&'a str],
}

const CLOCKS: [&str; 4] = ["Utc::now", "Local::now", "Instant::now", "SystemTime::now"];

#[test]
fn pure_rooms_touch_nothing() {
    let never = ["tokio", "rusqlite", "std::fs", "std::net", "std::process", "fastrand"];
    let rooms = &["src/domain", "src/console/app", "src/console/ui"];
    check(&Wall { rooms, except: &[], never: &never });
    check(&Wall { rooms, except: &[], never: &CLOCKS });
}

#[test]
fn the_engine_knows_no_screen() {
    let rooms = &["src/engine", "src/store", "src/agent", "src/control", "src/domain"];
    check(&Wall { rooms, except: &[], never: &["ratatui", "crossterm"] });
}

#[test]
fn the_engine_starts_no_process_itself() {
    check(&Wall { rooms: &["src/engine", "src/store"], except: &[], never: &["process::Command"] });
}

#[test]
fn only_the_store_knows_sql() {
    let never = ["rusqlite", "SELECT ", "INSERT INTO", "UPDATE "];
    check(&Wall { rooms: &["src"], except: &["src/store"], never: &never });
}

#[test]
fn only_its_backend_knows_the_agent_client_protocol() {
    let never = ["agent_client_protocol"];
    check(&Wall { rooms: &["src"], except: &["src/agent/acp"], never: &never });
}

#[test]
fn only_the_tty_writes_to_the_terminal() {
    let never =
        ["crossterm::execute", "crossterm::queue", "execute!", "queue!", "enable_raw_mode", "stdout()"];
    check(&Wall { rooms: &["src/console"], except: &["src/console/tty"], never: &never });
}

#[test]
fn only_the_theme_names_a_colour() {
    check(&Wall { rooms: &["src/console"], except: &["src/console/ui/theme.rs"], never: &["Color::"] });
}

#[test]
fn the_console_and_the_command_line_reach_the_engine_only_through_a_client() {
    let never = ["crate::store", "crate::engine"];
    check(&Wall { rooms: &["src/console"], except: &[], never: &never });
    check(&Wall { rooms: &["src/cli"], except: &["src/cli/serve.rs"], never: &never });
}

/// `#[tokio::test(start_paused = true)]`: the clock of `tests/support/clock.rs` stands on whole ticks.
#[test]
fn the_tests_of_the_engine_begin_with_a_paused_clock() {
    check(&Wall { rooms: &["tests/engine", "tests/engine.rs"], except: &[], never: &["#[tokio::test]"] });
}

#[test]
fn main_is_one_call() {
    let main = fs::read_to_string(root().join("src/main.rs")).unwrap();
    assert!(main.lines().count() <= 60, "src/main.rs has more than 60 lines");
}

fn check(wall: &Wall<'_>) {
    let mut broken = Vec::new();
    for room in wall.rooms {
        for file in sources(&root().join(room)) {
            let path = file.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
            if wall.except.iter().any(|free| path.starts_with(free)) {
                continue;
            }
            let text = fs::read_to_string(&file).unwrap();
            for (number, line) in product_lines(&text) {
                for word in wall.never.iter().filter(|word| line.contains(**word)) {
                    broken.push(format!("{path}:{number}: names {word:?}"));
                }
            }
        }
    }
    assert!(broken.is_empty(), "walls broken:\n{}", broken.join("\n"));
}

/// The lines of a file without its comments and its tests, which stand at the end.
fn product_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line))
        .take_while(|(_, line)| !line.starts_with("#[cfg(test)]"))
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
}

fn sources(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_path_buf()];
    }
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.flat_map(|entry| sources(&entry.unwrap().path())).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "rs"));
    files.sort();
    files
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
