//! Owns the recording that the program carries for `kubereel demo`.

/// The bytes of the demo reel; made by `just demo-reel`.
pub(crate) const DEMO_REEL: &[u8] = include_bytes!("../testdata/demo.reel");

#[cfg(test)]
mod tests {
    use super::DEMO_REEL;
    use kubereel_format::{Note, Reel, Seq};

    /// What the program may grow by for its demo.
    const BYTES_MOST: usize = 600_000;
    /// What makes it worth a look.
    const EVENTS_LEAST: u64 = 3_000;

    /// What the scenario hides in Secrets, and what keys, tokens and paths look like.
    const FORBIDDEN: [&str; 8] = [
        "canary-",
        "PRIVATE KEY",
        "Bearer ",
        // The beginnings of a token, of a key and of a canary, in base64.
        "eyJhbGciOi",
        "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVk",
        "Y2FuYXJ5",
        "/tmp/",
        "/home/",
    ];

    fn open() -> Reel {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("demo.reel");
        std::fs::write(&path, DEMO_REEL).expect("it is written");
        Reel::open(&path).expect("it opens")
    }

    fn refuse(text: &str, place: &str) {
        for forbidden in FORBIDDEN {
            assert!(!text.contains(forbidden), "{forbidden:?} in {place}");
        }
    }

    #[test]
    fn it_is_whole_and_small() {
        let reel = open();
        assert!(reel.is_finished());
        assert!(reel.damage().is_empty(), "{:?}", reel.damage());
        assert!(
            reel.event_count() >= EVENTS_LEAST,
            "{} events",
            reel.event_count()
        );
        assert!(DEMO_REEL.len() <= BYTES_MOST, "{} bytes", DEMO_REEL.len());
    }

    #[test]
    fn it_tells_no_secret_and_no_path() {
        let reel = open();
        let mut read = 0;
        for event in reel.scan(Seq(0)) {
            let event = event.expect("an event");
            let text = String::from_utf8_lossy(&event.body);
            refuse(&text, &format!("{:?}", event.head));
            read += 1;
        }
        assert_eq!(read, reel.event_count());
        for entry in reel.notes() {
            let said = format!("{:?}", entry.note);
            refuse(&said, &said);
            if let Note::Document { blobs, .. } | Note::OddLine { blobs, .. } = &entry.note {
                for blob in blobs {
                    let bytes = reel.blob(*blob).expect("a blob");
                    refuse(&String::from_utf8_lossy(&bytes), &said);
                }
            }
        }
    }
}
