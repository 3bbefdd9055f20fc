//! Whatever the layout: a change touches its own record, and everything else stays byte for byte.

use proptest::prelude::*;
use switchboard::domain::cron::document::{Document, Shape};
use switchboard::domain::cron::{Definition, Misfire, SessionMode, Target};

use super::given::*;

fn space() -> impl Strategy<Value = String> {
    "[ \t\n\r]{0,3}"
}

/// A text as JSON writes it, sometimes with raw control characters or escapes.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z日🚀é ]{1,4}",
        Just("\\n".to_owned()),
        Just("\\\"".to_owned()),
        Just("\n".to_owned()),
        Just("\t".to_owned()),
        Just("\\u00e9".to_owned())
    ];
    proptest::collection::vec(piece, 1..4).prop_map(|pieces| format!("\"x{}\"", pieces.concat()))
}

fn value() -> impl Strategy<Value = String> {
    let plain =
        prop_oneof![text(), Just("null".to_owned()), Just("1.50e+3".to_owned()), Just("[ 1,2 ]".to_owned())];
    prop_oneof![plain, text().prop_map(|text| format!("{{\"deep\" :{{\"jobs\":[{text}]}} }}"))]
}

/// A record of the job `id` with fields that we know and fields that we don't, laid out at random.
fn record(id: usize) -> impl Strategy<Value = String> {
    let fields = prop::sample::subsequence(
        vec!["description", "prompt", "note", "skill", "model", "owner", "enabled", "repeat", "deliver"],
        0..9,
    );
    let field = fields.prop_flat_map(move |names| {
        let values: Vec<_> = names
            .into_iter()
            .map(|name| {
                let value = match name {
                    "description" | "prompt" | "skill" | "model" => text().boxed(),
                    "enabled" => prop_oneof![Just("true".to_owned()), Just("false".to_owned())].boxed(),
                    "repeat" => prop_oneof![
                        Just("3".to_owned()),
                        Just("{\"times\": 3,\"completed\":1}".to_owned()),
                        Just("null".to_owned())
                    ]
                    .boxed(),
                    "deliver" => {
                        prop_oneof![Just("\"local\"".to_owned()), Just("[ \"telegram:1\" ]".to_owned())]
                            .boxed()
                    }
                    _ => value().boxed(),
                };
                (Just(name), value)
            })
            .collect();
        values
    });
    (field, space(), space(), space(), space(), any::<prop::sample::Index>()).prop_map(
        move |(fields, lead, gap, colon, tail, place)| {
            let mut members: Vec<String> =
                fields.into_iter().map(|(name, value)| format!("\"{name}\"{colon}:{colon}{value}")).collect();
            members.insert(place.index(members.len() + 1), format!("\"id\":{colon}\"job-{id}\""));
            members.insert(place.index(members.len() + 1), format!("\"schedule\":{colon}\"0 8 * * *\""));
            format!("{{{lead}{}{tail}}}", members.join(&format!("{gap},{gap}")))
        },
    )
}

/// A file of some records, in one of the shapes.
fn file() -> impl Strategy<Value = String> {
    let records = (1_usize..5).prop_flat_map(|count| (0..count).map(record).collect::<Vec<_>>());
    (records, 0..4, space(), space(), space(), any::<bool>()).prop_map(
        |(records, shape, lead, gap, tail, mark)| {
            let comma = format!("{gap},{gap}");
            let keyed = || {
                let with_key =
                    records.iter().enumerate().map(|(n, record)| format!("\"job-{n}\":{gap}{record}"));
                format!("{{{lead}{}{tail}}}", with_key.collect::<Vec<_>>().join(&comma))
            };
            let list = format!("[{lead}{}{tail}]", records.join(&comma));
            let text = match shape {
                0 => format!("{{{lead}\"v\":\"jobs\",{gap}\"jobs\":{list}, \"after\": [ {{}} ]{tail}}}"),
                1 => list,
                2 => keyed(),
                _ => format!("{{\"jobs\" :{}}}", keyed()),
            };
            format!("{}{lead}{text}{tail}", if mark { "\u{feff}" } else { "" })
        },
    )
}

