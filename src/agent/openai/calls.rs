//! Tool calls, put together from the parts in which they come.

use serde_json::Value;

use super::chunk::{Form, Fragment};

/// More calls in one answer are no sane answer.
const MOST_CALLS: usize = 64;
/// Nor are longer arguments, all together.
const MOST_BYTES: usize = 1024 * 1024;

/// A tool call, as the model wrote it.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Call {
    /// The call's id; none where the server gave none.
    pub(super) id: Option<String>,
    /// The tool.
    pub(super) name: String,
    /// The arguments, which may be anything.
    pub(super) arguments: String,
}

/// The answer has more of calls than anyone would carry out.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooMuch;

/// The calls of one answer.
#[derive(Debug, Default)]
pub(super) struct Calls {
    begun: Vec<Begun>,
    bytes: usize,
}

#[derive(Debug, Default)]
struct Begun {
    index: Option<u64>,
    call: Call,
}

impl Calls {
    /// Takes one part.
    pub(super) fn take(&mut self, part: Fragment, form: Form) -> Result<(), TooMuch> {
        self.bytes += part.arguments.len() + part.name.as_deref().map_or(0, str::len);
        let place = match self.continued(&part, form) {
            Some(place) => place,
            None => {
                self.begun.push(Begun { index: part.index, call: Call::default() });
                self.begun.len() - 1
            }
        };
        if let Some(Begun { call, .. }) = self.begun.get_mut(place) {
            call.id = call.id.take().or(part.id);
            match part.name {
                // Some servers repeat it with every part.
                Some(name) if name != call.name => call.name.push_str(&name),
                _ => {}
            }
            call.arguments.push_str(&part.arguments);
        }
        if self.begun.len() > MOST_CALLS || self.bytes > MOST_BYTES { Err(TooMuch) } else { Ok(()) }
    }

    /// The calls, in the order in which they began.
    pub(super) fn into_whole(self) -> Vec<Call> {
        self.begun.into_iter().map(|begun| begun.call).collect()
    }

    /// The place of the call that a part continues; none where it begins one.
    fn continued(&self, part: &Fragment, form: Form) -> Option<usize> {
        if form == Form::Whole {
            return None;
        }
        let last_with = |wanted: &dyn Fn(&Begun) -> bool| self.begun.iter().rposition(wanted);
        let place = match (part.index, &part.id) {
            (Some(_), _) => last_with(&|begun| begun.index == part.index)?,
            (None, Some(_)) => last_with(&|begun| begun.call.id == part.id)
                .or_else(|| last_with(&|_| part.name.is_none()))?,
            (None, None) => last_with(&|_| true)?,
        };
        let Begun { index, call } = self.begun.get(place)?;
        let begins = match (&part.name, &call.id, &part.id) {
            (None, _, _) => false,
            // Some servers give every call the same index.
            (Some(_), Some(before), Some(id)) => before != id,
            (Some(_), _, _) if index.is_some() => false,
            // Neither index nor id: a name behind whole arguments is another call's.
            (Some(_), _, _) => !part.arguments.is_empty() && is_object(&call.arguments),
        };
        (!begins).then_some(place)
    }
}

