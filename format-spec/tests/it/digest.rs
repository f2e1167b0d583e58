//! Tests what the digest of a recording depends on, and what it does not depend on.

use kubereel_format::{
    Appender, BlobNote, ConnectionId, DocumentKind, EventType, Evidence, NewBody, NewEvent, Note,
    Reel, ResourceId, ResourceInfo, Seq, Stamp,
};
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};

fn demo() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/demo.reel")
}

fn digest_of(path: &Path) -> String {
    let reel = Reel::open(path).unwrap();
    reel.digest(|_| {}).unwrap().to_string()
}

fn sized(bytes: &[u8]) -> Vec<u8> {
    let mut len = bytes.len();
    let mut out = Vec::new();
    while len >= 0x80 {
        out.push(u8::try_from(len & 0x7f).unwrap() | 0x80);
        len >>= 7;
    }
    out.push(u8::try_from(len).unwrap());
    [out, bytes.to_vec()].concat()
}

/// The bytes of each record according to SPEC.md.
fn records(reel: &Reel) -> Vec<Vec<u8>> {
    let record = |number: u64| {
        let seq = Seq(number);
        let stamp = reel.stamp(seq).unwrap();
        let times = [
            stamp.wall.micros.to_le_bytes(),
            stamp.elapsed.micros.to_le_bytes(),
        ]
        .concat();
        let Some(head) = reel.head(seq) else {
            let mut notes = reel.notes().iter();
            let mut note = notes.find(|entry| entry.seq == seq).unwrap().note.clone();
            let mut text = Vec::new();
            if let Note::OddLine { blobs, .. } | Note::Document { blobs, .. } = &mut note {
                for blob in blobs.drain(..) {
                    text.extend_from_slice(&reel.blob(blob).unwrap());
                }
            }
            let note = bincode::encode_to_vec(&note, bincode::config::legacy()).unwrap();
            return [vec![0], times, sized(&note), sized(&text)].concat();
        };
        let key = reel.key(head.object).unwrap();
        let kind = match head.kind {
            EventType::Added => 1,
            EventType::Modified => 2,
            EventType::Deleted => 3,
        };
        let evidence = [
            "live",
            "initial",
            "listed",
            "polled",
            "inferred",
            "reconstructed",
            "imported",
        ];
        let evidence = evidence
            .iter()
            .position(|word| *word == head.evidence.as_str());
        [
            vec![kind, u8::try_from(evidence.unwrap()).unwrap()],
            times,
            head.connection.0.to_le_bytes().to_vec(),
            key.resource.0.to_le_bytes().to_vec(),
            sized(key.namespace.as_bytes()),
            sized(key.name.as_bytes()),
            sized(key.uid.text().as_bytes()),
            sized(head.resource_version.as_bytes()),
            sized(&reel.body(seq).unwrap()),
        ]
        .concat()
    };
    (0..reel.end().0).map(record).collect()
}

/// The hash tree of RFC 6962, as it is defined there.
fn root(leaves: &[Vec<u8>]) -> Vec<u8> {
    match leaves {
        [] => Sha256::digest([]).to_vec(),
        [leaf] => Sha256::digest([&[0][..], leaf].concat()).to_vec(),
        _ => {
            let mut split = 1;
            while split * 2 < leaves.len() {
                split *= 2;
            }
            let (left, right) = leaves.split_at(split);
            Sha256::digest([vec![1], root(left), root(right)].concat()).to_vec()
        }
    }
}

#[test]
fn the_digest_is_what_the_specification_says() {
    let reel = Reel::open(&demo()).unwrap();
    let leaves: Vec<Vec<u8>> = records(&reel).chunks(1024).map(<[_]>::concat).collect();
    assert!(leaves.len() > 2, "more than one level");
    let root = root(&leaves);
    let hex = root.iter().map(|byte| format!("{byte:02x}"));
    let hex = hex.collect::<Vec<_>>().concat();
    assert_eq!(digest_of(&demo()), format!("sha256:{hex}"));
}

