//! JSON text whose parts stay as they are written: where each member and item stands, and how one is put
//! in, replaced or taken out so that every other byte stays.

mod controls;
mod layout;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

pub use controls::{blank_controls, escape_controls};
pub use layout::{Layout, Splice, insertion, removal};

/// A member of an object, as it is written.
#[derive(Debug, Clone)]
pub struct Member<'a> {
    /// Its name, read.
    pub name: Cow<'a, str>,
    /// Its name as written, in quotes.
    pub key: &'a str,
    /// Its value as written.
    pub value: &'a str,
}

impl Member<'_> {
    /// Where it stands in `whole`, of which it is a part: its name, the colon and its value.
    pub fn span_in(&self, whole: &str) -> Range<usize> {
        offset(whole, self.key)..offset(whole, self.value) + self.value.len()
    }
}

/// The members of an object in their order.
pub fn members(object: &str) -> serde_json::Result<Vec<Member<'_>>> {
    serde_json::from_str::<Members<'_>>(object).map(|members| members.0)
}

/// The items of a list in their order, each as it is written.
pub fn items(list: &str) -> serde_json::Result<Vec<&str>> {
    let items: Vec<&RawValue> = serde_json::from_str(list)?;
    Ok(items.into_iter().map(RawValue::get).collect())
}

/// Where a part of a text stands in it.
pub fn offset(whole: &str, part: &str) -> usize {
    part.as_ptr() as usize - whole.as_ptr() as usize
}

/// A text as JSON writes it, other scripts as they are.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The object with a member's value set; a new member comes behind the last of `before` that is there, else
/// at the end. What is no object stays as it is.
pub fn with_member(object: &str, name: &str, value: &str, before: &[&str]) -> String {
    let Ok(members) = members(object) else { return object.to_owned() };
    if let Some(known) = members.iter().rfind(|member| member.name == name) {
        let start = offset(object, known.value);
        return Splice::new(start..start + known.value.len(), value).apply(object);
    }
    let layout = Layout::of_object(object).unwrap_or_else(|| Layout::inline(object));
    let place = members.iter().rposition(|member| before.contains(&member.name.as_ref()));
    let spans: Vec<_> = members.iter().map(|member| member.span_in(object)).collect();
    let part = format!("{}{}{value}", quoted(name), layout.colon);
    let place = place.map_or(members.len(), |place| place + 1);
    insertion(object, 0..object.len(), &spans, place, &part).apply(object)
}

/// The object without a member.
pub fn without_member(object: &str, name: &str) -> String {
    let Ok(members) = members(object) else { return object.to_owned() };
    let Some(place) = members.iter().rposition(|member| member.name == name) else {
        return object.to_owned();
    };
    let spans: Vec<_> = members.iter().map(|member| member.span_in(object)).collect();
    Splice::new(removal(0..object.len(), &spans, place), "").apply(object)
}

/// As many as a job of Hermes has; a list for them is made at once.
const USUAL_MEMBERS: usize = 32;

struct Members<'a>(Vec<Member<'a>>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;

        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::with_capacity(USUAL_MEMBERS);
                while let Some((key, value)) = map.next_entry::<&RawValue, &RawValue>()? {
                    members.push(Member { name: name_of(key.get()), key: key.get(), value: value.get() });
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Collect)
    }
}

/// A name without its quotes. Half a surrogate pair can't be read: such a name stays as it is written.
fn name_of(key: &str) -> Cow<'_, str> {
    let inner = key.strip_prefix('"').and_then(|key| key.strip_suffix('"')).unwrap_or(key);
    if !inner.contains('\\') {
        return Cow::Borrowed(inner);
    }
    serde_json::from_str(key).map_or(Cow::Borrowed(inner), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_told_with_their_names_and_values_as_written() {
        let object = r#" { "a" : 1.50e+3 , "b\u0063":"\u00e9" , "\ud83d": [ ] } "#;
        let found = members(object).unwrap();
        let told: Vec<_> = found.iter().map(|member| (member.name.as_ref(), member.value)).collect();
        assert_eq!(told, [("a", "1.50e+3"), ("bc", r#""\u00e9""#), (r"\ud83d", "[ ]")]);
        assert_eq!(&object[found[0].span_in(object)], r#""a" : 1.50e+3"#);
        assert!(members("[]").is_err());
        assert!(members("{1:2}").is_err());
        assert_eq!(items("[ 1 , {} ]").unwrap(), ["1", "{}"]);
    }

    #[test]
    fn a_member_is_set_in_the_layout_of_its_neighbours() {
        let lines = "{\n\t\"a\" : 1,\n\t\"c\" : 3\n}";
        assert_eq!(with_member(lines, "c", "4", &[]), "{\n\t\"a\" : 1,\n\t\"c\" : 4\n}");
        assert_eq!(with_member(lines, "b", "2", &["a"]), "{\n\t\"a\" : 1,\n\t\"b\" : 2,\n\t\"c\" : 3\n}");
        assert_eq!(with_member(lines, "d", "4", &["x"]), "{\n\t\"a\" : 1,\n\t\"c\" : 3,\n\t\"d\" : 4\n}");
        assert_eq!(with_member("{\"a\":1}", "b", "2", &[]), "{\"a\":1,\"b\":2}");
        assert_eq!(with_member("{ \"a\": 1 }", "b", "2", &[]), "{ \"a\": 1, \"b\": 2 }");
        assert_eq!(with_member("{}", "b", "2", &[]), "{ \"b\": 2 }");
        assert_eq!(with_member("{\"a\":1,\"a\":2}", "a", "3", &[]), "{\"a\":1,\"a\":3}");
        assert_eq!(with_member("7", "a", "1", &[]), "7");
    }

    #[test]
    fn a_member_is_taken_out_with_its_comma() {
        let lines = "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}";
        assert_eq!(without_member(lines, "a"), "{\n  \"b\": 2,\n  \"c\": 3\n}");
        assert_eq!(without_member(lines, "b"), "{\n  \"a\": 1,\n  \"c\": 3\n}");
        assert_eq!(without_member(lines, "c"), "{\n  \"a\": 1,\n  \"b\": 2\n}");
        assert_eq!(without_member("{\n  \"a\": 1\n}", "a"), "{\n}");
        assert_eq!(without_member(lines, "x"), lines);
    }
}
