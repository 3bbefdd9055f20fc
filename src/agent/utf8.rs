//! Text from bytes that come in pieces.

/// Decodes UTF-8 that may be cut anywhere; what is no UTF-8 becomes U+FFFD, and nothing else is lost.
#[derive(Debug, Default)]
pub(super) struct LossyDecoder {
    /// The beginning of a character whose rest has not come yet: at most three bytes.
    begun: Vec<u8>,
}

impl LossyDecoder {
    /// Takes more bytes and gives the text that is complete.
    pub(super) fn push(&mut self, bytes: &[u8]) -> String {
        let mut all = std::mem::take(&mut self.begun);
        all.extend_from_slice(bytes);
        let mut text = String::with_capacity(all.len());
        let mut rest = all.as_slice();
        for chunk in all.utf8_chunks() {
            text.push_str(chunk.valid());
            rest = rest.get(chunk.valid().len() + chunk.invalid().len()..).unwrap_or_default();
            if rest.is_empty() && is_begun(chunk.invalid()) {
                self.begun = chunk.invalid().to_vec();
            } else if !chunk.invalid().is_empty() {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        text
    }

    /// Gives the mark for a character that was never completed, or nothing.
    pub(super) fn finish(&mut self) -> &'static str {
        if std::mem::take(&mut self.begun).is_empty() { "" } else { "\u{FFFD}" }
    }
}

/// Whether more bytes could make these a character.
fn is_begun(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(pieces: &[&[u8]]) -> String {
        let mut decoder = LossyDecoder::default();
        let mut text: String = pieces.iter().map(|piece| decoder.push(piece)).collect();
        text.push_str(decoder.finish());
        text
    }

    #[test]
    fn a_character_cut_in_two_is_whole() {
        let bytes = "a🦀ü".as_bytes();
        for cut in 0..bytes.len() {
            assert_eq!(decode(&[&bytes[..cut], &bytes[cut..]]), "a🦀ü", "cut at {cut}");
        }
    }

    #[test]
    fn a_character_never_completed_is_marked() {
        assert_eq!(decode(&[b"ok\xf0\x9f"]), "ok\u{FFFD}");
        assert_eq!(decode(&[b"ok\xf0\x9f", b"!"]), "ok\u{FFFD}!");
        assert_eq!(decode(&[b"\xff\xfe", b"x"]), "\u{FFFD}\u{FFFD}x");
    }

    proptest! {
        #[test]
        fn pieces_decode_as_the_whole(bytes: Vec<u8>, cuts: [usize; 3]) {
            let mut at = cuts.map(|cut| cut % (bytes.len() + 1));
            at.sort_unstable();
            let pieces = [&bytes[..at[0]], &bytes[at[0]..at[1]], &bytes[at[1]..at[2]], &bytes[at[2]..]];
            prop_assert_eq!(decode(&pieces), String::from_utf8_lossy(&bytes));
        }
    }
}
