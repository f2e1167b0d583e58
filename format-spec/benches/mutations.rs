//! Damages reels at random and reads what is left, by the hundred thousand: no panic, no hang, no wrong byte that is
//! presented as right, no loss without a word, memory within a bound; and the mean share that is still read.
//!
//! `cargo bench -p kubereel-format --bench mutations -- [--mutations N] [--secs S] [--state FILE] [FILE.reel…]`
//!
//! What mutation number n is, n alone decides, apart from the numbers that are drawn for each recording: a failure is
//! repeated with `--only n`. With `--state` a run that was
//! ended by `--secs` continues where it was; the table is of all runs. Without files the demo's reel is damaged, and
//! a reel of a few objects that change often; each of them as it was finished, as a killed recorder left it, and
//! sealed.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::as_conversions,
    clippy::indexing_slicing,
    reason = "it prints, and stops at the first surprise"
)]

use kubereel_format::{
    Appender, BlobNote, BodyBuffer, Bounds, DocumentKind, EventHead, Note, Reel, SealDensity, Seq,
    panic_is_caught, recover, seal,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The unit in which the database stores, checks and loses.
const PAGE: usize = 4096;

/// What reading one damaged reel may take.
const MOST_TIME: Duration = Duration::from_mins(1);

/// What the process may take, in KiB: reels of a megabyte at most, and what a reader keeps.
const MOST_MEMORY_KIB: u64 = 512 * 1024;

/// After how many mutations the state is written.
const SAVE_EVERY: u64 = 200;

fn main() {
    let arguments = Arguments::read();
    quiet_caught_panics();
    let folder = tempfile::tempdir().unwrap();
    let reels = WholeReel::all(folder.path(), &arguments.reels);
    let watch = HangWatch::begin();
    if let Some(only) = arguments.only {
        let (class, share) = try_mutation(&reels, only, folder.path(), &watch);
        println!("mutation {only}: {class:?}: {share:.3} of the events are read");
        return;
    }
    let mut tally = Tally::load(arguments.state.as_deref());
    let began = Instant::now();
    while tally.done < arguments.mutations && began.elapsed() < arguments.time {
        let number = tally.done;
        let (row, share) = try_mutation(&reels, number, folder.path(), &watch);
        tally.take(row, share);
        if tally.done.is_multiple_of(SAVE_EVERY) {
            tally.save(arguments.state.as_deref());
        }
    }
    tally.peak_kib = tally.peak_kib.max(peak_kib());
    tally.save(arguments.state.as_deref());
    tally.print();
    assert!(
        tally.peak_kib <= MOST_MEMORY_KIB,
        "memory is not bounded: {} KiB",
        tally.peak_kib
    );
}

struct Arguments {
    mutations: u64,
    time: Duration,
    state: Option<PathBuf>,
    only: Option<u64>,
    reels: Vec<PathBuf>,
}

impl Arguments {
    fn read() -> Self {
        let mut read = Self {
            mutations: 2_000,
            time: Duration::from_hours(24),
            state: None,
            only: None,
            reels: Vec::new(),
        };
        let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
        while let Some(word) = words.next() {
            let mut value = || words.next().unwrap_or_else(|| panic!("{word}: a value"));
            match word.as_str() {
                "--mutations" => read.mutations = value().parse().unwrap(),
                "--secs" => read.time = Duration::from_secs(value().parse().unwrap()),
                "--state" => read.state = Some(value().into()),
                "--only" => read.only = Some(value().parse().unwrap()),
                _ => read.reels.push(word.into()),
            }
        }
        read
    }
}

/// The database panics on some damage; that becomes an error, and needs no trace.
fn quiet_caught_panics() {
    let loud = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !panic_is_caught() {
            loud(panic);
        }
    }));
}

/// Ends the program if one reading takes too long: a loop without an end cannot be ended otherwise.
struct HangWatch {
    number: Arc<AtomicU64>,
}

impl HangWatch {
    fn begin() -> Self {
        let number = Arc::new(AtomicU64::new(u64::MAX));
        let seen = Arc::clone(&number);
        let thread = std::thread::Builder::new().name("hang-watch".to_owned());
        let watching = thread.spawn(move || {
            let (mut last, mut since) = (u64::MAX, Duration::ZERO);
            loop {
                std::thread::sleep(Duration::from_secs(1));
                let now = main_thread_cpu();
                let number = seen.load(Ordering::Relaxed);
                if number != last {
                    (last, since) = (number, now);
                }
                if number != u64::MAX && now.saturating_sub(since) > MOST_TIME {
                    println!(
                        "HANG: mutation {number} takes more than {MOST_TIME:?} of a processor"
                    );
                    std::process::abort();
                }
            }
        });
        watching.unwrap();
        Self { number }
    }

