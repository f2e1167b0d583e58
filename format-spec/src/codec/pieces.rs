//! Owns the cut of a text into pieces: after each comma, brace and bracket. Refuses to know JSON:
//! any bytes are cut, and all pieces joined are the text.

const fn ends_piece(byte: u8) -> bool {
    matches!(byte, b',' | b'{' | b'}' | b'[' | b']')
}

/// Cuts a text into its pieces.
pub(crate) fn cut(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|byte| ends_piece(*byte))
}

/// Gives how many bytes two texts share at their start and at their end, in whole pieces of both,
/// never overlapping.
pub(crate) fn shared_ends(old: &[u8], new: &[u8]) -> (usize, usize) {
    let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let head = if same == old.len() && same == new.len() {
        same
    } else {
        new.get(..same)
            .and_then(|start| start.iter().rposition(|byte| ends_piece(*byte)))
            .map_or(0, |last| last.saturating_add(1))
    };
    let old_rest = old.get(head..).unwrap_or_default();
    let new_rest = new.get(head..).unwrap_or_default();
    let same = old_rest
        .iter()
        .rev()
        .zip(new_rest.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    // The tail begins behind the first piece end that both share.
    let tail = new_rest
        .get(new_rest.len().saturating_sub(same)..)
        .and_then(|end| end.iter().position(|byte| ends_piece(*byte)))
        .map_or(0, |first| same.saturating_sub(first.saturating_add(1)));
    (head, tail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn pieces_end_after_punctuation() {
        let pieces: Vec<_> = cut(br#"{"a":1,"b":[2]}x"#).collect();
        assert_eq!(
            pieces,
            [&b"{"[..], br#""a":1,"#, br#""b":["#, b"2]", b"}", b"x"]
        );
    }

    proptest! {
        #[test]
        fn shared_ends_are_shared(old in "[a,{}]{0,12}", new in "[a,{}]{0,12}") {
            let (old, new) = (old.as_bytes(), new.as_bytes());
            let (head, tail) = shared_ends(old, new);
            prop_assert!(head + tail <= old.len().min(new.len()));
            prop_assert_eq!(&old[..head], &new[..head]);
            prop_assert_eq!(&old[old.len() - tail..], &new[new.len() - tail..]);
        }
    }
}
