//! How the parts of a list or an object stand, and how one is put in or taken out in their manner.

use std::ops::Range;

use super::{members, offset};

/// A piece of a text that is to be replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Splice {
    /// Which bytes.
    pub range: Range<usize>,
    /// By what.
    pub with: String,
}

impl Splice {
    /// Replaces `range` by `with`.
    pub fn new(range: Range<usize>, with: impl Into<String>) -> Self {
        Self { range, with: with.into() }
    }

    /// The text with the piece replaced.
    pub fn apply(&self, text: &str) -> String {
        [&text[..self.range.start], &self.with, &text[self.range.end..]].concat()
    }
}

/// The white space and marks round the parts of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Between the opening brace and the first part.
    pub lead: String,
    /// Between two parts: a comma and white space.
    pub gap: String,
    /// Between the last part and the closing brace.
    pub tail: String,
    /// Between a name and its value.
    pub colon: String,
}

impl Layout {
    /// The layout of an object that has members.
    pub fn of_object(object: &str) -> Option<Self> {
        let members = members(object).ok()?;
        let (first, last) = (members.first()?, members.last()?);
        let open = object.find('{')? + 1;
        let close = object.rfind('}')?;
        let lead = &object[open..offset(object, first.key)];
        let gap = match members.get(1) {
            Some(second) => object[first.span_in(object).end..offset(object, second.key)].to_owned(),
            None => gap_like(lead, object),
        };
        Some(Self {
            lead: lead.to_owned(),
            gap,
            tail: object[last.span_in(object).end..close].to_owned(),
            colon: object[offset(object, first.key) + first.key.len()..offset(object, first.value)]
                .to_owned(),
        })
    }

    /// All on one line, as compact as the text that it stands in.
    pub fn inline(among: &str) -> Self {
        let space = if is_compact(among) { "" } else { " " };
        let (lead, gap, colon) = (space.to_owned(), format!(",{space}"), format!(":{space}"));
        Self { tail: lead.clone(), lead, gap, colon }
    }

    /// A line for each part; `newline` is the line break with the indentation of the line that it begins in.
    pub fn lines(newline: &str, unit: &str) -> Self {
        let lead = format!("{newline}{unit}");
        Self { gap: format!(",{lead}"), lead, tail: newline.to_owned(), colon: ": ".to_owned() }
    }

    /// The layout of a list or object that is a part of one that is laid out like this.
    pub fn deeper(&self) -> Self {
        match self.lead.strip_prefix(&self.tail) {
            Some(unit) if self.lead.contains('\n') => Self::lines(&self.lead, unit),
            _ => self.clone(),
        }
    }

    /// For what is put first into an empty list or object of a text; `inside` is where its brackets are.
    pub fn of_empty(text: &str, inside: Range<usize>) -> Self {
        let before = &text[..inside.start];
        if !before.contains('\n') && !text[inside].contains('\n') {
            return Self::inline(text);
        }
        let newline = newline_before(text, before.len());
        let indent = newline.trim_start_matches(['\r', '\n']);
        let tabs = indent.starts_with('\t') || (indent.is_empty() && text.contains("\n\t"));
        let unit = if tabs {
            "\t"
        } else if indent.is_empty() {
            "  "
        } else {
            indent
        };
        Self::lines(&newline, unit)
    }
}

/// The line break of a text with the indentation of the line that `place` is in.
pub(super) fn newline_before(text: &str, place: usize) -> String {
    let line = text[..place].rfind('\n').map_or(0, |newline| newline + 1);
    let rest = &text[line..];
    let indent = &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()];
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    format!("{end}{indent}")
}

/// How `part` is put before the part at `place` (behind the last, if there is none there). `inside` is the
/// list or object with its brackets, `parts` are what it has; all are places in `text`.
pub fn insertion(
    text: &str,
    inside: Range<usize>,
    parts: &[Range<usize>],
    place: usize,
    part: &str,
) -> Splice {
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else {
        let Layout { lead, tail, .. } = Layout::of_empty(text, inside.clone());
        return Splice::new(inside.start + 1..inside.end - 1, format!("{lead}{part}{tail}"));
    };
    let gap_before = |place: usize| match (parts.get(place.wrapping_sub(1)), parts.get(place)) {
        (Some(left), Some(right)) => Some(text[left.end..right.start].to_owned()),
        _ => None,
    };
    let lone = || gap_like(&text[inside.start + 1..first.start], &text[inside.clone()]);
    match parts.get(place.wrapping_sub(1)) {
        _ if place == 0 => {
            let gap = gap_before(1).unwrap_or_else(lone);
            Splice::new(first.start..first.start, format!("{part}{gap}"))
        }
        left => {
            let end = left.unwrap_or(last).end;
            let gap = gap_before(place.min(parts.len() - 1)).unwrap_or_else(lone);
            Splice::new(end..end, format!("{gap}{part}"))
        }
    }
}

