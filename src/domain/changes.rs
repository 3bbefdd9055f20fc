//! What one text changes in another, line by line.

use similar::TextDiff;

/// How many lines that are the same are shown around a change.
const AROUND: usize = 3;
/// Texts with more lines, those of the one times those of the other, are not compared: two that have nothing in
/// common would take seconds.
const MOST_PAIRS: usize = 1_000_000;
/// A text with more bytes is not compared.
const MOST_BYTES: usize = 1024 * 1024;

/// The lines that differ, each group with its place and the lines around it; empty where none do. None for texts
/// that are too long to be compared.
pub fn changes(before: &str, after: &str) -> Option<String> {
    let texts = [before, after];
    if texts.iter().any(|text| text.len() > MOST_BYTES) {
        return None;
    }
    let [of_one, of_other] = texts.map(|text| text.lines().count());
    if of_one * of_other > MOST_PAIRS {
        return None;
    }
    let compared = TextDiff::from_lines(before, after);
    let lines = compared.unified_diff().context_radius(AROUND).to_string();
    Some(lines.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_told_with_its_place_and_what_is_around_it() {
        let before: String = (1..=9).map(|n| format!("line {n}\n")).collect();
        let after = before.replace("line 5\n", "line five\nand more\n");
        let expected = "@@ -2,7 +2,8 @@\n line 2\n line 3\n line 4\n-line 5\n+line five\n+and more\n line 6\n line 7\n line 8";
        assert_eq!(changes(&before, &after).as_deref(), Some(expected));
        assert_eq!(changes(&before, &before).as_deref(), Some(""));
        let ended = changes("a", "a\n").unwrap();
        assert!(ended.contains("-a\n\\ No newline at end of file\n+a"), "{ended}");
    }

    #[test]
    fn very_long_texts_are_not_compared() {
        let (thousand, more) = ("x\n".repeat(1_000), "x\n".repeat(1_001));
        assert_eq!((changes(&thousand, &more), changes(&more, &thousand)), (None, None));
        assert!(changes(&thousand, &thousand).is_some());
        assert!(changes("x", &"x\n".repeat(4_000)).is_some());
        let wide = "x".repeat(MOST_BYTES + 1);
        assert_eq!((changes(&wide, "x"), changes("x", &wide)), (None, None));
    }
}
