//! Texts that are spelt in hexadecimal.

/// A shorter text holds nothing of a known form.
const DIGITS_LEAST: usize = 32;

/// Gives the texts that runs of hexadecimal digits spell, and where each run stands. Digests and uids
/// spell no text.
pub(crate) fn texts(bytes: &[u8]) -> Vec<(usize, Vec<u8>)> {
    let mut at = 0;
    let runs = bytes.split(|byte| !byte.is_ascii_hexdigit());
    runs.filter_map(|run| {
        let start = at;
        at += run.len() + 1;
        if run.len() < DIGITS_LEAST {
            return None;
        }
        let text: Option<Vec<u8>> = run.chunks_exact(2).map(byte).collect();
        let text = text?;
        let is_text = text
            .iter()
            .all(|byte| matches!(byte, b'\n' | b'\r' | b'\t' | b' '..=b'~'));
        is_text.then_some((start, text))
    })
    .collect()
}

fn byte(digits: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(digits).ok()?;
    u8::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_decoded_and_digests_are_not() {
        let spelt = b"{\"a\":\"70617373776f72643a2068756e746572320a\"}";
        assert_eq!(texts(spelt), [(6, b"password: hunter2\n".to_vec())]);
        let digest = b"3e9a9708a3b2b94d2b7f8f9a3a29a7d8e4e8b9f3d4a4e2c7d1c5a1f0e9b8c7d6";
        assert!(texts(digest).is_empty());
    }
}
