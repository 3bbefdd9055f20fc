//! The whole of `jobs.json` as a text: which records it has, and new texts in which one of them is changed.
//!
//! Places come from `serde_json`'s raw values, which are slices of the text and cost one pass; a concrete
//! syntax tree (`jsonc-parser`) would accept comments that Hermes refuses, and build a node a token.

mod found;

use std::collections::HashMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::record::{self, Record};
use super::unreadable::Unreadable;
use super::{Definition, Fault, JobId};
use crate::domain::json::{Layout, Splice, blank_controls, insertion, quoted, removal, with_member};
use found::Found;

/// The text of a file in which there are no jobs yet.
pub const NEW_FILE: &str = "{\n  \"jobs\": []\n}\n";

const BYTE_ORDER_MARK: char = '\u{feff}';

/// A `jobs.json` that was read. A bad record is an entry with its faults and harms no other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    text: String,
    shape: Shape,
    /// The list or map of the records, with its brackets.
    inside: Range<usize>,
    entries: Vec<Entry>,
}

/// How the records stand in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shape {
    /// A list, by itself or as `jobs` of an object.
    List,
    /// A map by id, by itself or as `jobs` of an object.
    ById,
    /// An empty object: the first job makes the list.
    Empty,
}

/// A record in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its place among the records, from 0.
    pub place: usize,
    /// The line in which it begins, from 1.
    pub line: usize,
    /// Its id, where it has one that can be read. The second of two with one id is in error.
    pub id: Option<JobId>,
    /// What it says, or what is wrong with it.
    pub record: Result<Record, Vec<Fault>>,
    /// Its bytes.
    span: Range<usize>,
    /// Its bytes with its key, in a map by id.
    part: Range<usize>,
}

impl Document {
    /// Reads the bytes of a file.
    pub fn read(bytes: Vec<u8>) -> Result<Self, Unreadable> {
        match String::from_utf8(bytes) {
            Ok(text) => Self::parse(text),
            Err(error) => {
                let wrong = error.utf8_error();
                Err(Unreadable::encoding(error.as_bytes(), wrong))
            }
        }
    }

