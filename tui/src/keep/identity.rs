//! Owns by what a reel is known again, wherever it lies: a number made of what was recorded. Refuses
//! to read bodies: it takes what is in memory once a reel is open.

use kubereel_history::Timeline;

/// Gives the number as 16 digits; a reel that was recorded further has another one.
pub(crate) fn identity(timeline: &Timeline) -> String {
    let reel = timeline.reel();
    let mut words = vec![
        reel.end().0.to_string(),
        reel.event_count().to_string(),
        reel.objects().len().to_string(),
        timeline.start().micros.to_string(),
        timeline.end().micros.to_string(),
    ];
    words.extend(
        timeline
            .clusters()
            .iter()
            .map(|cluster| cluster.uid.clone()),
    );
    let uids = reel.objects().iter().map(|object| object.key.uid.clone());
    words.extend(uids.take(64));
    format!("{:016x}", fnv(&words.join("\n")))
}

/// FNV-1a of 64 bits: it names files and guards nothing.
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::fnv;

    #[test]
    fn the_hash_is_the_published_one() {
        for (text, hash) in [
            ("", 0xcbf2_9ce4_8422_2325),
            ("a", 0xaf63_dc4c_8601_ec8c),
            ("foobar", 0x8594_4171_f739_67e8),
        ] {
            assert_eq!(fnv(text), hash);
        }
    }
}