    fn set(&self, number: u64) {
        self.number.store(number, Ordering::Relaxed);
    }

    fn clear(&self) {
        self.set(u64::MAX);
    }
}

/// The time of the thread that reads on a processor: a busy machine is not a hang.
fn main_thread_cpu() -> Duration {
    let line = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanos = line.split(' ').next().and_then(|nanos| nanos.parse().ok());
    Duration::from_nanos(nanos.unwrap_or(0))
}

/// The identity of an event, at any place in a reel.
struct Truth {
    head: EventHead,
    key: [String; 3],
    body: Vec<u8>,
}

/// A reel and its contents.
struct WholeReel {
    form: Form,
    bytes: Vec<u8>,
    events: BTreeMap<Seq, Truth>,
}

/// How a reel was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Form {
    Finished,
    Killed,
    Sealed,
}

const FORMS: [Form; 3] = [Form::Finished, Form::Killed, Form::Sealed];

impl WholeReel {
    fn all(folder: &Path, named: &[PathBuf]) -> Vec<Self> {
        let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata");
        let mut sources = named.to_vec();
        if sources.is_empty() {
            // The small one is damaged more often than the large one: its reading costs less.
            sources.push(testdata.join("formats/0.5.reel"));
            sources.push(testdata.join("demo.reel"));
        }
        let mut reels = Vec::new();
        for source in &sources {
            for form in FORMS {
                let path = folder.join("whole.reel");
                // As this version of the format writes it.
                let old = Reel::open(source).unwrap();
                match form {
                    Form::Finished => drop(recover(&old, &path, |_| {}).unwrap()),
                    Form::Sealed => drop(seal(&old, &path, SealDensity::Usual, |_| {}).unwrap()),
                    Form::Killed => write_killed(&old, &path),
                }
                reels.push(Self::of(&path, form));
                std::fs::remove_file(&path).unwrap();
            }
        }
        reels
    }

    fn of(path: &Path, form: Form) -> Self {
        let reel = Reel::open(path).unwrap();
        assert_eq!(reel.damage(), []);
        let events = reel.scan().map(|event| {
            let event = event.unwrap();
            let truth = Truth {
                key: key_of(&reel, &event.head).unwrap(),
                head: event.head,
                body: event.body.to_vec(),
            };
            (truth.head.seq, truth)
        });
        Self {
            form,
            events: events.collect(),
            bytes: std::fs::read(path).unwrap(),
        }
    }

    /// Reads changed bytes as an export does, and gives the share of the events that are there. An event that is not
    /// one of this reel, bytes that differ and a loss without a word are errors.
    fn read(&self, reel: &Reel) -> Result<f64, String> {
        let mut found = 0_usize;
        let mut failed = 0_usize;
        let mut last = None;
        for event in reel.scan() {
            let Ok(event) = event else {
                failed += 1;
                continue;
            };
            let seq = event.head.seq;
            if last >= Some(seq) {
                return Err(format!("{seq} comes twice"));
            }
            last = Some(seq);
            let Some(truth) = self.events.get(&seq) else {
                return Err(format!("{seq} is not an event"));
            };
            if *truth.body != *event.body {
                return Err(format!("wrong bytes in event {seq}"));
            }
            let facts = |head: &EventHead| {
                (
                    head.stamp,
                    head.kind,
                    head.evidence,
                    head.connection,
                    head.resource_version.clone(),
                )
            };
            if facts(&truth.head) != facts(&event.head) {
                return Err(format!("another event: {:?} {:?}", truth.head, event.head));
            }
            // The name of an object can be lost, and is empty then.
            let key = key_of(reel, &event.head);
            let key = key.filter(|key| !key.iter().all(String::is_empty));
            if key.as_ref().is_some_and(|key| *key != truth.key) {
                return Err(format!("event {seq} of another object: {key:?}"));
            }
            found += 1;
        }
        let some: Vec<Seq> = self.events.keys().copied().step_by(16).collect();
        let bodies = reel.gather(&some, None, &mut |_| {});
        let mut buffer = BodyBuffer::default();
        for seq in some {
            if bodies
                .body(seq, &mut buffer)
                .is_ok_and(|body| self.events[&seq].body != body)
            {
                return Err(format!("wrong bytes in event {seq}, read as one of many"));
            }
        }
        let is_named = reel.has_losses() || failed > 0;
        // The database of a killed recorder's reel goes back to the commit before: the reel ends earlier, and it never
        // said where it ends.
        let end = reel.end();
        let is_earlier = self.form == Form::Killed
            && self.events.range(..end).count() == found
            && !reel.is_finished();
        if found < self.events.len() && !is_named && !is_earlier {
            return Err(format!("a loss without a word: {found} events, end {end}"));
        }
        Ok(found as f64 / self.events.len() as f64)
    }
}

