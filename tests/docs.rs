//! The parts of the documentation that are made from the source are fresh.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod support;

use switchboard::{config, console, domain};

#[test]
fn the_readme_shows_every_command_setting_and_key() {
    let path = support::files::repository("README.md");
    let mut readme = std::fs::read_to_string(&path).unwrap();
    let map = console::app::keymap::KeyMap::shipped();
    for (name, part) in [
        ("commands", domain::slash::markdown_table()),
        ("settings", config::markdown_table()),
        ("keys", console::app::keys_markdown(&map)),
    ] {
        readme = with_part(&readme, name, &part);
    }
    support::files::assert_kept(&path, &readme);
}

/// Puts a part between its two marks.
fn with_part(readme: &str, name: &str, part: &str) -> String {
    let (begin, end) =
        (format!("<!-- {name}: made from the source -->\n"), format!("<!-- end of {name} -->"));
    let from = readme.find(&begin).unwrap_or_else(|| panic!("README.md has no part {name}")) + begin.len();
    let to = from + readme[from..].find(&end).unwrap_or_else(|| panic!("the part {name} has no end"));
    format!("{}\n{}\n\n{}", &readme[..from], part.trim_end(), &readme[to..])
}
