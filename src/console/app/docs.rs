//! The key tables of the documentation, made from the key map and the action table.

use super::action::{Danger, Undo};
use super::key::sequence_name;
use super::keymap::{Context, KeyMap};

/// The key map as Markdown: a table a context, the keys of an action together.
pub fn keys_markdown(map: &KeyMap) -> String {
    let mut text = String::new();
    for context in Context::ALL {
        let mut rows: Vec<(Vec<String>, super::action::Action)> = Vec::new();
        for binding in map.of(context) {
            let keys = format!("`{}`", sequence_name(&binding.keys));
            match rows.iter_mut().find(|(_, action)| *action == binding.action) {
                Some((all, _)) => all.push(keys),
                None => rows.push((vec![keys], binding.action)),
            }
        }
        text.push_str(&format!(
            "### {}: {}\n\n| key | action | what it does |\n| --- | --- | --- |\n",
            context.name(),
            context.about()
        ));
        for (keys, action) in rows {
            let spec = action.spec();
            let undo = if spec.undo == Undo::Key { "; can be undone" } else { "" };
            let asks =
                if spec.danger == Danger::Asks && !spec.help.contains("asks") { " (asks)" } else { "" };
            text.push_str(&format!("| {} | {} | {}{asks}{undo} |\n", keys.join(" "), spec.name, spec.help));
        }
        text.push('\n');
    }
    text
}

/// The key map as its file: what `switchboard keymap` prints.
pub fn keymap_toml(map: &KeyMap) -> String {
    let mut text = String::new();
    for context in Context::ALL {
        text.push_str(&format!("# {}\n[{}]\n", context.about(), context.name()));
        for binding in map.of(context) {
            let keys = sequence_name(&binding.keys).replace('\\', "\\\\").replace('"', "\\\"");
            text.push_str(&format!("\"{keys}\" = \"{}\"\n", binding.action.spec().name));
        }
        text.push('\n');
    }
    text
}
