//! Owns putting a text on the clipboard through the terminal, by OSC 52. Refuses to know whether the
//! terminal listens: it does not say.
//!
//! Inside tmux the sequence goes to tmux first. With `set-clipboard on`, tmux takes it, and passes it
//! on to the terminal; with `external`, which newer versions begin with, it takes it from nobody but
//! itself. Therefore it is sent once more, wrapped so that tmux passes it on unread: that works with
//! `allow-passthrough on`. A text that arrives both ways is the same text.

use std::io;

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Puts a text on the clipboard.
pub(super) fn copy(text: &str, out: &mut impl io::Write) -> io::Result<()> {
    let is_within_tmux = std::env::var_os("TMUX").is_some_and(|value| !value.is_empty());
    out.write_all(sent(text, is_within_tmux).as_bytes())?;
    out.flush()
}

/// Gives what is sent to the terminal.
fn sent(text: &str, is_within_tmux: bool) -> String {
    let plain = sequence(text);
    if !is_within_tmux {
        return plain;
    }
    let doubled = plain.replace('\u{1b}', "\u{1b}\u{1b}");
    format!("{plain}\u{1b}Ptmux;{doubled}\u{1b}\\")
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
        for (text, expected) in [
            ("", ""),
            ("M", "TQ=="),
            ("Ma", "TWE="),
            ("Man", "TWFu"),
            ("é", "w6k="),
        ] {
            assert_eq!(sent(text, false), format!("\u{1b}]52;c;{expected}\u{7}"));
        }
    }

    #[test]
    fn tmux_gets_it_for_itself_and_to_pass_on() {
        let own = "\u{1b}]52;c;TQ==\u{7}";
        let passed = "\u{1b}Ptmux;\u{1b}\u{1b}]52;c;TQ==\u{7}\u{1b}\\";
        assert_eq!(sent("M", true), format!("{own}{passed}"));
    }
}
