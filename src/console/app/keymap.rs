//! The key map: contexts, key sequences, actions. The shipped one is a file; the operator's changes
//! are laid over it, and what is wrong in them is told with file and line while the rest works.

use std::collections::BTreeMap;
use std::fmt;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::action::Action;
use super::key::{Key, sequence, sequence_name};
use crate::domain::nearest::nearest;

/// The shipped key map.
pub const SHIPPED: &str = include_str!("../../../keymap.toml");

/// Where a key has a sense. The scope chain of a focus goes from its own context outward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Context {
    /// Everywhere, also in text fields.
    Always,
    /// Wherever no text field has the focus.
    Global,
    /// Any list.
    List,
    /// The list of sessions.
    Sessions,
    /// The conversation.
    Conversation,
    /// A queue, in the pane or in the view.
    Queue,
    /// The view of scheduled tasks: its jobs and the runs of one.
    Cron,
    /// The view of recovery.
    Recovery,
    /// The log.
    Log,
    /// Where the operator writes.
    Composer,
    /// Any text field.
    Text,
    /// A text of several lines in an overlay, and the form of a job.
    Editor,
    /// A text field over a list: palette, help, history, filter.
    Picker,
    /// A question or a card.
    Card,
    /// A text to read.
    Viewer,
}

impl Context {
    /// Every context, in the order of the documentation.
    pub const ALL: [Self; 15] = [
        Self::Always,
        Self::Global,
        Self::List,
        Self::Sessions,
        Self::Conversation,
        Self::Queue,
        Self::Cron,
        Self::Recovery,
        Self::Log,
        Self::Composer,
        Self::Text,
        Self::Editor,
        Self::Picker,
        Self::Card,
        Self::Viewer,
    ];

    /// The chains in which keys are looked up, innermost first.
    pub const CHAINS: &[&[Self]] = &[
        &[Self::Sessions, Self::List, Self::Global, Self::Always],
        &[Self::Conversation, Self::List, Self::Global, Self::Always],
        &[Self::Queue, Self::List, Self::Global, Self::Always],
        &[Self::Cron, Self::List, Self::Global, Self::Always],
        &[Self::Recovery, Self::List, Self::Global, Self::Always],
        &[Self::Log, Self::List, Self::Global, Self::Always],
        &[Self::Composer, Self::Text, Self::Always],
        &[Self::Editor, Self::Text, Self::Always],
        &[Self::Picker, Self::Text, Self::Always],
        &[Self::Card, Self::Always],
        &[Self::Viewer, Self::Always],
    ];

    /// Its name in key maps.
    pub fn name(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::Global => "global",
            Self::List => "list",
            Self::Sessions => "sessions",
            Self::Conversation => "conversation",
            Self::Queue => "queue",
            Self::Cron => "cron",
            Self::Recovery => "recovery",
            Self::Log => "log",
            Self::Composer => "composer",
            Self::Text => "text",
            Self::Editor => "editor",
            Self::Picker => "picker",
            Self::Card => "card",
            Self::Viewer => "viewer",
        }
    }

    /// What it is, for the documentation.
    pub fn about(self) -> &'static str {
        match self {
            Self::Always => "also in text fields",
            Self::Global => "where no text field has the focus",
            Self::List => "any list: sessions, queue, conversation, jobs and runs, recovery, log",
            Self::Sessions => "list, and",
            Self::Conversation => "list, and; the cursor walks entries",
            Self::Queue => "list, and; the view and the pane under a conversation",
            Self::Cron => "list, and; the jobs, and the runs of one",
            Self::Recovery => "list, and",
            Self::Log => "list, and",
            Self::Composer => "text, and; every printable key is text",
            Self::Text => "any text field; every printable key is text",
            Self::Editor => "text, and; the form of a job, the text of a queue item",
            Self::Picker => "text, and; palette, help, history search, filter",
            Self::Card => "questions and cards",
            Self::Viewer => "a text to read",
        }
    }

    /// Whether printable keys are text in it. `Always` is looked up there too.
    pub fn is_text(self) -> bool {
        matches!(self, Self::Always | Self::Composer | Self::Text | Self::Editor | Self::Picker)
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|context| context.name() == name)
    }
}

