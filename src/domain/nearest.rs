//! What a person may have meant: the name that is nearest to what was written.

use strsim::{damerau_levenshtein, normalized_damerau_levenshtein};

/// From this likeness on (1: the same letters) a name is near.
const NEAR: f64 = 0.75;
/// So many first letters of a name are enough, or a name with more letters behind it.
const BEGINNING: usize = 4;
/// From so many letters on, one slip of the fingers is near: a letter too many, too few, another or swapped.
const SLIP: usize = 3;

/// The name that looks most like what was written, without regard to case, the first of equals; none if none
/// is near.
pub fn nearest<'n>(written: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let written = written.to_lowercase();
    let begins = |long: &str, short: &str| short.len() >= BEGINNING && long.starts_with(short);
    let slipped =
        |name: &str| name.len().min(written.len()) >= SLIP && damerau_levenshtein(name, &written) == 1;
    let likeness = |name: &str| {
        let name = name.to_lowercase();
        let likeness = normalized_damerau_levenshtein(&name, &written);
        let near = likeness >= NEAR || slipped(&name) || begins(&name, &written) || begins(&written, &name);
        near.then_some(likeness)
    };
    let near = names.into_iter().filter_map(|name| likeness(name).map(|likeness| (likeness, name)));
    near.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_near_name_is_suggested() {
        let names =
            ["no", "new", "new!", "stop", "queue", "busy_mode", "Europe/Rome", "Europe/Berlin", "drop-item"];
        for (written, near) in [
            ("stpo", "stop"),
            ("nwe", "new"),
            ("neww", "new"),
            ("QUEE", "queue"),
            ("busy", "busy_mode"),
            ("Europe/Berln", "Europe/Berlin"),
            ("drop-itme", "drop-item"),
        ] {
            assert_eq!(nearest(written, names), Some(near), "{written}");
        }
        for written in ["nosuch", "Europe/Nowhere", "colour", "", "zzz"] {
            assert_eq!(nearest(written, names), None, "{written}");
        }
    }
}