fn key_of(reel: &Reel, head: &EventHead) -> Option<[String; 3]> {
    let key = reel.key(head.object)?;
    Some([
        key.namespace.to_owned(),
        key.name.to_owned(),
        key.uid.text().into_owned(),
    ])
}

/// Writes the records of a reel as a recorder does that is killed, and that was resumed once before.
fn write_killed(old: &Reel, path: &Path) {
    let work = path.with_extension("work");
    let mut appender = Appender::create_within(&work, Bounds::default()).unwrap();
    let mut notes = old.notes().iter().peekable();
    let all = old.end().0;
    let append_note = |appender: &mut Appender, entry: &kubereel_format::NoteEntry| {
        let text = |blobs: &[kubereel_format::BlobId]| -> Vec<u8> {
            let texts = blobs.iter().map(|blob| old.blob(*blob).unwrap().to_vec());
            texts.collect::<Vec<_>>().concat()
        };
        match &entry.note {
            Note::Document { kind, path, blobs } => {
                let note = BlobNote::Document {
                    kind: DocumentKind::clone(kind),
                    path: path.clone(),
                };
                let text = text(blobs);
                appender.append_blob_note(entry.stamp, note, &text).unwrap();
            }
            Note::OddLine {
                connection,
                problem,
                len,
                blobs,
            } => {
                let note = BlobNote::OddLine {
                    connection: *connection,
                    problem: *problem,
                    len: *len,
                };
                let text = text(blobs);
                appender.append_blob_note(entry.stamp, note, &text).unwrap();
            }
            note => drop(appender.append_note(entry.stamp, note.clone()).unwrap()),
        }
    };
    for event in old.scan() {
        let event = event.unwrap();
        while let Some(note) = notes.next_if(|note| note.seq < event.head.seq) {
            append_note(&mut appender, note);
        }
        let key = old.key(event.head.object).unwrap();
        let uid = key.uid.text();
        appender.append_event(&event.copy(key, &uid)).unwrap();
        if event.head.seq.0 % 61 == 0 {
            appender.commit().unwrap();
        }
        if event.head.seq.0 == all / 2 {
            appender.commit().unwrap();
            drop(appender);
            appender = Appender::resume(&work).unwrap();
        }
    }
    for note in notes {
        append_note(&mut appender, note);
    }
    appender.commit().unwrap();
    std::fs::copy(&work, path).unwrap();
    drop(appender);
    std::fs::remove_file(&work).unwrap();
}

/// A way to damage a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    OneBit,
    SixteenBits,
    OneZeroedPage,
    TenZeroedPages,
    CensoredRun,
    RandomRun,
    CutEnd,
    CutBeginning,
    BytesInFront,
    BytesBehind,
    CutOutMiddle,
    InsertedMiddle,
    SwappedPages,
    RepeatedPages,
    SplicedWithOther,
    PagesOfOther,
}

const CLASSES: [(Class, &str); 16] = [
    (Class::OneBit, "one bit flipped"),
    (Class::SixteenBits, "16 bits flipped, all over the file"),
    (Class::OneZeroedPage, "one page (4 KiB) of zeros"),
    (Class::TenZeroedPages, "ten pages of zeros in a row"),
    (Class::CensoredRun, "1 to 4,096 bytes censored with X"),
    (Class::RandomRun, "1 to 4,096 random bytes written over"),
    (Class::CutEnd, "the end cut off, anywhere"),
    (Class::CutBeginning, "the beginning cut off, up to 8 pages"),
    (Class::BytesInFront, "1 to 4,096 bytes put in front"),
    (Class::BytesBehind, "1 to 4,096 bytes appended"),
    (Class::CutOutMiddle, "1 to 40,960 bytes cut out"),
    (Class::InsertedMiddle, "1 to 40,960 bytes inserted"),
    (Class::SwappedPages, "two pages swapped"),
    (Class::RepeatedPages, "a run of pages over another place"),
    (
        Class::SplicedWithOther,
        "the end replaced by that of another reel",
    ),
    (
        Class::PagesOfOther,
        "ten pages of another reel written over",
    ),
];

