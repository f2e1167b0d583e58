//! Measures the loss by damage to a reel, as section 10 of SPEC.md states it: by class of damage,
//! at many places, in a finished reel and in one of a killed recorder.
//!
//! Never a panic, never a wrong byte, never an event twice, and no loss without a report.

use crate::life::{append, begin, life};
use kubereel_format::{
    EventHead, Loss, Note, OpenError, ReadError, Reel, SealDensity, SealError, Seq,
    panic_is_caught, recover, seal,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

/// The unit in which the database stores and checks data.
const PAGE: usize = 4096;

/// The identity of an event, independent of its place.
type Identity = (EventHead, Vec<u8>);

/// What is left of a reel after bytes were changed.
struct Rest {
    /// The share of readable events; none if it does not open.
    share: f64,
    /// The number of the first event that cannot be read.
    first_lost: Option<Seq>,
    error: Option<OpenError>,
}

/// A reel and its events.
struct Whole {
    bytes: Vec<u8>,
    events: BTreeMap<Seq, Identity>,
    folder: tempfile::TempDir,
}

fn events_of(path: &Path) -> BTreeMap<Seq, Identity> {
    let reel = Reel::open(path).unwrap();
    assert_eq!(reel.damage(), []);
    let events = reel.scan().map(|event| {
        let event = event.unwrap();
        (event.head.seq, (event.head, event.body.to_vec()))
    });
    events.collect()
}

fn demo_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/demo.reel")
}

/// The database panics on some damage; the panic becomes an error, and needs no trace.
fn hush() {
    static HUSHED: std::sync::Once = std::sync::Once::new();
    HUSHED.call_once(|| {
        let loud = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !panic_is_caught() {
                loud(panic);
            }
        }));
    });
}

impl Whole {
    /// The demo's reel in the current version of the format.
    fn demo() -> Self {
        hush();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("whole.reel");
        let old = Reel::open(&demo_path()).unwrap();
        let stats = recover(&old, &path, |_| {}).unwrap();
        assert_eq!(stats.events, old.event_count());
        assert_eq!((stats.lost.events, stats.losses), (0, 0));
        Self::of(&path, folder)
    }

    /// The demo's reel, sealed.
    fn sealed() -> Self {
        hush();
        Self::seal_of(&demo_path())
    }

    /// A reel, sealed.
    fn seal_of(old: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("whole.reel");
        seal(&Reel::open(old).unwrap(), &path, SealDensity::Usual, |_| {}).unwrap();
        Self::of(&path, folder)
    }

    /// A reel whose recorder was killed after many commits, and which was resumed once before.
    fn killed() -> Self {
        hush();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.reel");
        let copy = folder.path().join("killed.reel");
        let written = life(9_000, 150);
        let mut appender = begin(&path);
        for (at, event) in (0i64..).zip(&written) {
            append(&mut appender, event, at);
            if at % 61 == 0 {
                appender.commit().unwrap();
            }
            if at == 4_000 {
                drop(appender);
                appender = kubereel_format::Appender::resume(&path).unwrap();
            }
        }
        appender.commit().unwrap();
        std::fs::copy(&path, &copy).unwrap();
        drop(appender);
        Self::of(&copy, folder)
    }

    /// A finished reel of 10 MB.
    fn large() -> Self {
        Self::random(24_000, 50)
    }

    /// A sealed reel of two groups, whose bodies lie by object.
    fn by_object() -> Self {
        let whole = Self::random(50_000, 25);
        let path = whole.folder.path().join("run.reel");
        Self::seal_of(&path)
    }

    /// A finished reel of bodies that hardly compress.
    fn random(events: usize, words: usize) -> Self {
        hush();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.reel");
        let mut appender = begin(&path);
        let mut state = 1_u64;
        for (at, mut event) in (0i64..).zip(life(events, 400)) {
            for _ in 0..words {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                event
                    .body
                    .extend_from_slice(format!("{state:016x}").as_bytes());
            }
            append(&mut appender, &event, at);
            if at % 3_001 == 0 {
                appender.commit().unwrap();
            }
        }
        appender.finish().unwrap();
        Self::of(&path, folder)
    }

    fn of(path: &Path, folder: tempfile::TempDir) -> Self {
        Self {
            events: events_of(path),
            bytes: std::fs::read(path).unwrap(),
            folder,
        }
    }

