//! What an appender takes for many live objects: a list of them, then changes; memory at most, time of a processor,
//! length of the file.
//!
//! `cargo bench -p kubereel-format --bench live -- [--objects N] [--bytes B] [--changes C] [--body-memory BYTES]`
//!
//! Bodies are those of the demo's recording, joined until they are long enough, each with identities and hashes of its
//! own.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a benchmark prints, and stops at the first surprise"
)]

use kubereel_format::{
    Appender, Bounds, ConnectionId, EventType, Evidence, NewBody, NewEvent, Note, Reel, ResourceId,
    ResourceInfo, Stamp,
};
use std::path::Path;

/// How many events share a commit.
const COMMIT: u64 = 2_000;

fn main() {
    let (mut objects, mut bytes, mut changes, mut body_memory) = (20_000_u64, 10_000, 20_000, None);
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    while let Some(word) = words.next() {
        let mut value = || words.next().unwrap_or_else(|| panic!("{word}: a value"));
        match word.as_str() {
            "--objects" => objects = value().parse().unwrap(),
            "--bytes" => bytes = value().parse().unwrap(),
            "--changes" => changes = value().parse().unwrap(),
            "--body-memory" => body_memory = Some(value().parse().unwrap()),
            _ => panic!("{word}?"),
        }
    }
    let texts = texts(bytes);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.reel");
    let bounds = Bounds {
        file_bytes: None,
        body_memory,
    };
    let mut appender = Appender::create_within(&path, bounds).unwrap();
    let resource = resource();
    appender
        .append_note(stamp(0), Note::Resource(resource))
        .unwrap();
    let before = (memory("VmRSS:"), cpu_millis());
    println!(
        "{:<8} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "", "events", "MB", "peak MiB", "CPU s", "file MB"
    );
    let mut draw = 0x9e37_79b9_7f4a_7c15_u64;
    let mut seen = 0_u64;
    for (name, count) in [("list", objects), ("changes", changes)] {
        let mut sum = 0;
        let began = cpu_millis();
        for number in 0..count {
            let object = if name == "list" {
                number
            } else {
                draw ^= draw << 13;
                draw ^= draw >> 7;
                draw ^= draw << 17;
                draw % objects
            };
            seen += 1;
            let place = usize::try_from(object).unwrap() % texts.len();
            let body = body(&texts[place], object, seen);
            sum += body.len();
            append(&mut appender, object, seen, body.as_bytes());
            if seen.is_multiple_of(COMMIT) {
                appender.commit().unwrap();
            }
        }
        appender.commit().unwrap();
        println!(
            "{name:<8} {count:>9} {:>9} {:>9} {:>9.1} {:>9}",
            sum / 1_000_000,
            memory("VmHWM:") / 1024,
            f64::from(u32::try_from(cpu_millis() - began).unwrap()) / 1e3,
            std::fs::metadata(&path).unwrap().len() / 1_000_000
        );
    }
    println!("before: {} MiB, {} ms", before.0 / 1024, before.1);
    appender.finish().unwrap();
    let packed = std::fs::metadata(&path).unwrap().len();
    println!("finished: {} MB", packed / 1_000_000);
}

fn texts(bytes: usize) -> Vec<String> {
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/demo.reel");
    let reel = Reel::open(&demo).unwrap();
    let bodies: Vec<String> = reel
        .scan()
        .map(|event| String::from_utf8(event.unwrap().body.to_vec()).unwrap())
        .collect();
    let mut texts = Vec::new();
    let mut text = String::new();
    for body in bodies {
        text.push_str(&body);
        if text.len() >= bytes {
            // A cut at any byte would split a letter.
            let end = (0..=bytes).rev().find(|end| text.is_char_boundary(*end));
            text.truncate(end.unwrap());
            texts.push(std::mem::take(&mut text));
        }
    }
    texts
}

/// A body with an identity of its own, and with hashes that nothing else has.
fn body(text: &str, object: u64, version: u64) -> String {
    let mixed = object.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let other = mixed.rotate_left(31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    format!(
        r#"{{"metadata":{{"name":"app-{object}","namespace":"n{}","uid":"{}","resourceVersion":"{version}","annotations":{{"hash":"{mixed:016x}{other:016x}","more":"{:016x}"}}}},"status":{{"observedGeneration":{version},"text":{text:?}}}}}"#,
        object % 100,
        uid(object),
        mixed ^ other.rotate_left(17),
    )
}

fn uid(object: u64) -> String {
    let mixed = object.wrapping_mul(0xd134_2543_de82_ef95);
    format!(
        "{:08x}-1111-4222-8333-{:012x}",
        mixed >> 32,
        mixed & 0xffff_ffff
    )
}

fn append(appender: &mut Appender, object: u64, version: u64, body: &[u8]) {
    let name = format!("app-{object}");
    let namespace = format!("n{}", object % 100);
    appender
        .append_event(&NewEvent {
            stamp: stamp(version),
            connection: ConnectionId(1),
            kind: EventType::Modified,
            evidence: Evidence::Live,
            resource: ResourceId(0),
            namespace: &namespace,
            name: &name,
            uid: &uid(object),
            resource_version: &version.to_string(),
            body: NewBody::Bytes(body),
        })
        .unwrap();
}

fn stamp(number: u64) -> Stamp {
    let micros = number * 1_000;
    Stamp::from_micros(i64::try_from(micros).unwrap(), micros)
}

fn resource() -> ResourceInfo {
    ResourceInfo::new(ResourceId(0), "v1", "pods", "Pod")
}

/// A line of this process's status, in KiB.
fn memory(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let text = line.unwrap().trim().trim_end_matches(" kB");
    text.parse().unwrap()
}

/// The time of this thread on a processor.
fn cpu_millis() -> u64 {
    let line = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    let nanos: u64 = line.split(' ').next().unwrap().parse().unwrap();
    nanos / 1_000_000
}