/// The content of a small recording.
#[derive(Clone)]
struct SmallRecording {
    body: &'static str,
    micros: i64,
    document: Vec<u8>,
}

impl SmallRecording {
    fn new() -> Self {
        Self {
            body: r#"{"metadata":{"name":"a"},"spec":1}"#,
            micros: 7,
            document: vec![b'x'; 300_000],
        }
    }

    /// Writes it, with a commit after every `commit_every` events.
    fn write(&self, path: &Path, commit_every: usize) -> Appender {
        let mut appender = Appender::create(path).unwrap();
        let stamp = |micros| Stamp::from_micros(micros, 0);
        let info = ResourceInfo::new(ResourceId(0), "v1", "pods", "Pod");
        appender
            .append_note(stamp(0), Note::Resource(info))
            .unwrap();
        let document = BlobNote::Document {
            kind: DocumentKind::Discovery,
            path: "/apis".to_owned(),
        };
        for number in 0..40_i64 {
            let name = format!("pod-{}", number % 5);
            let body = format!("{}{}", self.body, "y".repeat(400));
            let event = NewEvent {
                stamp: stamp(self.micros + number),
                connection: ConnectionId(3),
                kind: EventType::Modified,
                evidence: Evidence::Live,
                resource: ResourceId(0),
                namespace: "shop",
                name: &name,
                uid: &name,
                resource_version: &number.to_string(),
                body: NewBody::Bytes(body.as_bytes()),
            };
            appender.append_event(&event).unwrap();
            if usize::try_from(number).unwrap() % commit_every == 0 {
                appender.commit().unwrap();
            }
        }
        appender
            .append_blob_note(stamp(99), document, &self.document)
            .unwrap();
        appender.commit().unwrap();
        appender
    }
}

#[test]
fn how_a_recording_is_packed_does_not_matter_and_every_byte_of_it_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let written = SmallRecording::new();
    written.write(&path("finished"), 1).finish().unwrap();
    drop(written.write(&path("killed"), 7));
    let killed = Appender::resume(&path("killed")).unwrap();
    drop(killed);
    drop(written.write(&path("resumed"), 40));
    Appender::resume(&path("resumed"))
        .unwrap()
        .finish()
        .unwrap();
    let digest = digest_of(&path("finished"));
    assert!(
        digest.starts_with("sha256:") && digest.len() == 7 + 64,
        "{digest}"
    );
    assert_eq!(digest_of(&path("killed")), digest);
    assert_eq!(digest_of(&path("resumed")), digest);

    let mut document = written.document.clone();
    *document.last_mut().unwrap() = b'z';
    let others = [
        SmallRecording {
            body: r#"{"metadata":{"name":"a"},"spec":2}"#,
            ..written.clone()
        },
        SmallRecording {
            micros: 8,
            ..written.clone()
        },
        SmallRecording {
            document,
            ..written.clone()
        },
    ];
    for (number, other) in others.into_iter().enumerate() {
        let path = path(&number.to_string());
        other.write(&path, 1).finish().unwrap();
        assert_ne!(digest_of(&path), digest, "{number}");
    }
}

#[test]
fn a_damaged_reel_has_its_digest_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hurt.reel");
    let mut bytes = std::fs::read(demo()).unwrap();
    let (mut tried, mut at) = (0, 64 * 1024);
    while at < bytes.len() && tried < 20 {
        let before = bytes[at];
        bytes[at] ^= 0x55;
        std::fs::write(&path, &bytes).unwrap();
        bytes[at] = before;
        at += 17 * 1024;
        let Ok(reel) = Reel::open(&path) else {
            continue;
        };
        match reel.digest(|_| {}) {
            Ok(digest) => assert_eq!(digest.to_string(), digest_of(&demo())),
            Err(error) => {
                assert!(error.to_string().contains("damaged"), "{error}");
                tried += 1;
            }
        }
    }
    assert!(tried > 0, "nothing was lost");
}
