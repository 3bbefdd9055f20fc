//! What a person may have meant: the name that is nearest to what was written.

/// From this likeness on (1: the same letters) a name is near.
const NEAR: f64 = 0.75;
/// So many first letters of a name are enough, or a name with more letters behind it.
const BEGINNING: usize = 4;

/// The name that looks most like what was written, without regard to case; none if none is near.
pub fn nearest<'n>(written: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let written = written.to_lowercase();
    let begins = |long: &str, short: &str| short.len() >= BEGINNING && long.starts_with(short);
    let likeness = |name: &str| {
        let name = name.to_lowercase();
        let likeness = strsim::normalized_damerau_levenshtein(&name, &written);
        (likeness >= NEAR || begins(&name, &written) || begins(&written, &name)).then_some(likeness)
    };
    let near = names.into_iter().filter_map(|name| likeness(name).map(|likeness| (likeness, name)));
    near.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_near_name_is_suggested() {
        let names = ["no", "stop", "queue", "busy_mode", "Europe/Rome", "Europe/Berlin", "drop-item"];
        for (written, near) in [
            ("stpo", "stop"),
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
