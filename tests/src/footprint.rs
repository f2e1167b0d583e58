//! What processes cost: the most memory and the processor time of each, as the system counts them,
//! looked at while they run. A component that is killed and started again is several processes:
//! their times add up, of their memory the largest counts.
//!
//! It does not estimate: what a process used between the last look and its end is not counted.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often it is looked.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// In which unit the system counts processor time: `USER_HZ`, which is the same on every architecture
/// that control planes run on.
const TICKS_PER_SEC: u64 = 100;

/// What one component has cost.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Footprint {
    /// The most memory that one of its processes had at once, in KiB.
    pub peak_kib: u64,
    /// The processor time of all its processes.
    pub cpu_secs: f64,
    /// How many processes it was.
    pub processes: usize,
}

impl fmt::Display for Footprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            peak_kib,
            cpu_secs,
            processes,
        } = self;
        write!(
            f,
            "{} MiB at most, {cpu_secs:.1} s of processor",
            peak_kib / 1024
        )?;
        if *processes > 1 {
            write!(f, ", {processes} processes")?;
        }
        Ok(())
    }
}

/// A name and a process that has it now.
pub type NamedProcess = (String, u32);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Look {
    peak_kib: u64,
    ticks: u64,
}

/// What is known: by component, then by number and start of the process.
type FootprintTable = BTreeMap<String, BTreeMap<(u32, u64), Look>>;

/// Looks at processes until it is dropped.
#[derive(Debug)]
pub struct Footprints {
    seen: Arc<Mutex<FootprintTable>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Footprints {
    /// Begins; `running` tells each time which processes there are.
    ///
    /// # Errors
    ///
    /// When no thread can be started.
    pub fn start(running: impl Fn() -> Vec<NamedProcess> + Send + 'static) -> io::Result<Self> {
        let (seen, stop) = (
            Arc::<Mutex<FootprintTable>>::default(),
            Arc::<AtomicBool>::default(),
        );
        let thread = std::thread::Builder::new()
            .name("footprints".to_owned())
            .spawn({
                let (seen, stop) = (Arc::clone(&seen), Arc::clone(&stop));
                move || {
                    while !stop.load(Ordering::SeqCst) {
                        for (name, process) in running() {
                            // It may end while it is looked at.
                            if let Some((began, look)) = look(process) {
                                let mut seen = locked(&seen);
                                seen.entry(name).or_default().insert((process, began), look);
                            }
                        }
                        // A counter of the system cannot be awaited.
                        std::thread::sleep(LOOK_EVERY);
                    }
                }
            })?;
        Ok(Self {
            seen,
            stop,
            thread: Some(thread),
        })
    }

    /// What each component has cost up to now, in the order of their names.
    pub fn told(&self) -> BTreeMap<String, Footprint> {
        let seen = locked(&self.seen);
        let sums = seen.iter().map(|(name, processes)| {
            let peak_kib = processes.values().map(|look| look.peak_kib).max();
            let ticks: u64 = processes.values().map(|look| look.ticks).sum();
            let sum = Footprint {
                peak_kib: peak_kib.unwrap_or(0),
                cpu_secs: Duration::from_millis(ticks * 1000 / TICKS_PER_SEC).as_secs_f64(),
                processes: processes.len(),
            };
            (name.clone(), sum)
        });
        sums.collect()
    }
}

impl Drop for Footprints {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            // It does nothing that could fail.
            thread.join().ok();
        }
    }
}

fn locked(seen: &Mutex<FootprintTable>) -> MutexGuard<'_, FootprintTable> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

/// When a process began, in ticks since the system did, and what it has cost.
fn look(process: u32) -> Option<(u64, Look)> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let peak_kib = peak.trim().trim_end_matches(" kB").parse().ok()?;
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program may hold anything, also blanks and brackets.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().map(str::parse::<u64>);
    // Behind the name come the state and ten more, then the two times; six later the beginning.
    let user = fields.nth(11)?.ok()?;
    let system = fields.next()?.ok()?;
    let began = fields.nth(6)?.ok()?;
    let ticks = user + system;
    Some((began, Look { peak_kib, ticks }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_costs_something() {
        let (began, before) = look(std::process::id()).expect("it runs");
        assert!(began > 0, "it began after the system did");
        assert!(before.peak_kib > 500, "{before:?}");
        let mut sum = 0_u64;
        let cost = loop {
            for number in 0..1_000_000_u64 {
                sum = std::hint::black_box(sum.wrapping_add(number));
            }
            let (again, now) = look(std::process::id()).expect("it runs");
            assert_eq!(again, began, "it is the same");
            if now.ticks >= before.ticks + 5 {
                break now;
            }
        };
        // The kernel sums up what each processor counted, some pages late.
        assert!(cost.peak_kib + 1024 >= before.peak_kib, "{cost:?}");
    }

    #[test]
    fn a_component_is_the_sum_of_its_processes() {
        let me = std::process::id();
        let footprints = Footprints::start(move || vec![("me".to_owned(), me)]).expect("a thread");
        let told = loop {
            let told = footprints.told();
            if !told.is_empty() {
                break told;
            }
            std::thread::yield_now();
        };
        assert_eq!(told.get("me").map(|one| one.processes), Some(1), "{told:?}");
        locked(&footprints.seen)
            .entry("me".to_owned())
            .or_default()
            .insert(
                (1, 0),
                Look {
                    peak_kib: u64::MAX / 2,
                    ticks: 1000,
                },
            );
        let sum = footprints.told().remove("me").expect("it is there");
        assert_eq!((sum.processes, sum.peak_kib), (2, u64::MAX / 2), "{sum:?}");
        assert!(sum.cpu_secs >= 10.0, "{sum:?}");
        assert!(sum.to_string().contains("2 processes"), "{sum}");
    }
}
