//! How much a tool tells the model at once.

/// The most characters of an output.
const MOST_CHARS: usize = 50_000;
/// So many of them are for what the tool says itself, below the lines.
const NOTES_CHARS: usize = 500;
/// The most characters of one line.
const LINE_CHARS: usize = 2_000;

/// Joins lines. Where they are too many for the model, those at the beginning and at the end are
/// kept, and a line between them says what was left out.
pub(super) fn joined(lines: &[String]) -> String {
    let lengths: Vec<usize> = lines.iter().map(|line| line.chars().count() + 1).collect();
    let most = MOST_CHARS - NOTES_CHARS;
    if lengths.iter().sum::<usize>() <= most {
        return lines.join("\n");
    }
    let fitting = |lengths: &mut dyn Iterator<Item = &usize>| {
        let mut left = most / 2;
        lengths.take_while(|length| left.checked_sub(**length).inspect(|rest| left = *rest).is_some()).count()
    };
    let head = fitting(&mut lengths.iter());
    let tail = lines.len() - fitting(&mut lengths.iter().rev());
    let left_out: usize = lengths.get(head..tail).unwrap_or_default().iter().sum();
    let note = format!("[{} lines with {left_out} characters left out here]", tail - head);
    let kept = [lines.get(..head).unwrap_or_default(), &[note], lines.get(tail..).unwrap_or_default()];
    kept.concat().join("\n")
}

/// A line of a file, without its end, not too long.
pub(super) fn line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_end_matches(['\n', '\r']);
    match text.char_indices().nth(LINE_CHARS) {
        Some((end, _)) => {
            let more = text.chars().count() - LINE_CHARS;
            format!("{} [{more} more characters in this line]", text.get(..end).unwrap_or_default())
        }
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_whole() {
        assert_eq!(joined(&[]), "");
        let lines: Vec<String> = vec!["x".repeat(98); 500];
        assert_eq!(joined(&lines), lines.join("\n"), "500 lines of 99 characters");
    }

    #[test]
    fn head_and_tail_are_kept_and_what_is_left_out_is_told() {
        let lines: Vec<String> = (0..1000).map(|number| format!("{number:0>99}")).collect();
        let joined = joined(&lines);
        assert!(joined.chars().count() <= MOST_CHARS - NOTES_CHARS + 100, "{}", joined.len());
        let told: Vec<&str> = joined.lines().collect();
        assert_eq!(told[..247], lines[..247]);
        assert_eq!(told[247], "[506 lines with 50600 characters left out here]");
        assert_eq!(told[248..], lines[753..]);
    }

    #[test]
    fn characters_are_counted_not_bytes() {
        let lines: Vec<String> = vec!["ü".repeat(98); 500];
        assert_eq!(joined(&lines), lines.join("\n"));
    }

    #[test]
    fn a_long_line_says_how_much_of_it_is_missing() {
        assert_eq!(line("ü".repeat(LINE_CHARS).as_bytes()), "ü".repeat(LINE_CHARS));
        let cut = line("ü".repeat(LINE_CHARS + 7).as_bytes());
        assert_eq!(cut, format!("{} [7 more characters in this line]", "ü".repeat(LINE_CHARS)));
    }

    #[test]
    fn bytes_that_are_no_text_are_marked() {
        assert_eq!(line(b"a\xffb\r\n"), "a\u{FFFD}b");
    }
}