    /// Reads changed bytes as an export does. A byte that differs, or an event that was not
    /// written, fails the test.
    fn read(&self, bytes: &[u8]) -> Rest {
        let path = self.folder.path().join("hurt.reel");
        std::fs::write(&path, bytes).unwrap();
        let reel = match Reel::open(&path) {
            Ok(reel) => reel,
            Err(error) => {
                return Rest {
                    share: 0.0,
                    first_lost: self.events.keys().next().copied(),
                    error: Some(error),
                };
            }
        };
        let mut lost: BTreeMap<Seq, &Identity> = self
            .events
            .iter()
            .map(|(seq, event)| (*seq, event))
            .collect();
        let mut is_named = reel.has_losses();
        for event in reel.scan() {
            let Ok(event) = event else {
                is_named = true;
                continue;
            };
            let (head, body) = lost.remove(&event.head.seq).unwrap();
            assert_eq!(*body, *event.body, "wrong bytes");
            let is_head = (head.stamp, head.kind, head.evidence, &head.resource_version)
                == (
                    event.head.stamp,
                    event.head.kind,
                    event.head.evidence,
                    &event.head.resource_version,
                );
            assert!(is_head, "another event: {head:?} {:?}", event.head);
        }
        // Records that are lost at the begin have the time of the first one behind them.
        let begin = reel.stamp(Seq(0)).map(|stamp| stamp.wall);
        assert!(
            lost.len() == self.events.len() || begin.is_some_and(|wall| wall.micros > 0),
            "it begins at {begin:?}"
        );
        // The database of a killed recorder's reel falls back to the commit before: the reel ends
        // earlier, and it does not record where it ended.
        let is_cut = !reel.is_finished() && lost.keys().all(|seq| *seq >= reel.end());
        assert!(
            lost.is_empty() || is_named || is_cut,
            "a loss without a word"
        );
        let count = |len: usize| f64::from(u32::try_from(len).unwrap());
        Rest {
            share: 1.0 - count(lost.len()) / count(self.events.len()),
            first_lost: lost.keys().next().copied(),
            error: None,
        }
    }

    /// Returns at most `tries` places that are spread over the file.
    fn places(&self, unit: usize, tries: usize) -> impl Iterator<Item = usize> + use<> {
        let units = self.bytes.len() / unit;
        (0..units)
            .step_by(units.div_ceil(tries))
            .map(move |at| at * unit)
    }

    /// Changes the bytes at many places, prints the mean share that can be read, and returns it.
    #[expect(
        clippy::print_stdout,
        reason = "the table of SPEC.md is made of it; of sealed reels with twice as many places"
    )]
    fn mean(
        &self,
        class: &str,
        places: impl Iterator<Item = usize>,
        change: impl Fn(&mut Vec<u8>, usize),
    ) -> f64 {
        let (mut tries, mut nothing, mut sum) = (0_u32, 0, 0.0);
        for at in places {
            let mut bytes = self.bytes.clone();
            change(&mut bytes, at);
            if bytes == self.bytes {
                continue;
            }
            let rest = self.read(&bytes);
            tries += 1;
            nothing += u32::from(rest.error.is_some());
            sum += rest.share;
        }
        let mean = sum / f64::from(tries.max(1));
        println!(
            "{class}: {tries} files, mean share of events {mean:.3}, nothing readable {nothing}"
        );
        mean
    }
}

/// A run of X, as a censor writes it.
fn censor(bytes: &mut [u8], at: usize) {
    let end = bytes.len().min(at + 64);
    bytes[at..end].fill(b'X');
}

fn flip(bytes: &mut [u8], at: usize) {
    for step in 0..16 {
        let place = (at * 31 + step * 7_919 * 13) % bytes.len();
        bytes[place] ^= 1 << (step % 8);
    }
}

