//! Measures the speed of the writer and the size of its file, on a recording: beside parsing the
//! same lines, and beside `zstd -19 --long=27` of the same lines, in the same run.
//!
//! `cargo bench -p kubereel-format --bench codec -- FILE.jsonl… FILE.reel…` (lines as `kubereel
//! export` writes them, also zstd-compressed). Without a file it generates Leases and Pods. For a
//! reel it prints the parts of its bytes, before and after it is sealed.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::as_conversions,
    clippy::indexing_slicing,
    reason = "a benchmark prints, and stops at the first surprise"
)]

use kubereel_format::{
    Appender, COMMIT_EVERY_MILLIS, ConnectionId, EventType, Evidence, NewBody, NewEvent, Note,
    Reel, ResourceId, ResourceInfo, SealDensity, Seq, Stamp, seal,
};
use serde_json::Value;
use std::collections::HashMap;
use std::io::Read as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// One line of a recording.
struct Line {
    kind: EventType,
    resource: String,
    namespace: String,
    name: String,
    uid: String,
    rv: String,
    body: String,
}

fn main() {
    let files: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"))
        .collect();
    println!(
        "{:<28} {:>8} {:>9} {:>10} {:>10} {:>6} {:>8} {:>8} {:>6} {:>9} {:>9}",
        "recording",
        "events",
        "MB",
        "write ev/s",
        "Value ev/s",
        "ratio",
        "B/event",
        "zstd-19",
        "ratio",
        "open ms",
        "body µs"
    );
    let (reels, lines): (Vec<String>, Vec<String>) =
        files.into_iter().partition(|file| is_reel(file));
    if reels.is_empty() && lines.is_empty() {
        measure("generated", &generated(50_000));
    }
    for reel in &reels {
        weigh(Path::new(reel));
    }
    for file in lines {
        let name = Path::new(&file)
            .parent()
            .and_then(Path::file_name)
            .unwrap_or_default();
        measure(&name.to_string_lossy(), &read(&file));
    }
}

fn is_reel(file: &str) -> bool {
    Path::new(file).extension().is_some_and(|end| end == "reel")
}

/// Prints the parts of a reel's bytes, and the length of its lines after `zstd -19 --long=27`.
fn weigh(path: &Path) {
    let reel = Reel::open(path).unwrap();
    let sizes = reel.sizes();
    let lines: Vec<Line> = reel
        .scan()
        .map(|event| {
            let event = event.unwrap();
            Line {
                kind: event.head.kind,
                resource: String::new(),
                namespace: String::new(),
                name: String::new(),
                uid: String::new(),
                rv: String::new(),
                body: String::from_utf8(event.body.to_vec()).unwrap(),
            }
        })
        .collect();
    let baseline = zstd_19(&lines);
    println!(
        "{}: {} events, {} bytes, {:.2} of zstd -19 --long=27 ({baseline})",
        path.display(),
        lines.len(),
        sizes.file,
        sizes.file as f64 / baseline as f64,
    );
    let parts = sizes.parts;
    let known = parts.bodies + parts.index + parts.tail;
    for (name, bytes) in [
        ("bodies", parts.bodies),
        ("indexes", parts.index),
        ("tail", parts.tail),
        ("other rows, container", sizes.file.saturating_sub(known)),
    ] {
        let percent = bytes as f64 * 100.0 / sizes.file as f64;
        println!("  {name:<24} {bytes:>10} {percent:>5.1} %");
    }
    if reel.is_sealed() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let sealed = folder.path().join("sealed.reel");
    let started = cpu_time();
    let stats = seal(&reel, &sealed, SealDensity::Usual, |_| {}).unwrap();
    println!(
        "{}: sealed in {:.1} s of a processor: {} bytes, {:.1} % less",
        path.display(),
        cpu_time().saturating_sub(started).as_secs_f64(),
        stats.file_bytes,
        100.0 - stats.file_bytes as f64 * 100.0 / stats.bytes_before as f64,
    );
    weigh(&sealed);
}

fn read(file: &str) -> Vec<Line> {
    let mut bytes = std::fs::read(file).unwrap();
    if bytes.starts_with(b"\x28\xb5\x2f\xfd") {
        let mut decoder = zstd::stream::read::Decoder::new(&bytes[..]).unwrap();
        decoder.window_log_max(27).unwrap();
        let mut raw = Vec::new();
        decoder.read_to_end(&mut raw).unwrap();
        bytes = raw;
    }
    String::from_utf8(bytes)
        .unwrap()
        .lines()
        .map(|line| {
            let parts: HashMap<&str, &serde_json::value::RawValue> =
                serde_json::from_str(line).unwrap();
            let body = parts["object"].get();
            let object: Value = serde_json::from_str(body).unwrap();
            let text = |path: &str| {
                let value = object.pointer(path).and_then(Value::as_str);
                value.unwrap_or_default().to_owned()
            };
            Line {
                kind: match parts["type"].get() {
                    "\"ADDED\"" => EventType::Added,
                    "\"DELETED\"" => EventType::Deleted,
                    _ => EventType::Modified,
                },
                resource: format!("{} {}", text("/apiVersion"), text("/kind")),
                namespace: text("/metadata/namespace"),
                name: text("/metadata/name"),
                uid: text("/metadata/uid"),
                rv: text("/metadata/resourceVersion"),
                body: body.to_owned(),
            }
        })
        .collect()
}

