//! The scorer of pickers: do these characters stand in that text in this order, and how well?

/// How well `needle` fits `hay`, without regard to case; none if it does not. Higher is better:
/// characters that follow each other and beginnings of words count more, long texts a little less.
pub(super) fn score(needle: &str, hay: &str) -> Option<i64> {
    let mut wanted = needle.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).peekable();
    let (mut score, mut run, mut length) = (0, 0, 0);
    let mut before = ' ';
    for c in hay.chars() {
        length += 1;
        let fits = wanted.peek().is_some_and(|wanted| c.to_lowercase().next() == Some(*wanted));
        if fits {
            wanted.next();
            run += 1;
            score += 4 * run + if before.is_alphanumeric() { 0 } else { 8 };
        } else {
            run = 0;
        }
        before = c;
    }
    wanted.peek().is_none().then_some(score * 16 - length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_must_stand_in_order() {
        assert!(score("qe", "queue").is_some());
        assert!(score("eq", "queue").is_none());
        assert!(score("", "anything").is_some());
        assert!(score("a b", "Alpha Beta").is_some());
    }

    #[test]
    fn beginnings_and_runs_win() {
        assert!(score("st", "stop") > score("st", "first"));
        assert!(score("new", "new") > score("new", "new!"));
        assert!(score("gs", "go to session") > score("gs", "things"));
    }
}