/// Tries every class of damage; the floors are of the mean share of events that can be read.
fn classes(name: &str, whole: &Whole, tries: usize, [page, page_run, censored, flipped]: [f64; 4]) {
    let class = |what: &str| format!("{name}, {what}");
    let places = || whole.places(PAGE, tries);
    let mean = whole.mean(&class("one page zeroed"), places(), |bytes, at| {
        bytes[at..at + PAGE].fill(0);
    });
    assert!(mean >= page, "{mean}");
    let mean = whole.mean(&class("ten pages zeroed"), places(), |bytes, at| {
        let end = bytes.len().min(at + 10 * PAGE);
        bytes[at..end].fill(0);
    });
    assert!(mean >= page_run, "{mean}");
    let mean = whole.mean(
        &class("64 bytes censored"),
        whole.places(3_301, tries),
        |bytes, at| {
            censor(bytes, at);
        },
    );
    assert!(mean >= censored, "{mean}");
    let mean = whole.mean(
        &class("16 bits flipped"),
        whole.places(3_301, tries),
        |bytes, at| {
            flip(bytes, at);
        },
    );
    assert!(mean >= flipped, "{mean}");
    let mean = whole.mean(&class("header zeroed"), 1..=8, |bytes, blocks| {
        bytes[..blocks * 512].fill(0);
    });
    assert!(mean > 0.999, "{mean}");
    let mean = whole.mean(
        &class("prefixed"),
        [1, 100, PAGE, 40_000].into_iter(),
        |bytes, more| {
            let own = std::mem::replace(bytes, vec![7; more]);
            bytes.extend(own);
        },
    );
    assert!(mean > 0.999, "{mean}");
    let mean = whole.mean(
        &class("appended to"),
        [1, 100, PAGE, 40_960].into_iter(),
        |bytes, more| {
            bytes.extend(vec![0; more]);
        },
    );
    assert!(mean > 0.999, "{mean}");
}

#[test]
fn a_damaged_finished_reel_gives_what_is_not_damaged() {
    classes("demo", &Whole::demo(), 60, [0.99, 0.4, 0.99, 0.001]);
}

#[test]
fn a_damaged_sealed_reel_gives_what_is_not_damaged() {
    classes("sealed", &Whole::sealed(), 10, [0.999, 0.25, 0.999, 0.99]);
}

#[test]
fn a_damaged_reel_of_a_killed_recorder_gives_what_is_not_damaged() {
    classes("killed", &Whole::killed(), 60, [0.8, 0.5, 0.9, 0.18]);
}

#[test]
fn a_zeroed_page_of_a_large_finished_reel_costs_nothing() {
    let large = Whole::large();
    println!(
        "large: {} bytes, {} events",
        large.bytes.len(),
        large.events.len()
    );
    assert!(large.bytes.len() > 9_000_000);
    let mean = large.mean(
        "large, one page zeroed",
        large.places(PAGE, 12),
        |bytes, at| {
            bytes[at..at + PAGE].fill(0);
        },
    );
    // The format promises 0.97.
    assert!(mean > 0.999, "{mean}");
    let mean = large.mean(
        "large, 64 pages zeroed",
        large.places(PAGE, 8),
        |bytes, at| {
            let end = bytes.len().min(at + 64 * PAGE);
            bytes[at..end].fill(0);
        },
    );
    assert!(mean > 0.9, "{mean}");
}

#[test]
fn a_large_sealed_reel_loses_little_to_much_damage() {
    let large = Whole::large();
    let path = large.folder.path().join("large.reel");
    std::fs::write(&path, &large.bytes).unwrap();
    let sealed = Whole::seal_of(&path);
    assert_eq!(sealed.events.len(), large.events.len());
    println!(
        "large: {} bytes, sealed {}",
        large.bytes.len(),
        sealed.bytes.len()
    );
    let pages = |count: usize| {
        move |bytes: &mut Vec<u8>, at: usize| {
            let end = bytes.len().min(at + count * PAGE);
            bytes[at..end].fill(0);
        }
    };
    // The format promises 0.97.
    let mean = sealed.mean("one page zeroed", sealed.places(PAGE, 6), pages(1));
    assert!(mean > 0.999, "{mean}");
    // More than a sixty-fourth of the last stripe, which is short.
    let mean = sealed.mean("16 pages zeroed", sealed.places(PAGE, 4), pages(16));
    assert!(mean > 0.97, "{mean}");
    let mean = sealed.mean("400 pages zeroed", sealed.places(PAGE, 4), pages(400));
    assert!(mean > 0.4, "{mean}");
    let flips = sealed.mean("16 bits flipped", sealed.places(PAGE, 4), |bytes, at| {
        flip(bytes, at);
    });
    assert!(flips > 0.999, "{flips}");
    // A cut takes the recovery shards of the stripe; everything before it stays.
    let places = sealed.places(sealed.bytes.len() / 4, 4).skip(1);
    let mean = sealed.mean("cut off", places, Vec::truncate);
    assert!(mean > 0.4, "{mean}");
}