    /// Reads the text of a file.
    pub fn parse(text: impl Into<String>) -> Result<Self, Unreadable> {
        let text = text.into();
        let start = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 };
        // Hardly any file has raw control characters in its texts: they are looked for only where it can't be read.
        let found = match Found::parse(&text, &text[start..], start) {
            Ok(found) => found,
            Err(_) => Found::parse(&text, &blank_controls(&text)[start..], start)?,
        };
        let entries = entries(&text, &found);
        let Found { shape, inside, .. } = found;
        Ok(Self { text, shape, inside, entries })
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How the records stand in it.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Its records, in their order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The record of a job.
    pub fn find(&self, id: &JobId) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.id.as_ref() == Some(id))
    }

    /// A record as it is written.
    pub fn record_text(&self, entry: &Entry) -> &str {
        &self.text[entry.span.clone()]
    }

    /// The text with a record changed to mean `to`.
    pub fn with_edit(&self, entry: &Entry, to: &Definition) -> String {
        let text = self.with_record(entry, &record::edit(self.record_text(entry), to));
        let key = self.key_of(entry).filter(|_| entry.id.as_ref() != Some(&to.id));
        match key {
            // The key stands before the record, so it has not moved.
            Some(key) => Splice::new(key, quoted(to.id.as_str())).apply(&text),
            None => text,
        }
    }

    /// The text with a record written anew.
    pub fn with_record(&self, entry: &Entry, record: &str) -> String {
        Splice::new(entry.span.clone(), record).apply(&self.text)
    }

    /// The text with a new job behind the others, laid out as they are.
    pub fn with_new(&self, definition: &Definition) -> String {
        let record = record::write(definition, &self.layout());
        self.inserted(self.entries.len(), &quoted(definition.id.as_str()), &record)
    }

    /// The text without a record, and what is needed to put it back.
    pub fn without(&self, entry: &Entry) -> (String, Removed) {
        let parts = self.parts();
        let range = removal(self.inside.clone(), &parts, entry.place);
        let removed = Removed {
            record: self.record_text(entry).to_owned(),
            key: self.key_of(entry).map(|key| self.text[key].to_owned()),
            id: entry.id.clone(),
            shape: self.shape,
            place: entry.place,
            of: self.entries.len(),
            bytes: self.text[range.clone()].to_owned(),
        };
        (Splice::new(range, "").apply(&self.text), removed)
    }

    /// The text with a removed record at its place again: byte for byte as it was, if nothing came or went
    /// meanwhile.
    pub fn with_back(&self, removed: &Removed) -> String {
        let place = removed.place.min(self.entries.len());
        // A map by id that lost its last is an empty object, and can become a map again.
        let fits =
            self.shape == removed.shape || (self.shape == Shape::Empty && removed.shape == Shape::ById);
        if self.entries.len() + 1 == removed.of && fits {
            let at = match place.checked_sub(1).and_then(|before| self.entries.get(before)) {
                Some(before) => before.part.end,
                None => self.entries.first().map_or(self.inside.start + 1, |first| first.part.start),
            };
            return Splice::new(at..at, removed.bytes.as_str()).apply(&self.text);
        }
        match (&removed.key, self.shape) {
            (Some(key), Shape::ById) => self.inserted(place, key, &removed.record),
            // In a list it needs the id that its key was.
            (Some(key), _) if record::read_id(&removed.record, None).is_none() => {
                self.inserted(place, key, &with_member(&removed.record, "id", key, &[]))
            }
            _ => {
                let id = removed.id.as_ref().map(JobId::as_str).unwrap_or_default();
                self.inserted(place, &quoted(id), &removed.record)
            }
        }
    }

    fn inserted(&self, place: usize, key: &str, record: &str) -> String {
        let part = match self.shape {
            Shape::List => record.to_owned(),
            Shape::ById => format!("{key}: {record}"),
            Shape::Empty => self.first_of_all(record),
        };
        insertion(&self.text, self.inside.clone(), &self.parts(), place, &part).apply(&self.text)
    }

    /// The list that an empty object gets, with its first record.
    fn first_of_all(&self, record: &str) -> String {
        let list = Layout::of_empty(&self.text, self.inside.clone()).deeper();
        format!("\"jobs\":{}[{}{record}{}]", list.colon.trim_start_matches(':'), list.lead, list.tail)
    }

    fn parts(&self) -> Vec<Range<usize>> {
        self.entries.iter().map(|entry| entry.part.clone()).collect()
    }

    /// The bytes of a record's key in a map by id, without the colon.
    fn key_of(&self, entry: &Entry) -> Option<Range<usize>> {
        let before = &self.text[entry.part.start..entry.span.start];
        let key = before.trim_end().strip_suffix(':')?.trim_end();
        Some(entry.part.start..entry.part.start + key.len())
    }

    /// The layout of a new record: as the nearest one stands, else as the file does.
    fn layout(&self) -> Layout {
        let neighbours = self.entries.iter().rev().take(NEIGHBOURS).map(|entry| self.record_text(entry));
        let blank = |record| Layout::of_object(&blank_controls(record));
        if let Some(layout) = neighbours.filter_map(blank).next() {
            return layout;
        }
        let list = Layout::of_empty(&self.text, self.inside.clone());
        match self.shape {
            Shape::Empty => list.deeper().deeper(),
            Shape::List | Shape::ById => list.deeper(),
        }
    }
}

/// So many records are looked at for a layout.
const NEIGHBOURS: usize = 8;

/// A record that was taken out, with what is needed to put it back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removed {
    /// The record as it was written.
    pub record: String,
    /// The job.
    pub id: Option<JobId>,
    /// Its key as written, in a map by id.
    key: Option<String>,
    shape: Shape,
    place: usize,
    /// How many there were with it.
    of: usize,
    /// The bytes that went, with the comma and white space that belonged to it.
    bytes: String,
}

fn entries(text: &str, found: &Found) -> Vec<Entry> {
    let (mut line, mut counted) = (1, 0);
    let read = found.parts.iter().enumerate().map(|(place, part)| {
        line += text[counted..part.span.start].matches('\n').count();
        counted = part.span.start;
        let record = record::read(&text[part.span.clone()], part.key.as_deref());
        let id = match &record {
            Ok(record) => Some(record.definition.id.clone()),
            Err(_) => record::read_id(&text[part.span.clone()], part.key.as_deref()),
        };
        Entry { place, line, id, record, span: part.span.clone(), part: part.whole.clone() }
    });
    let mut entries: Vec<Entry> = read.collect();
    refuse_doubles(&mut entries);
    entries
}

