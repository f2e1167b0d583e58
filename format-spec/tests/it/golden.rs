//! Reels of every released version of the format: they are never rewritten, and always read to the
//! last byte.

use kubereel_format::{Reel, file_digest};
use std::path::Path;
use xxhash_rust::xxh3::Xxh3Default;

/// The XXH3-128 of the files in `testdata/formats`: a reel of a version that is kept is never rewritten.
const FILES: [(&str, &str); 10] = [
    ("0.1.reel", "d75d73478743c15490b8678df8dab5f5"),
    ("0.3.reel", "f29de5cfaa5458031f3f99f5341a0ba4"),
    ("0.4.reel", "0e10afb61b4aac89680f6cd7d077da98"),
    ("0.5.reel", "191173fbf6b6104c1dbeeb3df79601f8"),
    ("0.6.reel", "47ab5ba4395c0e2abd68dc098242fc92"),
    ("0.7.reel", "13464ce65f7c4cd15226f0deb37797e2"),
    ("1.0.reel", "46465c5d234fb2fc4868d6958c700379"),
    ("1.0-unsealed.reel", "05ecf501b55b15874f4a42340ffaca43"),
    ("1.0-large.reel", "1dea31254a072971e69f03014f167f05"),
    ("1.0-by-object.reel", "f4dc6d0ee641fb1ac13577a582d00bd4"),
];

#[test]
fn the_reels_of_every_version_are_never_rewritten() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/formats");
    let found = FILES.map(|(name, expected)| {
        let digest = file_digest(&folder.join(name)).unwrap();
        (name, format!("{digest:032x}"), expected)
    });
    for (name, digest, _) in &found {
        println!("{name}: {digest}");
    }
    for ((name, digest, expected), (golden, ..)) in found.iter().zip(&GOLDEN) {
        assert_eq!((name, digest.as_str()), (golden, *expected));
    }
    assert_eq!(FILES.len(), GOLDEN.len());
}

/// A reel in `testdata/formats`: its version, how many events and notes it has, and the digest of all of them.
const GOLDEN: [(&str, &str, u64, usize, &str); 10] = [
    (
        "0.1.reel",
        "0.1",
        7_730,
        677,
        "69309012ceeec8e19f10a927b55c333d",
    ),
    (
        "0.3.reel",
        "0.3",
        600,
        62,
        "df2c8cbdee468f32e9a2f7c482919172",
    ),
    (
        "0.4.reel",
        "0.4",
        600,
        62,
        "df2c8cbdee468f32e9a2f7c482919172",
    ),
    (
        "0.5.reel",
        "0.5",
        600,
        62,
        "df2c8cbdee468f32e9a2f7c482919172",
    ),
    (
        "0.6.reel",
        "0.6",
        600,
        62,
        "df2c8cbdee468f32e9a2f7c482919172",
    ),
    (
        "0.7.reel",
        "0.7",
        600,
        62,
        "df2c8cbdee468f32e9a2f7c482919172",
    ),
    (
        "1.0.reel",
        "1.0",
        600,
        62,
        "df2c8cbdee468f32e9a2f7c482919172",
    ),
    (
        "1.0-unsealed.reel",
        "1.0",
        600,
        62,
        "df2c8cbdee468f32e9a2f7c482919172",
    ),
    (
        "1.0-large.reel",
        "1.0",
        33_000,
        5,
        "f20bba78b5cc36d30ee83ad1d48d8116",
    ),
    (
        "1.0-by-object.reel",
        "1.0",
        33_000,
        5,
        "f20bba78b5cc36d30ee83ad1d48d8116",
    ),
];

fn digest(reel: &Reel) -> String {
    let mut digest = Xxh3Default::new();
    for event in reel.scan() {
        let event = event.unwrap();
        let key = reel.key(event.head.object).unwrap();
        let facts = format!(
            "{} {} {} {:?} {:?} {} {} {} {} {} {}\n",
            event.head.seq,
            event.head.stamp.wall.micros,
            event.head.stamp.elapsed.micros,
            event.head.kind,
            event.head.evidence,
            event.head.connection.0,
            event.head.resource_version,
            key.resource.0,
            key.namespace,
            key.name,
            key.uid,
        );
        digest.update(facts.as_bytes());
        digest.update(&event.body);
    }
    for note in reel.notes() {
        digest.update(format!("{} {}\n", note.seq, note.stamp.wall.micros).as_bytes());
    }
    format!("{:032x}", digest.digest128())
}

#[test]
fn the_reels_of_every_version_are_read_to_the_last_byte() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/formats");
    let found = GOLDEN.map(|(name, version, events, notes, expected)| {
        let reel = Reel::open(&folder.join(name)).unwrap();
        assert_eq!(reel.damage(), [], "{name}");
        assert_eq!(reel.format().to_string(), version, "{name}");
        let counts = (reel.event_count(), reel.notes().len());
        (name, counts, digest(&reel), (events, notes), expected)
    });
    for (name, counts, digest, ..) in &found {
        println!("{name}: {counts:?} {digest}");
    }
    for (name, counts, digest, expected_counts, expected) in found {
        assert_eq!((counts, &*digest), (expected_counts, expected), "{name}");
    }
    let files = std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(
        files,
        GOLDEN.len() + 1,
        "a reel that no row names, besides README.md"
    );
}
