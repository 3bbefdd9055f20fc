//! Short words for events and lists: numbers, counts, the first of many names, the first words of a text.

use std::fmt;

/// `812`, `6.1k`, `2.4M`.
pub fn short_number(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => format!("{:.1}k", number as f64 / 1e3),
        _ => format!("{:.1}M", number as f64 / 1e6),
    }
}

/// A number with its thousands apart: `4,812`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `1 turn`, `3 turns`.
pub(crate) fn count(number: usize, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}

/// `a, b and 3 more`: as many of several as one line has room for.
pub fn some_of(names: impl IntoIterator<Item = impl fmt::Display>, most: usize) -> String {
    let mut names = names.into_iter();
    let shown: Vec<String> = names.by_ref().take(most).map(|name| name.to_string()).collect();
    let shown = shown.join(", ");
    match names.count() {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// The first words of a text, on one line, for events and lists.
pub fn excerpt(text: &str) -> String {
    excerpt_of(text, 80)
}

/// The same with so many characters.
pub fn excerpt_of(text: &str, most_chars: usize) -> String {
    let mut chars = text.split_whitespace().flat_map(|word| [" ", word]).skip(1).flat_map(str::chars);
    let mut line: String = chars.by_ref().take(most_chars).collect();
    if chars.next().is_some() {
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_excerpt_is_the_first_words_on_one_line() {
        assert_eq!(excerpt("  two\n\nlines\tand more "), "two lines and more");
        assert_eq!(excerpt(""), "");
        assert_eq!(excerpt(&"x".repeat(80)), "x".repeat(80));
        assert_eq!(excerpt(&"ü".repeat(81)), format!("{}…", "ü".repeat(80)));
        assert_eq!([3, 4, 5].map(|most| excerpt_of("a b c", most)), ["a b…", "a b …", "a b c"]);
    }

    #[test]
    fn of_many_some_are_named_and_the_others_counted() {
        assert_eq!(some_of([] as [&str; 0], 2), "");
        assert_eq!(some_of(["a", "b"], 2), "a, b");
        assert_eq!(some_of(["a", "b", "c", "d"], 2), "a, b and 2 more");
    }

    proptest! {
        #[test]
        fn an_excerpt_is_never_long_and_never_breaks_a_line(text in any::<String>()) {
            let line = excerpt(&text);
            prop_assert!(line.chars().count() <= 81);
            prop_assert!(!line.contains(['\n', '\r', '\t']));
        }
    }
}