/// Keys and what they do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyMap {
    bindings: BTreeMap<Context, Vec<Binding>>,
}

/// A sequence of keys with its action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// The keys, in order.
    pub keys: Vec<Key>,
    /// What they do.
    pub action: Action,
}

/// What the keys so far mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolved {
    /// This.
    Action(Action),
    /// The beginning of a sequence.
    Prefix,
    /// Nothing.
    Nothing,
}

/// Something wrong in a key map's file. The line it names is left out; the rest holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, and what to do.
    pub words: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.words)
    }
}

impl KeyMap {
    /// The shipped key map.
    pub fn shipped() -> Self {
        let mut map = Self::default();
        // A test holds the shipped file free of problems.
        let _ = map.lay_over("keymap.toml", SHIPPED);
        map
    }

    /// The shipped key map with the operator's changes over it, and what is wrong in these.
    ///
    /// `file` names the operator's file in the problems; `text` is what it holds.
    pub fn with_changes(file: &str, text: &str) -> (Self, Vec<Problem>) {
        let mut map = Self::shipped();
        let problems = map.lay_over(file, text);
        (map, problems)
    }

    /// What `keys` mean where the focus has this chain, innermost first.
    pub fn resolve(&self, chain: &[Context], keys: &[Key]) -> Resolved {
        let bindings = || chain.iter().flat_map(|context| self.of(*context));
        if let Some(binding) = bindings().find(|binding| binding.keys == keys) {
            return Resolved::Action(binding.action);
        }
        match bindings().any(|binding| binding.keys.starts_with(keys)) {
            true => Resolved::Prefix,
            false => Resolved::Nothing,
        }
    }

    /// The bindings of one context, in the order of the file.
    pub fn of(&self, context: Context) -> &[Binding] {
        self.bindings.get(&context).map_or(&[], Vec::as_slice)
    }

    /// The first keys that do `action` along a chain; none if it has none.
    pub fn keys_of(&self, chain: &[Context], action: Action) -> Option<String> {
        chain
            .iter()
            .flat_map(|context| self.of(*context))
            .find(|binding| binding.action == action)
            .map(|binding| sequence_name(&binding.keys))
    }

    /// The first keys that do `action` in any context; none if it has none.
    pub fn keys_anywhere(&self, action: Action) -> Option<String> {
        self.keys_of(&Context::ALL, action)
    }

    fn lay_over(&mut self, file: &str, text: &str) -> Vec<Problem> {
        let line = |offset: usize| text[..offset.min(text.len())].matches('\n').count() + 1;
        let problem =
            |offset: usize, words: String| Problem { file: file.to_owned(), line: line(offset), words };
        let mut problems = Vec::new();
        let (table, errors) = DeTable::parse_recoverable(text);
        for error in errors {
            let offset = error.span().map_or(0, |span| span.start);
            problems.push(problem(offset, error.message().to_owned()));
        }
        let mut written = Vec::new();
        for (name, value) in table.get_ref() {
            let at = name.span().start;
            let Some(context) = Context::named(name.get_ref()) else {
                let names = Context::ALL.map(Context::name).join(", ");
                problems.push(problem(at, format!("[{}] is no context: one of {names}", name.get_ref())));
                continue;
            };
            let DeValue::Table(keys) = value.get_ref() else {
                problems.push(problem(at, format!("{} must be a table: [{0}]", context.name())));
                continue;
            };
            for (keys, action) in keys {
                match read(context, keys.get_ref(), action) {
                    Ok((keys_read, action)) => written.push((keys.span().start, context, keys_read, action)),
                    Err(words) => problems.push(problem(keys.span().start, words)),
                }
            }
        }
        // In the order of the file, so that of two conflicting lines the first one holds.
        written.sort_by_key(|(at, ..)| *at);
        let mut seen: Vec<(Context, Vec<Key>)> = Vec::new();
        for (at, context, keys, action) in written {
            let name = sequence_name(&keys);
            if seen.contains(&(context, keys.clone())) {
                problems.push(problem(at, format!("{name:?} is bound twice in [{}]", context.name())));
                continue;
            }
            seen.push((context, keys.clone()));
            if let Err(words) = self.bind(context, keys, action) {
                problems.push(problem(at, words));
            }
        }
        problems.sort_by_key(|problem| problem.line);
        problems
    }