fn change() -> impl Strategy<Value = fn(&mut Definition)> {
    prop::sample::select(vec![
        (|job| job.prompt = Some("new\nprompt 日".to_owned())) as fn(&mut Definition),
        |job| job.prompt = None,
        |job| job.description = None,
        |job| job.name = Some("name".to_owned()),
        |job| job.schedule = "every 2h".to_owned(),
        |job| job.skills = vec!["a".to_owned(), "b".to_owned()],
        |job| job.skills = vec![],
        |job| job.enabled = !job.enabled,
        |job| job.repeat = Some(7),
        |job| job.repeat = None,
        |job| job.misfire = Misfire::All(2),
        |job| job.session = SessionMode::Keep,
        |job| job.deliver_to = vec![Target::platform("console"), Target::platform("local")],
        |job| job.deliver_to = vec![],
        |job| *job = Definition::new(job.id.clone(), "@daily".to_owned()),
    ])
}

proptest! {
    #[test]
    fn an_edit_means_what_was_asked_and_leaves_every_other_byte(text in file(), change in change(), at in any::<prop::sample::Index>()) {
        let document = Document::parse(text.as_str()).unwrap();
        let entry = &document.entries()[at.index(document.entries().len())];
        let mut to = definition(entry);
        prop_assert_eq!(document.with_record(entry, document.record_text(entry)), text.as_str());
        change(&mut to);
        let edited = Document::parse(document.with_edit(entry, &to)).unwrap();
        let there = &edited.entries()[entry.place];
        prop_assert_eq!(definition(there), to, "{}", edited.text());
        prop_assert_eq!(edited.with_record(there, document.record_text(entry)), text.as_str());
        let (was, is) = (unknown(&document, entry.place), unknown(&edited, entry.place));
        prop_assert_eq!(was, is);
    }

    #[test]
    fn what_means_the_same_is_not_touched(text in file()) {
        let document = Document::parse(text.as_str()).unwrap();
        for entry in document.entries() {
            let edited = document.with_edit(entry, &definition(entry));
            // Only raw control characters become escaped.
            if entry.record.as_ref().unwrap().warnings.is_empty() {
                prop_assert_eq!(edited, text.as_str());
            }
        }
    }

    #[test]
    fn a_removed_job_comes_back_byte_for_byte_anywhere(text in file(), at in any::<prop::sample::Index>()) {
        let document = Document::parse(text.as_str()).unwrap();
        let entry = &document.entries()[at.index(document.entries().len())];
        let (less, removed) = document.without(entry);
        let less = match Document::parse(less) {
            Ok(less) => less,
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        };
        prop_assert_eq!(less.entries().len() + 1, document.entries().len());
        if less.shape() != Shape::Empty {
            prop_assert_eq!(less.with_back(&removed), text);
        }
    }

    #[test]
    fn a_new_job_is_there_and_all_others_stay(text in file()) {
        let document = Document::parse(text.as_str()).unwrap();
        let new = Definition { prompt: Some("p".to_owned()), ..Definition::new(id("new"), "@daily".to_owned()) };
        let added = Document::parse(document.with_new(&new)).unwrap();
        let last = added.entries().last().unwrap();
        prop_assert_eq!(definition(last), new);
        for (was, is) in document.entries().iter().zip(added.entries()) {
            prop_assert_eq!(document.record_text(was), added.record_text(is));
        }
        prop_assert_eq!(added.without(last).0, text);
    }

    #[test]
    fn no_text_makes_it_stumble(text in "[\\[\\]{}\",:a-z\\\\ \n0-9é]{0,40}") {
        if let Ok(document) = Document::parse(text.as_str()) {
            prop_assert_eq!(document.text(), text);
        }
    }

    #[test]
    fn no_damage_makes_it_stumble(text in file(), at in any::<prop::sample::Index>(), with in "[\\[\\]{}\",:é]?") {
        let mut broken = text.clone();
        let places: Vec<usize> = text.char_indices().map(|(place, _)| place).collect();
        broken.remove(places[at.index(places.len())]);
        broken.insert_str(places[at.index(places.len())], &with);
        match Document::parse(broken.as_str()) {
            Ok(document) => prop_assert_eq!(document.text(), broken.as_str()),
            Err(unreadable) => prop_assert!(!unreadable.to_string().is_empty()),
        }
    }
}

/// The fields of a record that we don't know, as they mean.
fn unknown(document: &Document, place: usize) -> Vec<serde_json::Value> {
    let text = document.record_text(&document.entries()[place]);
    let text = switchboard::domain::json::escape_controls(text);
    let record: serde_json::Value = serde_json::from_str(&text).unwrap();
    ["note", "owner"].into_iter().map(|name| record[name].clone()).collect()
}