/// Leases that are renewed and Pods that come and go.
fn generated(count: usize) -> Vec<Line> {
    (0..count)
        .map(|at| {
            let object = at * 7_919 % 400;
            let generation = at / 4_000;
            let (kind, name, rest) = if object % 2 == 0 {
                let seconds = at % 60;
                let rest = format!(r#""spec":{{"holderIdentity":"node-{object}","leaseDurationSeconds":137,"renewTime":"2026-11-21T13:20:{seconds:02}.{at:06}Z"}}"#);
                ("Lease", format!("lease-{object}"), rest)
            } else {
                let phase = ["Pending", "Running", "Succeeded"][at % 3];
                let rest = format!(r#""spec":{{"nodeName":"node-{}","containers":[{{"name":"main","image":"registry.example.org/app@sha256:{object:064x}"}}]}},"status":{{"phase":"{phase}","restartCount":{}}}"#, object % 5, at % 9);
                ("Pod", format!("app-{object}-{generation:05}"), rest)
            };
            let uid = format!("{object:08x}-0000-4000-8000-{generation:012x}");
            let body = format!(r#"{{"apiVersion":"v1","kind":"{kind}","metadata":{{"name":"{name}","namespace":"apps","uid":"{uid}","resourceVersion":"{at}"}},{rest}}}"#);
            Line {
                kind: EventType::Modified,
                resource: kind.to_owned(),
                namespace: "apps".to_owned(),
                name,
                uid,
                rv: at.to_string(),
                body,
            }
        })
        .collect()
}

fn measure(name: &str, lines: &[Line]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bench.reel");
    let started = cpu_time();
    let file_bytes = write(&path, lines);
    let writing = cpu_time().saturating_sub(started);
    let started = cpu_time();
    for line in lines {
        let value: Value = serde_json::from_slice(line.body.as_bytes()).unwrap();
        std::hint::black_box(&value);
    }
    let parsing = cpu_time().saturating_sub(started);
    let started = Instant::now();
    let reel = Reel::open(&path).unwrap();
    let opening = started.elapsed();
    if std::env::var_os("PARTS").is_some() {
        println!("{:?}", reel.sizes());
    }
    let events: Vec<Seq> = (0..reel.end().0)
        .map(Seq)
        .filter(|seq| reel.object_of(*seq).is_some())
        .collect();
    let mut asked = 0u32;
    let started = Instant::now();
    for at in 0..2_000 {
        let place = at * 7_919 % events.len();
        std::hint::black_box(reel.body(events[place]).unwrap());
        asked += 1;
    }
    let asking = started.elapsed() / asked;
    let count = lines.len() as f64;
    let rate = |time: Duration| count / time.as_secs_f64();
    let raw: usize = lines.iter().map(|line| line.body.len()).sum();
    let per_event = file_bytes as f64 / count;
    let baseline = zstd_19(lines) as f64 / count;
    println!(
        "{name:<28} {:>8} {:>9.1} {:>10.0} {:>10.0} {:>6.2} {per_event:>8.1} {baseline:>8.1} {:>6.2} {:>9.1} {:>9.0}",
        lines.len(),
        raw as f64 / 1e6,
        rate(writing),
        rate(parsing),
        rate(writing) / rate(parsing),
        per_event / baseline,
        opening.as_secs_f64() * 1e3,
        asking.as_secs_f64() * 1e6,
    );
}

/// Returns the processor time of this thread: other load of a shared machine and pauses of the disk
/// are not in it. If the system does not report it, the wall clock is used.
fn cpu_time() -> Duration {
    static BEGAN: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|line| line.split(' ').next()?.parse().ok())
        .map_or_else(|| BEGAN.elapsed(), Duration::from_nanos)
}

/// Writes a finished reel, and returns its length.
fn write(path: &Path, lines: &[Line]) -> u64 {
    let mut appender = Appender::create(path).unwrap();
    let mut resources: HashMap<&str, ResourceId> = HashMap::new();
    let mut committed = Instant::now();
    for (at, line) in lines.iter().enumerate() {
        let micros = i64::try_from(at).unwrap() * 9_973;
        let stamp = Stamp::from_micros(1_700_000_000_000_000 + micros, micros.unsigned_abs());
        let next = ResourceId(u32::try_from(resources.len()).unwrap());
        let resource = *resources.entry(&line.resource).or_insert_with(|| {
            let note = Note::Resource(resource(next, &line.resource));
            appender.append_note(stamp, note).unwrap();
            next
        });
        let event = NewEvent {
            stamp,
            connection: ConnectionId(resource.0),
            kind: line.kind,
            evidence: Evidence::Live,
            resource,
            namespace: &line.namespace,
            name: &line.name,
            uid: &line.uid,
            resource_version: &line.rv,
            body: NewBody::Bytes(line.body.as_bytes()),
        };
        appender.append_event(&event).unwrap();
        // As the recorder does.
        if committed.elapsed() >= Duration::from_millis(COMMIT_EVERY_MILLIS) {
            appender.commit().unwrap();
            committed = Instant::now();
        }
    }
    appender.finish().unwrap().file_bytes
}

fn resource(id: ResourceId, kind: &str) -> ResourceInfo {
    ResourceInfo::new(id, "v1", &kind.to_lowercase(), kind)
}

/// Returns the length of the lines' `zstd -19 --long=27`.
fn zstd_19(lines: &[Line]) -> usize {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 19).unwrap();
    encoder.long_distance_matching(true).unwrap();
    encoder.window_log(27).unwrap();
    for (at, line) in lines.iter().enumerate() {
        let kind = line.kind.as_str();
        let head = format!("{{\"ts\":{at},\"type\":\"{kind}\",\"object\":");
        for part in [head.as_bytes(), line.body.as_bytes(), b"}\n"] {
            std::io::Write::write_all(&mut encoder, part).unwrap();
        }
    }
    encoder.finish().unwrap().len()
}