/// Numbers that a seed alone decides.
struct Draw(u64);

impl Draw {
    fn of(number: u64) -> Self {
        // Neighbours are to differ: splitmix64.
        let mut seed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
        seed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        seed = (seed ^ (seed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self((seed ^ (seed >> 31)) | 1)
    }

    fn number(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.number() % u64::try_from(bound.max(1)).unwrap()).unwrap()
    }

    fn range(&mut self, len: usize, longest: usize) -> std::ops::Range<usize> {
        let count = 1 + self.below(longest.min(len));
        let at = self.below(len - count + 1);
        at..at + count
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        std::iter::repeat_with(|| self.number().to_le_bytes()[3])
            .take(count)
            .collect()
    }
}

fn is_of_two(class: Class) -> bool {
    matches!(class, Class::SplicedWithOther | Class::PagesOfOther)
}

fn damage(class: Class, bytes: &mut Vec<u8>, other: &[u8], draw: &mut Draw) {
    let len = bytes.len();
    let page = |draw: &mut Draw| draw.below(len / PAGE) * PAGE;
    match class {
        Class::OneBit => bytes[draw.below(len)] ^= 1 << draw.below(8),
        Class::SixteenBits => {
            for _ in 0..16 {
                bytes[draw.below(len)] ^= 1 << draw.below(8);
            }
        }
        Class::OneZeroedPage => {
            let at = page(draw);
            bytes[at..at + PAGE].fill(0);
        }
        Class::TenZeroedPages => {
            let at = page(draw);
            bytes[at..len.min(at + 10 * PAGE)].fill(0);
        }
        Class::CensoredRun => {
            let range = draw.range(len, PAGE);
            bytes[range].fill(b'X');
        }
        Class::RandomRun => {
            let range = draw.range(len, PAGE);
            let noise = draw.bytes(range.len());
            bytes[range].copy_from_slice(&noise);
        }
        Class::CutEnd => bytes.truncate(draw.below(len)),
        Class::CutBeginning => drop(bytes.drain(..=draw.below(8 * PAGE))),
        Class::BytesInFront => {
            let count = 1 + draw.below(PAGE);
            let noise = draw.bytes(count);
            bytes.splice(0..0, noise);
        }
        Class::BytesBehind => {
            let count = 1 + draw.below(PAGE);
            let noise = draw.bytes(count);
            bytes.extend(noise);
        }
        Class::CutOutMiddle => {
            let range = draw.range(len, 10 * PAGE);
            bytes.drain(range);
        }
        Class::InsertedMiddle => {
            let range = draw.range(len, 10 * PAGE);
            let noise = draw.bytes(range.len());
            bytes.splice(range.start..range.start, noise);
        }
        Class::SwappedPages => {
            let (one, two) = (page(draw), page(draw));
            for at in 0..PAGE {
                bytes.swap(one + at, two + at);
            }
        }
        Class::RepeatedPages => {
            let count = (1 + draw.below(16)) * PAGE;
            let (from, to) = (page(draw), page(draw));
            let copy = bytes[from..len.min(from + count)].to_vec();
            let end = len.min(to + copy.len());
            bytes[to..end].copy_from_slice(&copy[..end - to]);
        }
        Class::SplicedWithOther => {
            let at = draw.below(len.min(other.len()));
            bytes.truncate(at);
            bytes.extend_from_slice(&other[at..]);
        }
        Class::PagesOfOther => {
            let at = page(draw);
            let from = draw.below(other.len() / PAGE) * PAGE;
            let count = (10 * PAGE).min(len - at).min(other.len() - from);
            bytes[at..at + count].copy_from_slice(&other[from..from + count]);
        }
    }
}

/// A row of the table, by form and class.
type Row = (usize, usize);

/// Damages a reel in the way that a number names, and reads it.
fn try_mutation(reels: &[WholeReel], number: u64, folder: &Path, watch: &HangWatch) -> (Row, f64) {
    let mut draw = Draw::of(number);
    let class = draw.below(CLASSES.len());
    // The reels of a source follow one another, the small ones first: they are drawn four times as often.
    let sources = reels.len() / FORMS.len();
    let source = if draw.below(5) == 0 {
        draw.below(sources)
    } else {
        0
    };
    let form = draw.below(FORMS.len());
    let reel = &reels[source * FORMS.len() + form];
    let other =
        &reels[(source * FORMS.len() + form + 1 + draw.below(reels.len() - 1)) % reels.len()];
    let mut bytes = reel.bytes.clone();
    damage(CLASSES[class].0, &mut bytes, &other.bytes, &mut draw);
    let path = folder.join("hurt.reel");
    std::fs::write(&path, &bytes).unwrap();
    watch.set(number);
    let share = match Reel::open(&path) {
        Err(_) => Ok(0.0),
        Ok(opened) => match reel.read(&opened) {
            // Where two recordings are in one file, that of which more is there is read, and never a mixture.
            Err(why) if is_of_two(CLASSES[class].0) => other.read(&opened).map_err(|_neither| why),
            read => read,
        },
    };
    watch.clear();
    let words = CLASSES[class].1;
    let share =
        share.unwrap_or_else(|why| panic!("mutation {number}: {:?}: {words}: {why}", reel.form));
    ((form, class), share)
}

/// What was found so far.
#[derive(Default)]
struct Tally {
    done: u64,
    peak_kib: u64,
    rows: BTreeMap<Row, RowTally>,
}

#[derive(Clone, Copy, Default)]
struct RowTally {
    count: u64,
    sum: f64,
    whole: u64,
    nothing: u64,
}

impl Tally {
    fn take(&mut self, row: Row, share: f64) {
        self.done += 1;
        let tally = self.rows.entry(row).or_default();
        tally.count += 1;
        tally.sum += share;
        tally.whole += u64::from(share >= 1.0);
        tally.nothing += u64::from(share <= 0.0);
    }