/// Which bytes go when the part at `place` is taken out: it, and the comma and white space that go with it.
pub fn removal(inside: Range<usize>, parts: &[Range<usize>], place: usize) -> Range<usize> {
    let Some(part) = parts.get(place) else { return inside.start..inside.start };
    match (place.checked_sub(1).and_then(|left| parts.get(left)), parts.get(place + 1)) {
        (Some(left), _) => left.end..part.end,
        (None, Some(right)) => part.start..right.start,
        (None, None) => inside.start + 1..part.end,
    }
}

/// What stands between two parts, where only the white space before the first is known.
fn gap_like(lead: &str, among: &str) -> String {
    match lead {
        lead if lead.contains('\n') => format!(",{lead}"),
        _ if is_compact(among) => ",".to_owned(),
        _ => ", ".to_owned(),
    }
}

/// Whether a text has names with values, and no space between them.
fn is_compact(text: &str) -> bool {
    text.contains("\":") && !text.contains("\": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(text: &str, place: usize, part: &str) -> String {
        let open = text.find('[').unwrap();
        let inside = open..text.rfind(']').unwrap() + 1;
        let items = super::super::items(&text[inside.clone()]).unwrap();
        let spans: Vec<_> =
            items.iter().map(|item| offset(text, item)..offset(text, item) + item.len()).collect();
        insertion(text, inside, &spans, place, part).apply(text)
    }

    #[test]
    fn a_part_is_put_in_as_its_neighbours_stand() {
        assert_eq!(put("[1, 2]", 0, "0"), "[0, 1, 2]");
        assert_eq!(put("[1, 2]", 1, "0"), "[1, 0, 2]");
        assert_eq!(put("[1, 2]", 2, "0"), "[1, 2, 0]");
        assert_eq!(put("[1]", 9, "0"), "[1, 0]");
        assert_eq!(put("[\n  1\n]", 1, "0"), "[\n  1,\n  0\n]");
        assert_eq!(put("[\n  1\n]", 0, "0"), "[\n  0,\n  1\n]");
        assert_eq!(put("[\r\n\t1 ,\r\n\t2\r\n]", 2, "0"), "[\r\n\t1 ,\r\n\t2 ,\r\n\t0\r\n]");
    }

    #[test]
    fn a_part_is_put_into_an_empty_list_as_the_text_round_it_stands() {
        assert_eq!(put("{ \"jobs\": [] }", 0, "0"), "{ \"jobs\": [ 0 ] }");
        assert_eq!(put("{\"jobs\":[]}", 0, "0"), "{\"jobs\":[0]}");
        assert_eq!(put("{\n  \"jobs\": []\n}", 0, "0"), "{\n  \"jobs\": [\n    0\n  ]\n}");
        assert_eq!(put("{\r\n\t\"jobs\": [ ]\r\n}", 0, "0"), "{\r\n\t\"jobs\": [\r\n\t\t0\r\n\t]\r\n}");
        assert_eq!(put("[\n]", 0, "0"), "[\n  0\n]");
        assert_eq!(put("[]", 0, "0"), "[ 0 ]");
    }

    #[test]
    fn a_part_goes_with_its_comma() {
        let text = "[ 1, 2, 3 ]";
        let spans = [2..3, 5..6, 8..9];
        let without = |place| Splice::new(removal(0..text.len(), &spans, place), "").apply(text);
        assert_eq!([without(0), without(1), without(2)], ["[ 2, 3 ]", "[ 1, 3 ]", "[ 1, 2 ]"]);
        let lone = std::slice::from_ref(&spans[0]);
        assert_eq!(Splice::new(removal(0..5, lone, 0), "").apply("[ 1 ]"), "[ ]");
    }
}