#[test]
fn a_reel_with_bodies_by_object_gives_what_is_not_damaged() {
    let whole = Whole::by_object();
    println!("by object: {} bytes", whole.bytes.len());
    let zeroed = |count: usize| {
        move |bytes: &mut Vec<u8>, at: usize| {
            let end = bytes.len().min(at + count * PAGE);
            bytes[at..end].fill(0);
        }
    };
    let places = |count| whole.places(PAGE, count);
    let mean = whole.mean("one page zeroed", places(4), zeroed(1));
    assert!(mean > 0.999, "{mean}");
    let mean = whole.mean("64 pages zeroed", places(6), zeroed(64));
    assert!(mean > 0.55, "{mean}");
    let mean = whole.mean("400 pages zeroed", places(4), zeroed(400));
    assert!(mean > 0.3, "{mean}");
    let flips = whole.mean("16 bits flipped", places(4), |bytes, at| flip(bytes, at));
    assert!(flips > 0.999, "{flips}");
    let eighth = whole.bytes.len() / 8;
    let cuts = whole.places(eighth, 8).skip(1);
    let mean = whole.mean("cut off", cuts, Vec::truncate);
    assert!(mean > 0.3, "{mean}");
    let mean = whole.mean("777 bytes taken out", places(4), |bytes, at| {
        drop(bytes.drain(at..(at + 777).min(whole.bytes.len())));
    });
    assert!(mean > 0.5, "{mean}");
}

/// The recovery shards of a stripe replace shards that do not fit a check of two bytes.
#[test]
fn damage_that_fits_a_shards_check_by_chance_costs_nothing() {
    let sealed = Whole::sealed();
    let shard_len = 256;
    let check = |shard: &[u8]| xxh3_64(shard).to_le_bytes()[..2].to_vec();
    let mut bytes = sealed.bytes.clone();
    for number in [40, 90, 140] {
        let shard = &mut bytes[number * shard_len..][..shard_len];
        shard[100] ^= 1;
    }
    let whole = sealed.bytes[60 * shard_len..][..shard_len].to_vec();
    let colliding = (1..=u32::MAX).map(|number| {
        let mut shard = whole.clone();
        for (at, byte) in number.to_le_bytes().into_iter().enumerate() {
            shard[50 + at] ^= byte;
        }
        shard
    });
    let colliding = colliding
        .into_iter()
        .find(|shard| check(shard) == check(&whole));
    bytes[60 * shard_len..][..shard_len].copy_from_slice(&colliding.unwrap());
    let rest = sealed.read(&bytes);
    assert!(rest.share > 0.999, "{}", rest.share);
    assert_eq!(rest.first_lost, None);
}

#[test]
fn rows_that_are_cut_out_or_moved_give_no_wrong_byte() {
    let whole = Whole::sealed();
    let half = whole.bytes.len() / 2;
    let moved = |bytes: &mut Vec<u8>, at: usize| {
        let end = bytes.len().min(at + 10_000);
        let taken: Vec<u8> = bytes.drain(at..end).collect();
        let to = (at + half) % bytes.len();
        bytes.splice(to..to, taken);
    };
    whole.mean(
        "sealed, bytes taken out",
        whole.places(PAGE, 12),
        |bytes, at| {
            drop(bytes.drain(at..(at + 777).min(whole.bytes.len())));
        },
    );
    whole.mean("sealed, bytes moved", whole.places(PAGE, 12), moved);
    // A stripe and its description lie elsewhere together.
    let mean = whole.mean("sealed, twice in one file", 0..1, |bytes, _| {
        let copy = bytes.clone();
        bytes.extend(copy);
        bytes[5_000] ^= 1;
    });
    assert!(mean > 0.999, "{mean}");
}

#[test]
fn a_reel_cut_at_any_byte_gives_what_lies_before_the_cut() {
    for (name, whole, floor) in [
        ("demo", Whole::demo(), 0.45),
        ("killed", Whole::killed(), 0.55),
        ("sealed", Whole::sealed(), 0.37),
    ] {
        let len = whole.bytes.len();
        let near_the_end = [1, 2, 100, PAGE - 1, PAGE, PAGE + 1].map(|cut| len - cut);
        let places = whole.places(len / 20, 20).chain(near_the_end);
        let mean = whole.mean(&format!("{name}, cut off"), places, Vec::truncate);
        assert!(mean > floor, "{mean}");
    }
    // A block that lies wholly before the cut is there: events are in the order of the file.
    for whole in [Whole::demo(), Whole::sealed()] {
        let mut last = None;
        for tenth in 1..10 {
            let rest = whole.read(&whole.bytes[..whole.bytes.len() * tenth / 10]);
            let kept = whole
                .events
                .range(..rest.first_lost.unwrap_or(Seq(u64::MAX)));
            let share = f64::from(u32::try_from(kept.count()).unwrap())
                / f64::from(u32::try_from(whole.events.len()).unwrap());
            assert!((share - rest.share).abs() < 1e-9, "a hole before the cut");
            assert!(last <= Some(rest.share));
            last = Some(rest.share);
        }
        assert!(last > Some(0.7), "{last:?}");
    }
}