    /// Reads what earlier runs found; a line a row.
    fn load(state: Option<&Path>) -> Self {
        let mut read = Self::default();
        let text = state.and_then(|path| std::fs::read_to_string(path).ok());
        for line in text.unwrap_or_default().lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                ["done", done, "peak", peak] => {
                    read.done = done.parse().unwrap();
                    read.peak_kib = peak.parse().unwrap();
                }
                [form, class, count, sum, whole, nothing] => {
                    let row = (form.parse().unwrap(), class.parse().unwrap());
                    let tally = RowTally {
                        count: count.parse().unwrap(),
                        sum: sum.parse().unwrap(),
                        whole: whole.parse().unwrap(),
                        nothing: nothing.parse().unwrap(),
                    };
                    read.rows.insert(row, tally);
                }
                _ => panic!("a line of another program: {line}"),
            }
        }
        read
    }

    fn save(&self, state: Option<&Path>) {
        let Some(path) = state else {
            return;
        };
        let mut text = format!(
            "done {} peak {}\n",
            self.done,
            self.peak_kib.max(peak_kib())
        );
        for ((form, class), row) in &self.rows {
            let RowTally {
                count,
                sum,
                whole,
                nothing,
            } = row;
            text.extend([format!("{form} {class} {count} {sum} {whole} {nothing}\n")]);
        }
        let fresh = path.with_extension("new");
        std::fs::write(&fresh, text).unwrap();
        std::fs::rename(&fresh, path).unwrap();
    }

    fn print(&self) {
        println!(
            "{} mutations: 0 panics, 0 hangs, 0 wrong bytes, 0 losses without a word; {} MiB at most\n",
            self.done,
            self.peak_kib / 1024
        );
        println!("| damage | finished | killed recorder's | sealed |");
        println!("|---|---|---|---|");
        for (class, (_, words)) in CLASSES.iter().enumerate() {
            let cells = (0..FORMS.len()).map(|form| {
                let row = self.rows.get(&(form, class)).copied().unwrap_or_default();
                if row.count == 0 {
                    return "-".to_owned();
                }
                let count = row.count as f64;
                format!(
                    "{:.3} ({:.0} % all, {:.0} % nothing, of {})",
                    row.sum / count,
                    row.whole as f64 * 100.0 / count,
                    row.nothing as f64 * 100.0 / count,
                    row.count
                )
            });
            println!("| {words} | {} |", cells.collect::<Vec<_>>().join(" | "));
        }
    }
}

/// The most memory that this process had at once.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok())
        .unwrap_or(0)
}