    /// Binds keys in a context, or unbinds them.
    fn bind(&mut self, context: Context, keys: Vec<Key>, action: Option<Action>) -> Result<(), String> {
        let bindings = self.bindings.entry(context).or_default();
        let same = bindings.iter().position(|binding| binding.keys == keys);
        match (same, action) {
            (Some(at), Some(action)) => bindings[at].action = action,
            (Some(at), None) => drop(bindings.remove(at)),
            (None, None) => {
                return Err(format!("{:?} is not bound in [{}]", sequence_name(&keys), context.name()));
            }
            (None, Some(action)) => {
                let starts = |long: &[Key], short: &[Key]| long.starts_with(short);
                if let Some(other) =
                    bindings.iter().find(|other| starts(&other.keys, &keys) || starts(&keys, &other.keys))
                {
                    return Err(format!(
                        "{:?} and {:?} can't both be bound in [{}]: one begins the other",
                        sequence_name(&keys),
                        sequence_name(&other.keys),
                        context.name()
                    ));
                }
                bindings.push(Binding { keys, action });
            }
        }
        Ok(())
    }
}

/// The word that takes a shipped key away.
const UNBOUND: &str = "none";

type Line = (Vec<Key>, Option<Action>);

fn read(context: Context, keys: &str, action: &Spanned<DeValue<'_>>) -> Result<Line, String> {
    let sequence = sequence(keys).map_err(|error| error.to_string())?;
    if let Some(typed) = sequence.first().and_then(|key| key.types()).filter(|_| context.is_text()) {
        return Err(format!("{typed:?} is text in [{}]: bind a key with ctrl or alt", context.name()));
    }
    let DeValue::String(name) = action.get_ref() else {
        return Err(format!("{keys:?} must name an action, as text in quotes"));
    };
    if name == UNBOUND {
        return Ok((sequence, None));
    }
    let action = Action::named(name).ok_or_else(|| unknown_action(name))?;
    if !fits(context, action.spec().home) {
        return Err(format!(
            "{name} belongs into [{}], not into [{}]",
            action.spec().home.name(),
            context.name()
        ));
    }
    Ok((sequence, Some(action)))
}

fn unknown_action(name: &str) -> String {
    match nearest(name, super::action::TABLE.iter().map(|spec| spec.name)) {
        Some(near) => format!("{name:?} is no action (did you mean {near}?); switchboard keymap lists them"),
        None => format!("{name:?} is no action; switchboard keymap lists them"),
    }
}

