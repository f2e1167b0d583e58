//! Owns the framing of bytes as one gzip member, without compressing them (stored blocks).
//! Refuses to decode: it exists so that a client's decoder meets several members in one body.

/// The most a stored block can hold.
const STORED_BLOCK_MAX: usize = 0xffff;

/// One complete gzip member whose content is `content`.
pub(crate) fn member(content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    let mut blocks = content.chunks(STORED_BLOCK_MAX).peekable();
    if blocks.peek().is_none() {
        bytes.extend_from_slice(&[1, 0, 0, 0xff, 0xff]);
    }
    while let Some(block) = blocks.next() {
        let length = u16::try_from(block.len()).unwrap_or(u16::MAX);
        bytes.push(u8::from(blocks.peek().is_none()));
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(&(!length).to_le_bytes());
        bytes.extend_from_slice(block);
    }
    bytes.extend_from_slice(&crc32(content).to_le_bytes());
    let length = u32::try_from(content.len()).unwrap_or(u32::MAX);
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |mut crc, &byte| {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 * (crc & 1));
        }
        crc
    })
}

#[cfg(test)]
mod tests {
    use super::{crc32, member};

    #[test]
    fn crc_of_the_check_string() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn an_empty_member_is_the_known_bytes() {
        assert_eq!(member(b"").len(), 10 + 5 + 8);
        assert_eq!(member(&vec![7; 70_000]).len(), 10 + 2 * 5 + 70_000 + 8);
    }
}