/// Of several records with one id the first counts.
fn refuse_doubles(entries: &mut [Entry]) {
    let mut first: HashMap<&JobId, usize> = HashMap::with_capacity(entries.len());
    let mut doubles = Vec::new();
    for entry in entries.iter() {
        let Some(id) = &entry.id else { continue };
        match first.get(id) {
            Some(line) => doubles.push((entry.place, *line)),
            None => drop(first.insert(id, entry.line)),
        }
    }
    for (place, line) in doubles {
        let entry = &mut entries[place];
        let id = entry.id.as_ref().map(JobId::as_str).unwrap_or_default();
        let why = format!("a job before it, in line {line}, has this id: each needs one of its own");
        let fault = Fault::new("id", &format!("{id:?}"), why);
        match &mut entry.record {
            Err(faults) => faults.insert(0, fault),
            Ok(_) => entry.record = Err(vec![fault]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    const THREE: &str = r#"{
  "jobs": [
    { "id": "a", "schedule": "0 8 * * *", "prompt": "x" },
    { "id": "b", "schedule": "0 9 * * *", "prompt": "y", "mine": [1, 2] },
    {
      "id": "c",
      "schedule": "every 30m",
      "prompt": "z"
    }
  ]
}
"#;

    fn document(text: &str) -> Document {
        Document::parse(text).unwrap()
    }

    fn id(text: &str) -> JobId {
        text.parse().unwrap()
    }

    fn new_job(name: &str) -> Definition {
        Definition { prompt: Some("new".to_owned()), ..Definition::new(id(name), "daily at 7am".to_owned()) }
    }

    fn ids(document: &Document) -> Vec<String> {
        let ids = document.entries().iter().map(|entry| entry.id.clone());
        ids.map(|id| id.map_or("?".to_owned(), |id| id.to_string())).collect()
    }

    fn faults(document: &Document, place: usize) -> Vec<String> {
        let faults = document.entries()[place].record.as_ref().err();
        faults.into_iter().flatten().map(Fault::to_string).collect()
    }

    #[test]
    fn four_shapes_are_read() {
        let record = r#"{"id":"a","schedule":"@daily"}"#;
        for (text, shape) in [
            (format!("{{\"version\":1,\"jobs\":[{record}]}}"), Shape::List),
            (format!(" [{record}]\n"), Shape::List),
            (r#"{"a":{"schedule":"@daily"}}"#.to_owned(), Shape::ById),
            (r#"{"jobs":{"a":{"schedule":"@daily"}}}"#.to_owned(), Shape::ById),
            (format!("\u{feff}[{record}]"), Shape::List),
        ] {
            let document = document(&text);
            assert_eq!((document.shape(), ids(&document)), (shape, vec!["a".to_owned()]), "{text}");
            assert!(document.entries()[0].record.is_ok(), "{text}");
        }
        for text in ["{}", "[]", "{\"jobs\":[]}", "{\"jobs\":{}}", "\u{feff}{}"] {
            assert!(document(text).entries().is_empty(), "{text}");
        }
        for text in [
            "null",
            "7",
            "{\"job\":[]}",
            "{\"jobs\":null}",
            "{\"jobs\":[],\"jobs\":[]}",
            "{\"jobs\":{\"a\":1}}",
        ] {
            assert!(Document::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_bad_record_harms_no_other() {
        let text = r#"[
            {"id":"a","schedule":"@daily"},
            {"job_id":"b","schedule":7},
            8,
            {"schedule":"@daily"},
            {"id":"../x","schedule":"@daily"},
            {"id":"a","schedule":"@weekly"},
            {"id":"c","schedule":"@daily","next_run_at":"soon"}
        ]"#;
        let document = document(text);
        let good: Vec<bool> = document.entries().iter().map(|entry| entry.record.is_ok()).collect();
        assert_eq!(good, [true, false, false, false, false, false, true]);
        assert_eq!(ids(&document), ["a", "b", "?", "?", "?", "a", "c"]);
        assert!(
            faults(&document, 1)[0].starts_with("schedule 7: must be a text"),
            "{:?}",
            faults(&document, 1)
        );
        assert!(faults(&document, 2)[0].starts_with("record 8: must be an object"));
        assert!(faults(&document, 3)[0].starts_with("id: missing"));
        assert!(faults(&document, 4)[0].starts_with("id \"../x\": an id can't be . or have .. in it"));
        assert_eq!(
            faults(&document, 5),
            ["id \"a\": a job before it, in line 2, has this id: each needs one of its own"]
        );
        assert_eq!(document.find(&id("a")).unwrap().place, 0);
        assert_eq!(document.entries()[6].line, 8);
    }

    #[test]
    fn an_edit_touches_only_its_own_record() {
        let document = document(THREE);
        let entry = document.find(&id("b")).unwrap();
        let was = entry.record.clone().unwrap().definition;
        let to = Definition { schedule: "0 10 * * *".to_owned(), ..was.clone() };
        assert_eq!(document.with_edit(entry, &to), THREE.replace("0 9 * * *", "0 10 * * *"));
        assert_eq!(document.with_edit(entry, &was), THREE);
    }

    #[test]
    fn a_new_job_stands_as_its_neighbours_do() {
        let added = document(THREE).with_new(&new_job("d"));
        let expected = THREE.replace(
            "\"z\"\n    }",
            "\"z\"\n    },\n    {\n      \"id\": \"d\",\n      \"schedule\": \"daily at 7am\",\n      \"prompt\": \"new\"\n    }",
        );
        assert_eq!(added, expected);
        let record = r#"{"id":"d","schedule":"daily at 7am","prompt":"new"}"#;
        assert_eq!(
            document("[{\"id\":\"a\"}]").with_new(&new_job("d")),
            format!("[{{\"id\":\"a\"}},{record}]")
        );
        let keyed = document("{\"jobs\": {\"a\": {\"schedule\": \"@daily\"}}}").with_new(&new_job("d"));
        assert_eq!(ids(&document(&keyed)), ["a", "d"]);
    }

    #[test]
    fn the_first_job_makes_what_is_missing_round_it() {
        let record = "{\n      \"id\": \"d\",\n      \"schedule\": \"daily at 7am\",\n      \"prompt\": \"new\"\n    }";
        let whole = format!("{{\n  \"jobs\": [\n    {record}\n  ]\n}}\n");
        assert_eq!(document(NEW_FILE).with_new(&new_job("d")), whole);
        assert_eq!(document("{\n}\n").with_new(&new_job("d")), whole);
        let inline = r#"{ "jobs": [ { "id": "d", "schedule": "daily at 7am", "prompt": "new" } ] }"#;
        assert_eq!(document("{}").with_new(&new_job("d")), inline);
        assert_eq!(document("{ \"jobs\": [] }").with_new(&new_job("d")), inline);
    }

    #[test]
    fn a_removed_job_comes_back_at_its_place() {
        let document = document(THREE);
        for entry in document.entries() {
            let (less, removed) = document.without(entry);
            let less = Document::parse(less).unwrap();
            assert_eq!(less.entries().len(), 2);
            assert_eq!(less.with_back(&removed), THREE);
            let more = Document::parse(less.with_new(&new_job("d"))).unwrap();
            let back = Document::parse(more.with_back(&removed)).unwrap();
            assert_eq!(back.entries()[entry.place].record, entry.record, "{}", back.text());
        }
        let lone = Document::parse("[\n  {\"id\": \"a\"}\n]").unwrap();
        let (less, removed) = lone.without(&lone.entries()[0]);
        assert_eq!(less, "[\n]");
        assert_eq!(Document::parse(less).unwrap().with_back(&removed), lone.text());
    }

    #[test]
    fn a_removed_job_of_a_map_comes_back_into_whatever_is_there() {
        let map = document("{ \"a\": {\"schedule\": \"@daily\"} }");
        let (less, removed) = map.without(&map.entries()[0]);
        assert_eq!(document(&less).with_back(&removed), map.text());
        for other in [THREE, "[]", "{\"jobs\": {\"b\": {\"schedule\": \"@daily\"}}}"] {
            let other = document(&other.replace("\"a\"", "\"z\""));
            let back = document(&other.with_back(&removed));
            let entry = back.find(&id("a")).unwrap();
            assert!(entry.record.is_ok(), "{}", back.text());
            assert_eq!(back.entries().len(), other.entries().len() + 1);
        }
    }

    #[test]
    fn a_job_in_a_map_is_renamed_by_its_key() {
        let text =
            "{ \"a\" : { \"schedule\": \"@daily\" }, \"b\": {\"id\": \"b\", \"schedule\": \"@daily\"} }";
        let document = document(text);
        let renamed = |place: usize, to: &str| {
            let entry = &document.entries()[place];
            let was = entry.record.clone().unwrap().definition;
            document.with_edit(entry, &Definition { id: id(to), ..was })
        };
        assert_eq!(renamed(0, "z"), text.replace("\"a\"", "\"z\""));
        assert_eq!(renamed(1, "z"), text.replace("\"b\"", "\"z\""));
    }
}