/// Whether arguments are a JSON object.
pub(super) fn is_object(arguments: &str) -> bool {
    matches!(serde_json::from_str(arguments), Ok(Value::Object(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Part<'a> = (Option<u64>, Option<&'a str>, Option<&'a str>, &'a str);

    fn part((index, id, name, arguments): Part<'_>) -> Fragment {
        Fragment {
            index,
            id: id.map(str::to_owned),
            name: name.map(str::to_owned),
            arguments: arguments.to_owned(),
        }
    }

    fn gathered(parts: &[Part<'_>]) -> Vec<(Option<String>, String, String)> {
        let mut calls = Calls::default();
        for one in parts {
            calls.take(part(*one), Form::Piece).unwrap();
        }
        calls.into_whole().into_iter().map(|call| (call.id, call.name, call.arguments)).collect()
    }

    fn call(id: Option<&str>, name: &str, arguments: &str) -> (Option<String>, String, String) {
        (id.map(str::to_owned), name.to_owned(), arguments.to_owned())
    }

    #[test]
    fn arguments_may_be_cut_anywhere() {
        let arguments = r#"{"path":"Grüße 🦀.md"}"#;
        for cut in (0..=arguments.len()).filter(|cut| arguments.is_char_boundary(*cut)) {
            let (head, tail) = arguments.split_at(cut);
            let bare = [(Some(0), Some("c"), Some("f"), head), (Some(0), None, None, tail)];
            let repeated = [(Some(0), Some("c"), Some("f"), head), (Some(0), Some("c"), Some("f"), tail)];
            let unnumbered = [(None, Some("c"), Some("f"), head), (None, None, None, tail)];
            for parts in [bare, repeated, unnumbered] {
                assert_eq!(gathered(&parts), [call(Some("c"), "f", arguments)], "cut at {cut}");
            }
        }
    }

    #[test]
    fn parts_of_several_calls_may_be_mixed() {
        let parts = [
            (Some(0), Some("a"), Some("f"), ""),
            (Some(1), Some("b"), Some("g"), "{\"x\""),
            (Some(0), None, None, "{}"),
            (Some(1), None, None, ":1}"),
        ];
        assert_eq!(gathered(&parts), [call(Some("a"), "f", "{}"), call(Some("b"), "g", "{\"x\":1}")]);
        let by_id = [
            (None, Some("a"), Some("f"), "{"),
            (None, Some("b"), Some("f"), "{"),
            (None, Some("a"), None, "}"),
            (None, Some("b"), Some("f"), "}"),
        ];
        assert_eq!(gathered(&by_id), [call(Some("a"), "f", "{}"), call(Some("b"), "f", "{}")]);
    }

    #[test]
    fn calls_with_one_index_are_told_apart_by_their_ids() {
        let parts = [(Some(0), Some("a"), Some("f"), "{}"), (Some(0), Some("b"), Some("f"), "{}")];
        assert_eq!(gathered(&parts), [call(Some("a"), "f", "{}"), call(Some("b"), "f", "{}")]);
    }

    #[test]
    fn an_id_made_anew_for_each_part_makes_no_new_call() {
        for index in [Some(0), None] {
            let parts = [(index, Some("a"), Some("f"), "{"), (index, Some("b"), None, "}")];
            assert_eq!(gathered(&parts), [call(Some("a"), "f", "{}")]);
        }
    }

    #[test]
    fn calls_with_neither_index_nor_id_are_told_apart_by_whole_arguments() {
        let parts = [(None, None, Some("f"), "{\"x\":1}"), (None, None, Some("f"), "{}")];
        assert_eq!(gathered(&parts), [call(None, "f", "{\"x\":1}"), call(None, "f", "{}")]);
        let one = [(None, None, Some("f"), "{"), (None, None, Some("f"), "}"), (None, None, Some("f"), "")];
        assert_eq!(gathered(&one), [call(None, "f", "{}")]);
    }

    #[test]
    fn a_name_repeated_with_an_index_makes_no_new_call() {
        let parts = [(Some(0), None, Some("f"), "{}"), (Some(0), None, Some("f"), " ")];
        assert_eq!(gathered(&parts), [call(None, "f", "{} ")]);
    }

    #[test]
    fn a_name_may_come_late_or_in_parts() {
        let late = [(Some(0), None, None, ""), (Some(0), Some("c"), Some("f"), "{}")];
        assert_eq!(gathered(&late), [call(Some("c"), "f", "{}")]);
        let parts = [(Some(0), Some("c"), Some("read_"), ""), (Some(0), None, Some("file"), "{}")];
        assert_eq!(gathered(&parts), [call(Some("c"), "read_file", "{}")]);
    }

    #[test]
    fn each_call_of_a_whole_answer_is_one() {
        let mut calls = Calls::default();
        for _ in 0..2 {
            calls.take(part((None, None, Some("f"), "")), Form::Whole).unwrap();
        }
        assert_eq!(calls.into_whole().len(), 2);
    }

    #[test]
    fn calls_without_an_end_are_given_up() {
        let mut calls = Calls::default();
        let arguments = "x".repeat(MOST_BYTES);
        calls.take(part((Some(0), None, None, &arguments)), Form::Piece).unwrap();
        assert_eq!(calls.take(part((Some(0), None, None, "x")), Form::Piece), Err(TooMuch));
        let mut calls = Calls::default();
        let numbers = (0..=MOST_CALLS as u64).map(|index| part((Some(index), None, None, "")));
        let ends: Vec<_> = numbers.map(|part| calls.take(part, Form::Piece)).collect();
        assert_eq!(ends.iter().position(|end| end.is_err()), Some(MOST_CALLS));
    }
}
