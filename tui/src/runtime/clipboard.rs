//! Owns putting a text on the clipboard through the terminal, by OSC 52. Refuses to know whether the
//! terminal listens: it does not say.

use std::io;

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Puts a text on the clipboard.
pub(super) fn copy(text: &str, out: &mut impl io::Write) -> io::Result<()> {
    out.write_all(sequence(text).as_bytes())?;
    out.flush()
}

fn sequence(text: &str) -> String {
    let mut all = "\u{1b}]52;c;".to_owned();
    for bytes in text.as_bytes().chunks(3) {
        let byte = |at: usize| bytes.get(at).copied().map_or(0, u32::from);
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4_usize {
            let letter = (bits >> (18 - 6 * place)) & 63;
            let letter = usize::try_from(letter).ok().and_then(|at| LETTERS.get(at));
            let shown = if place <= bytes.len() {
                letter.copied().map_or('=', char::from)
            } else {
                '='
            };
            all.push(shown);
        }
    }
    all.push('\u{7}');
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_sent_as_base64() {
        for (text, sent) in [
            ("", ""),
            ("M", "TQ=="),
            ("Ma", "TWE="),
            ("Man", "TWFu"),
            ("é", "w6k="),
        ] {
            assert_eq!(sequence(text), format!("\u{1b}]52;c;{sent}\u{7}"));
        }
    }
}
