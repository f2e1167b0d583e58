//! A valid reel with bytes changed anywhere: every record is the written one, or an error.
#![no_main]

use kubereel_format::{
    Appender, BodyBuffer, ConnectionId, EventType, Evidence, NewBody, NewEvent, Note, Reel,
    ResourceId, ResourceInfo, Seq, Stamp,
};
use std::path::PathBuf;
use std::sync::LazyLock;

const EVENTS: usize = 300;

fn body(at: usize) -> Vec<u8> {
    let text = "a message that is long enough to be kept in the log of texts ".repeat(at % 7);
    format!(r#"{{"metadata":{{"name":"o{}","resourceVersion":"{at}"}},"status":{{"message":"{text}","at":{at}}}}}"#, at % 9)
        .into_bytes()
}

struct Good {
    bytes: Vec<u8>,
    path: PathBuf,
    _folder: tempfile::TempDir,
}

static GOOD: LazyLock<Good> = LazyLock::new(|| {
    std::panic::set_hook(Box::new(|_| {}));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("good.reel");
    let mut appender = Appender::create(&path).expect("a new reel");
    let info = ResourceInfo {
        id: ResourceId(0),
        group: String::new(),
        version: "v1".to_owned(),
        plural: "things".to_owned(),
        singular: String::new(),
        kind: "Thing".to_owned(),
        short_names: vec![],
        categories: vec![],
        namespaced: false,
        verbs: vec![],
        storage_hash: None,
    };
    appender
        .append_note(Stamp::default(), Note::Resource(info))
        .expect("a note");
    for at in 0..EVENTS {
        let event = NewEvent {
            stamp: Stamp::default(),
            connection: ConnectionId(0),
            kind: EventType::Modified,
            evidence: Evidence::Live,
            resource: ResourceId(0),
            namespace: "",
            name: &format!("o{}", at % 9),
            uid: "",
            resource_version: "1",
            body: NewBody::Bytes(&body(at)),
        };
        appender.append_event(&event).expect("an event");
        if at % 60 == 59 {
            appender.commit().expect("a commit");
        }
    }
    drop(appender);
    Good {
        bytes: std::fs::read(&path).expect("the reel"),
        path: folder.path().join("hurt.reel"),
        _folder: folder,
    }
});

libfuzzer_sys::fuzz_target!(|edits: Vec<(u32, u8)>| {
    let good = &*GOOD;
    let mut bytes = good.bytes.clone();
    for (at, value) in edits {
        let at = usize::try_from(at).unwrap_or(0) % bytes.len();
        match value {
            0 => bytes.truncate(at.max(64)),
            1 => bytes.splice(..0, vec![b'X'; at % 5_000]).for_each(drop),
            2 => bytes
                .iter_mut()
                .skip(at)
                .take(4096)
                .for_each(|byte| *byte = 0),
            3 => bytes
                .iter_mut()
                .skip(at)
                .take(40)
                .for_each(|byte| *byte = b'X'),
            value => bytes[at] ^= value,
        }
        if bytes.is_empty() {
            return;
        }
    }
    std::fs::write(&good.path, &bytes).expect("the hurt reel");
    let Ok(reel) = Reel::open(&good.path) else {
        return;
    };
    for event in reel.scan().flatten() {
        let at = usize::try_from(event.head.seq.0).unwrap_or(0) - 1;
        assert_eq!(&event.body[..], &body(at)[..], "other bytes by scanning");
    }
    let mut buffer = BodyBuffer::default();
    for at in (0..EVENTS).rev().step_by(11) {
        let seq = Seq(at as u64 + 1);
        let asked = reel.body_at(seq, Seq(seq.0 + 1));
        for read in [asked, reel.body(seq)].into_iter().flatten() {
            assert_eq!(&read[..], &body(at)[..], "other bytes by asking");
        }
        let many = reel.gather(&[seq, Seq(1)], None, &mut |_| {});
        if let Ok(read) = many.body(seq, &mut buffer) {
            assert_eq!(read, &body(at)[..], "other bytes of one of many");
        }
    }
});