/// Whether an action of `home` makes sense in `context`: some chain has both, the context inside.
fn fits(context: Context, home: Context) -> bool {
    let place = |chain: &[Context], of: Context| chain.iter().position(|context| *context == of);
    let shared = Context::CHAINS.iter().any(|chain| {
        matches!((place(chain, context), place(chain, home)), (Some(inner), Some(outer)) if inner <= outer)
    });
    // Panes share some verbs: x stops the turn in the list and in the conversation.
    let panes = [
        Context::Sessions,
        Context::Conversation,
        Context::Queue,
        Context::Cron,
        Context::Recovery,
        Context::Log,
    ];
    let fields = [Context::Composer, Context::Editor];
    let both = |group: &[Context]| group.contains(&context) && group.contains(&home);
    let boxes = [Context::Card, Context::Viewer];
    shared || both(&panes) || both(&fields) || both(&boxes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<String> {
        KeyMap::with_changes("keymap.toml", text).1.iter().map(Problem::to_string).collect()
    }

    #[test]
    fn the_shipped_key_map_has_no_problem() {
        assert_eq!(KeyMap::default().lay_over("keymap.toml", SHIPPED), []);
    }

    #[test]
    fn no_inner_key_hides_an_outer_one_except_those_that_keep_their_sense() {
        let map = KeyMap::shipped();
        for chain in Context::CHAINS {
            for (depth, inner) in chain.iter().enumerate() {
                for outer in &chain[depth + 1..] {
                    for binding in map.of(*inner) {
                        let keeps = ["enter", "tab", "shift-tab", "esc", "q"];
                        let name = sequence_name(&binding.keys);
                        let hides = map.of(*outer).iter().find(|other| {
                            other.keys.starts_with(&binding.keys) || binding.keys.starts_with(&other.keys)
                        });
                        let hidden = hides.filter(|_| !keeps.contains(&name.as_str()));
                        assert_eq!(
                            hidden,
                            None,
                            "{name} of [{}] hides one of [{}]",
                            inner.name(),
                            outer.name()
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn every_action_has_a_key_or_is_for_the_palette() {
        let map = KeyMap::shipped();
        let palette_only = ["notices", "hold", "release", "reconnect", "start-here", "quit"];
        for spec in super::super::action::TABLE {
            let has_key = map.keys_anywhere(spec.action).is_some();
            assert_eq!(has_key, !palette_only.contains(&spec.name), "{}", spec.name);
        }
    }

    #[test]
    fn the_composer_keeps_what_a_shell_has_taught() {
        let map = KeyMap::shipped();
        let chain = &[Context::Composer, Context::Text, Context::Always];
        for name in "a b d e f h k n p r u w y _".split(' ') {
            let key: Key = format!("ctrl-{name}").parse().unwrap();
            let Resolved::Action(action) = map.resolve(chain, &[key]) else {
                panic!("ctrl-{name} does nothing")
            };
            assert_ne!(action.spec().home, Context::Always, "ctrl-{name} leaves the composer");
        }
    }

    #[test]
    fn single_keys_are_changed_added_and_taken_away() {
        let (map, problems) = KeyMap::with_changes(
            "keymap.toml",
            "[list]\n\"j\" = \"up\"\n\"ctrl-t\" = \"first\"\n\"k\" = \"none\"\n",
        );
        assert_eq!(problems, []);
        let resolve = |key: &str| map.resolve(&[Context::List], &sequence(key).unwrap());
        assert_eq!(resolve("j"), Resolved::Action(Action::Up));
        assert_eq!(resolve("ctrl-t"), Resolved::Action(Action::First));
        assert_eq!(resolve("k"), Resolved::Nothing);
        assert_eq!(resolve("g"), Resolved::Prefix);
        assert_eq!(resolve("G"), Resolved::Action(Action::Last));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line_and_the_rest_holds() {
        let text = "[list]\n\"j\" = \"dwon\"\n\"ctrl-i\" = \"up\"\n\"g\" = \"first\"\n\"w\" = \"send\"\n\"m\" = \"up\"\n\
                    [nowhere]\n\"x\" = \"up\"\n[composer]\n\"x\" = \"send\"\n\"ctrl-t\" = 3\n[global]\n\"ALT-x\" = \"why\"\n";
        let (map, _) = KeyMap::with_changes("keymap.toml", text);
        assert_eq!(map.resolve(&[Context::List], &sequence("m").unwrap()), Resolved::Action(Action::Up));
        assert_eq!(map.resolve(&[Context::List], &sequence("j").unwrap()), Resolved::Action(Action::Down));
        let told = problems(text);
        let lines =
            ["2: \"dwon\"", "3: \"ctrl-i\"", "4: ", "5: send", "7: [nowhere]", "10: 'x'", "11: ", "13: "];
        assert_eq!(told.len(), lines.len(), "{told:#?}");
        for (told, line) in told.iter().zip(lines) {
            assert!(told.starts_with(&format!("keymap.toml:{line}")), "{told} is not {line}");
        }
    }

    #[test]
    fn a_file_that_is_no_toml_leaves_the_shipped_map_whole() {
        let (map, problems) = KeyMap::with_changes("keymap.toml", "[list]\n\"j = \"up\"\n");
        assert_eq!(problems.first().map(|problem| problem.line), Some(2), "{problems:?}");
        assert_eq!(map, KeyMap::shipped());
    }

    #[test]
    fn the_first_of_two_lines_for_one_key_holds() {
        let told = problems("[list]\n\"ctrl-T\" = \"up\"\n\"ctrl-t\" = \"down\"\n");
        assert_eq!(told, ["keymap.toml:3: \"ctrl-t\" is bound twice in [list]"]);
    }
}