#[test]
fn opening_a_cut_reel_reads_no_object_before_the_first_loss() {
    let whole = Whole::large();
    let path = whole.folder.path().join("cut.reel");
    std::fs::write(&path, &whole.bytes[..whole.bytes.len() * 9 / 10]).unwrap();
    let reel = Reel::open(&path).unwrap();
    assert!(reel.has_losses(), "{:?}", reel.damage());
    let opened = reel.counts().bodies;
    let (first, _) = unreadable(&reel).next().unwrap();
    let behind = whole.events.range(first..).count();
    let before = whole.events.len() - behind;
    assert!(before > 2 * behind, "{before} before, {behind} behind");
    assert!(opened <= behind.try_into().unwrap(), "{opened} of {behind}");
}

#[test]
fn a_foreign_reel_in_the_same_file_is_not_mixed_in() {
    let (demo, killed) = (Whole::demo(), Whole::killed());
    let spliced = [&demo.bytes[..], &killed.bytes[..]].concat();
    let rest = demo.read(&spliced);
    let other = killed.read(&[&[1; 77], &killed.bytes[..], &demo.bytes[..20_000]].concat());
    println!(
        "spliced: {} {:?} and {} {:?}",
        rest.share, rest.error, other.share, other.error
    );
    assert!(rest.share > 0.999 && other.share > 0.999);
}

#[test]
fn a_reel_behind_another_one_is_damage_whatever_their_forms() {
    let (demo, sealed, killed) = (Whole::demo(), Whole::sealed(), Whole::killed());
    let old = std::fs::read(demo_path()).unwrap();
    let whole = killed.folder.path().join("whole.reel");
    let smaller = killed.folder.path().join("killed-sealed.reel");
    std::fs::write(&whole, &killed.bytes).unwrap();
    let killed_reel = Reel::open(&whole).unwrap();
    seal(&killed_reel, &smaller, SealDensity::Usual, |_| {}).unwrap();
    let smaller = std::fs::read(&smaller).unwrap();
    let path = demo.folder.path().join("joined.reel");
    // A page of zeros is room that was not used.
    let room = [0; PAGE];
    for (name, first, second) in [
        ("demo and killed", &demo.bytes, &killed.bytes),
        ("demo twice", &demo.bytes, &demo.bytes),
        ("demo and an old one", &demo.bytes, &old),
        ("demo and sealed", &demo.bytes, &sealed.bytes),
        ("killed and demo", &killed.bytes, &demo.bytes),
        ("sealed and killed", &sealed.bytes, &killed.bytes),
        ("sealed and demo", &smaller, &demo.bytes),
        ("sealed twice", &sealed.bytes, &sealed.bytes),
    ] {
        let own = read_joined(&path, &[first]);
        assert_eq!(own.damage(), [], "{name}");
        let joined = read_joined(&path, &[first, second]);
        let damage = joined.damage().first().expect(name);
        println!("{name}: {damage:?}");
        assert_eq!(damage.loss, Loss::Nothing, "{name}");
        let causes = ["another reel", "its own", "more than once"];
        let is_named = causes.iter().any(|cause| damage.cause.contains(cause));
        assert!(is_named, "{name}: {}", damage.cause);
        assert_eq!(joined.event_count(), own.event_count(), "{name}");
        let to = path.with_extension("sealed");
        let refused = seal(&joined, &to, SealDensity::Usual, |_| {}).unwrap_err();
        assert!(matches!(refused, SealError::Damaged { .. }), "{refused}");
    }
    for (name, first) in [("demo", &demo.bytes), ("killed", &killed.bytes)] {
        let longer = read_joined(&path, &[first, &room]);
        assert_eq!(longer.damage(), [], "{name} with room");
    }
    let noise = [&[7; PAGE][..], &room].concat();
    let longer = read_joined(&path, &[&demo.bytes, &noise]);
    assert_eq!(longer.damage().len(), 1);
}

