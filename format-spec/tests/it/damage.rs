//! What damage of a finished reel costs, as section 9 of SPEC.md says.

use kubereel_format::{OpenError, Reel, Seq};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The unit in which the database stores, checks and loses.
const PAGE: usize = 4096;
/// How many damaged files are tried of each kind.
const TRIES: usize = 60;

/// What is left of a reel whose bytes were changed.
enum Rest {
    /// It does not open.
    Nothing(OpenError),
    /// It opens, and this share of its events is there; whether it names damage.
    Share(f64, bool),
}

/// A reel and the body of each of its events.
struct Whole {
    bytes: Vec<u8>,
    bodies: BTreeMap<Seq, Vec<u8>>,
    folder: tempfile::TempDir,
}

impl Whole {
    fn demo() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/demo.reel");
        let reel = Reel::open(&path).unwrap();
        let bodies = reel
            .scan(Seq(0))
            .map(|event| event.map(|event| (event.head.seq, event.body.to_vec())))
            .collect::<Result<_, _>>()
            .unwrap();
        Self {
            bytes: std::fs::read(&path).unwrap(),
            bodies,
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("hurt.reel")
    }

    /// Reads changed bytes as an export does. A byte that differs fails the test.
    fn read(&self, bytes: &[u8]) -> Rest {
        let path = self.path();
        std::fs::write(&path, bytes).unwrap();
        let reel = match Reel::open(&path) {
            Ok(reel) => reel,
            Err(error) => return Rest::Nothing(error),
        };
        let mut right = 0.0;
        let mut has_error = false;
        for event in reel.scan(Seq(0)) {
            match event {
                Ok(event) => {
                    assert_eq!(self.bodies[&event.head.seq], *event.body, "wrong bytes");
                    right += 1.0;
                }
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    has_error = true;
                }
            }
        }
        let all = self.bodies.len();
        let share = right / f64::from(u32::try_from(all).unwrap());
        Rest::Share(share, has_error || !reel.damage().is_empty())
    }

    /// Returns places that are spread over the file.
    fn places(&self, unit: usize) -> impl Iterator<Item = usize> + use<> {
        let units = self.bytes.len() / unit;
        (0..units)
            .step_by(units.div_ceil(TRIES))
            .map(move |at| at * unit)
    }
}

#[test]
fn a_truncated_reel_is_an_error_that_names_the_lengths() {
    let whole = Whole::demo();
    let len = whole.bytes.len();
    let near_the_end = [1, 2, 100, PAGE - 1, PAGE, PAGE + 1].map(|cut| len - cut);
    let mut cut_off = 0;
    for at in whole.places(997).chain(near_the_end) {
        match whole.read(&whole.bytes[..at]) {
            Rest::Nothing(OpenError::CutOff {
                found_bytes,
                whole_bytes,
                ..
            }) => {
                assert_eq!(found_bytes, u64::try_from(at).unwrap());
                assert_eq!(whole_bytes, u64::try_from(len).unwrap());
                cut_off += 1;
            }
            // Not even the header is there.
            Rest::Nothing(error) => assert!(at < 2 * PAGE, "{at}: {error}"),
            Rest::Share(share, _) => panic!("{share} of a reel of {at} bytes"),
        }
    }
    assert!(cut_off >= TRIES / 2);
}

#[test]
fn appended_bytes_give_an_error_or_every_event() {
    let whole = Whole::demo();
    let mut nothing = 0;
    let more = [1, 100, PAGE, 10 * PAGE];
    for more in more {
        let bytes = [&whole.bytes[..], &vec![0; more]].concat();
        match whole.read(&bytes) {
            Rest::Nothing(_) => nothing += 1,
            Rest::Share(share, _) => assert!((share - 1.0).abs() < f64::EPSILON, "{share}"),
        }
    }
    println!(
        "appended bytes: nothing readable {nothing} of {}",
        more.len()
    );
}

#[test]
fn a_zeroed_page_costs_about_half_of_a_small_reel_and_is_named() {
    let whole = Whole::demo();
    let (mut tries, mut nothing, mut unharmed, mut sum) = (0_u32, 0, 0, 0.0);
    for at in whole.places(PAGE) {
        let mut bytes = whole.bytes.clone();
        bytes[at..at + PAGE].fill(0);
        if bytes == whole.bytes {
            continue;
        }
        tries += 1;
        match whole.read(&bytes) {
            Rest::Nothing(_) => nothing += 1,
            Rest::Share(share, is_named) => {
                sum += share;
                let is_whole = (share - 1.0).abs() < f64::EPSILON;
                unharmed += u32::from(is_whole);
                assert!(is_whole || is_named, "{share} without a word, page at {at}");
            }
        }
    }
    let mean = sum / f64::from(tries);
    println!(
        "one page zeroed, {tries} files: mean share of events {mean:.2}, \
         nothing readable {nothing}, every event {unharmed}"
    );
    assert!((0.25..0.75).contains(&mean), "{mean}");
}