fn read_joined(path: &Path, parts: &[&[u8]]) -> Reel {
    std::fs::write(path, parts.concat()).unwrap();
    Reel::open(path).unwrap()
}

#[test]
fn a_recovered_reel_bounds_a_lost_end_by_no_time() {
    let whole = Whole::large();
    let hurt = whole.folder.path().join("hurt.reel");
    let to = whole.folder.path().join("new.reel");
    let mut lossy = 0;
    for at in whole.places(PAGE, 12) {
        std::fs::write(&hurt, &whole.bytes[..at]).unwrap();
        let Ok(damaged) = Reel::open(&hurt) else {
            continue;
        };
        let mut losses = damaged.damage().iter().map(|damage| damage.loss);
        let is_of_end = |loss| match loss {
            Loss::Records { last, .. } => last.is_none_or(|last| last.0 + 1 >= damaged.end().0),
            _ => false,
        };
        if !losses.any(is_of_end) {
            continue;
        }
        recover(&damaged, &to, |_| {}).unwrap();
        let new = Reel::open(&to).unwrap();
        let spans = new.notes().iter().filter_map(|entry| match entry.note {
            Note::Unreadable { from, to, .. } => Some((from, to)),
            _ => None,
        });
        let spans: Vec<_> = spans.collect();
        let (from, until) = *spans.last().unwrap();
        assert_eq!(from, until, "{at}: {spans:?}");
        lossy += usize::from(spans.len() > 1);
        std::fs::remove_file(&to).unwrap();
    }
    assert!(lossy > 0, "no file lost bodies and the end");
}

/// The events whose bodies cannot be read alone.
fn unreadable(reel: &Reel) -> impl Iterator<Item = (Seq, ReadError)> {
    let seqs = (0..reel.end().0).map(Seq);
    let events = seqs.filter(|seq| reel.object_of(*seq).is_some());
    events.filter_map(|seq| Some((seq, reel.body(seq).err()?)))
}

#[test]
fn a_recovered_reel_is_whole_and_says_what_is_lost() {
    let whole = Whole::demo();
    let hurt = whole.folder.path().join("hurt.reel");
    let to = whole.folder.path().join("new.reel");
    let mut lossy = 0;
    for at in whole.places(PAGE, 12) {
        let mut bytes = whole.bytes.clone();
        let end = bytes.len().min(at + 20 * PAGE);
        bytes[at..end].fill(0);
        std::fs::write(&hurt, &bytes).unwrap();
        let damaged = Reel::open(&hurt).unwrap();
        let stats = recover(&damaged, &to, |_| {}).unwrap();
        let readable = damaged.scan().flatten().count();
        let new = Reel::open(&to).unwrap();
        assert_eq!(new.damage(), []);
        assert_eq!(new.is_finished(), damaged.is_finished());
        assert_eq!(
            new.scan().map(Result::unwrap).count(),
            usize::try_from(stats.events).unwrap()
        );
        assert_eq!(stats.events, u64::try_from(readable).unwrap());
        assert_eq!(stats.lost, damaged.losses());
        assert_eq!(stats.events + stats.lost.events, damaged.event_count());
        for (seq, _) in unreadable(&damaged) {
            assert!(damaged.is_unreadable(seq), "{seq}");
        }
        let in_places = damaged
            .damage()
            .iter()
            .map(|damage| damaged.lost_in(damage.loss));
        let in_places: u64 = in_places.flatten().sum();
        assert!(
            in_places >= stats.lost.events + stats.lost.records,
            "{stats:?}"
        );
        let has_lost = u64::try_from(whole.events.len()).unwrap() > stats.events;
        assert_eq!(
            has_lost,
            stats.losses > 0 && stats.lost.events + stats.lost.records > 0
                || stats.lost.is_end_lost
        );
        lossy += u32::from(has_lost);
        assert!(
            recover(&damaged, &to, |_| {}).is_err(),
            "it never overwrites"
        );
        std::fs::remove_file(&to).unwrap();
        let left = std::fs::read_dir(whole.folder.path()).unwrap().count();
        assert_eq!(left, 2, "the reel and the damaged one");
    }
    assert!(lossy > 0);
    assert!(
        Reel::open(&demo_path())
            .unwrap()
            .damage()
            .iter()
            .all(|damage| damage.loss == Loss::Nothing)
    );
}
