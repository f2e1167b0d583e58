//! The recorder killed at random moments: every file opens, nothing that was sent to it more than half
//! a second before is lost, and a restart on the same file goes on and marks what lies between. Who follows
//! the reel then ends, and has printed what the file has.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use crate::following::{Follower, NOTICED, asked};
use anyhow::{Context as _, Result, anyhow, ensure};
use kubereel_format::{Note, Reel};
use kubereel_tests::recording::{Account, Recording, settle};
use kubereel_tests::scripted::{Churn, Churning, Kubeconfig, ScriptedCluster};

/// How many kills there are in all.
const CRASHES: &str = "KUBEREEL_CRASHES";
const CRASHES_UNASKED: u32 = 20;

/// How many kills one reel suffers; then comes another, so that reading all of it stays cheap.
const CRASHES_A_REEL: u32 = 25;

/// What a kill may cost, on a machine that does at once what it is asked to.
const LOSS: Duration = Duration::from_millis(500);

/// How many times a byte waits for the machine on its way from the server into the file: to be sent,
/// read, queued and written.
const WAITS: u32 = 4;

/// The longest a recorder lives before it is killed, in milliseconds.
const LIFE_MILLIS: u64 = 1_800;

/// A follower reads the reel at each kill whose number is a multiple of this.
const FOLLOWED: usize = 3;

/// What a follower prints: every change of a resource from the first one on.
const FOLLOW: [&str; 8] = [
    "get",
    "endpoints",
    "-A",
    "--watch",
    "-o",
    "name",
    "--from",
    "start",
];

/// The exit code of an answer about a reel with gaps.
const CHANGES_MAY_BE_MISSING: i32 = 4;

/// How long anything that is sure to come may take on a busy machine.
const SURE: Duration = Duration::from_mins(1);

const STORAGES: [&str; 3] = ["endpoints", "pods", "leases.coordination.k8s.io"];

/// A reel that is written by recorders who are killed.
struct Victim<'a> {
    cluster: &'a ScriptedCluster,
    folder: &'a Path,
    /// The commits, by number, that a kill found safe: they must be in the reel for ever.
    safe: BTreeSet<usize>,
    runs: usize,
    /// Followers that ended with their recorder, and had printed the whole reel.
    followed: usize,
}

impl Victim<'_> {
    fn start(&mut self) -> Result<Recording> {
        self.cluster.forget_sends();
        self.runs += 1;
        let (reel, kubeconfig) = (self.folder.join("run.reel"), self.folder.join("kubeconfig"));
        Recording::start(&reel, &kubeconfig, &[])
    }

    /// Lets a recorder live for so long and kills it; then looks at what it left.
    fn kill_after(&mut self, life: Duration) -> Result<()> {
        let recorder = self.start()?;
        let stalls = Stalls::watch(self.folder)?;
        let log = || recorder.log();
        // The moment of a kill is meant to be any, so that there is nothing to wait for.
        std::thread::sleep(life / 2);
        let reel = recorder.reel().to_owned();
        let follower = if self.runs.is_multiple_of(FOLLOWED) && reel.exists() {
            let name = format!("follower-{}", self.runs);
            Some(Follower::start(self.folder, &name, &FOLLOW)?)
        } else {
            None
        };
        std::thread::sleep(life.saturating_sub(life / 2));
        let said = log();
        let killed = Instant::now();
        recorder.kill()?;
        let commits = self.cluster.committed();
        let loss = LOSS + stalls.worst()? * WAITS;
        let is_safe = |sent: Instant| killed.saturating_duration_since(sent) > loss;
        self.safe.extend(
            commits
                .iter()
                .filter(|commit| commit.first_sent().is_some_and(is_safe))
                .map(|commit| commit.sequence),
        );
        if !reel.exists() {
            ensure!(life < loss, "no file after {life:?}: {said}");
            return Ok(());
        }
        let account = Account::of_required(&reel, self.cluster, &STORAGES, &commits, |commit| {
            self.safe.contains(&commit.sequence)
        })
        .with_context(|| format!("killed after {life:?}: {said}"))?;
        account
            .check()
            .with_context(|| format!("killed after {life:?}: {said}"))?;
        match follower {
            Some(follower) => self.check_follower(follower),
            None => Ok(()),
        }
    }

    /// A follower ends by itself, and has printed what the file has.
    fn check_follower(&mut self, mut follower: Follower) -> Result<()> {
        let status = follower.ended(NOTICED)?;
        let words = follower.complained()?;
        // One that came before the first commit found no reel to follow.
        let is_read = matches!(status.code(), Some(0 | CHANGES_MAY_BE_MISSING));
        ensure!(is_read || words.contains("error: "), "{status}: {words}");
        if is_read {
            let whole = asked(self.folder, &FOLLOW)?.output()?;
            ensure!(
                follower.said()?.as_bytes() == whole.stdout,
                "a follower printed something else: {words}"
            );
            self.followed += 1;
        }
        Ok(())
    }

    /// Lets a last recorder come to its end in order, and accounts for everything.
    fn finish(&mut self, loads: Vec<Churning>) -> Result<Account> {
        let recorder = self.start()?;
        for load in loads {
            load.stop()?;
        }
        for storage in STORAGES {
            settle(self.cluster, storage, SURE).with_context(|| recorder.log())?;
        }
        let reel = recorder.reel().to_owned();
        let ended = recorder.finish(SURE)?;
        ensure!(ended.status.success(), "{}: {}", ended.status, ended.log);
        Account::of(&reel, self.cluster, &STORAGES)?.check()
    }

    /// Every run that came to write is named, and only the last one ended in order.
    fn check_sessions(&self) -> Result<()> {
        let reel = Reel::open(&self.folder.join("run.reel"))?;
        let count = |wanted: fn(&Note) -> bool| {
            let notes = reel.notes().iter();
            notes.filter(|entry| wanted(&entry.note)).count()
        };
        let started = count(|note| matches!(note, Note::SessionStarted { .. }));
        let ended = count(|note| matches!(note, Note::SessionEnded { .. }));
        ensure!(
            started <= self.runs && started > self.runs / 2,
            "{started} of {}",
            self.runs
        );
        ensure!(ended == 1, "{ended} runs ended in order");
        Ok(())
    }
}

/// How long the machine lets a program wait that sleeps and writes: what a busy neighbour costs is no
/// loss of the recorder's.
struct Stalls {
    stop: Arc<AtomicBool>,
    watcher: JoinHandle<std::io::Result<Duration>>,
}

impl Stalls {
    const NAP: Duration = Duration::from_millis(10);

    fn watch(folder: &Path) -> Result<Self> {
        let mut file = File::create(folder.join("stalls"))?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let watcher = Builder::new().name("stalls".to_owned()).spawn(move || {
            let mut worst = Duration::ZERO;
            while !stopped.load(Ordering::Relaxed) {
                let began = Instant::now();
                file.write_all(&[0; 64])?;
                file.sync_data()?;
                std::thread::sleep(Self::NAP);
                worst = worst.max(began.elapsed().saturating_sub(Self::NAP));
            }
            Ok(worst)
        })?;
        Ok(Self { stop, watcher })
    }

    fn worst(self) -> Result<Duration> {
        self.stop.store(true, Ordering::Relaxed);
        let worst = self.watcher.join().map_err(|_panic| anyhow!("a panic"))?;
        Ok(worst?)
    }
}

fn loads(cluster: &ScriptedCluster, seed: u64) -> Result<Vec<Churning>> {
    STORAGES
        .into_iter()
        .zip(seed..)
        .map(|(resource, seed)| {
            cluster.churn(Churn {
                resource: resource.to_owned(),
                per_second: Some(60),
                seed,
                ..Churn::default()
            })
        })
        .collect()
}

/// One reel's life: this many kills, and an end in order.
fn torment(crashes: u32, random: &mut u64) -> Result<()> {
    let cluster = ScriptedCluster::start()?;
    let folder = tempfile::tempdir()?;
    cluster.write_kubeconfig(&folder.path().join("kubeconfig"), &Kubeconfig::Good)?;
    let loads = loads(&cluster, *random)?;
    let mut victim = Victim {
        cluster: &cluster,
        folder: folder.path(),
        safe: BTreeSet::new(),
        runs: 0,
        followed: 0,
    };
    let mut compacted = 0;
    for nth in 1..=crashes {
        *random ^= *random << 13;
        *random ^= *random >> 7;
        *random ^= *random << 17;
        victim.kill_after(Duration::from_millis(*random % LIFE_MILLIS))?;
        if nth % 7 == 0 {
            // What lies between cannot be had any more: it must be declared.
            cluster.compact(cluster.revision());
            compacted += 1;
        }
    }
    let account = victim.finish(loads)?;
    ensure!(account.recorded > 0, "{account:?}");
    ensure!(
        compacted > 0 || account.gaps.is_empty(),
        "needless gaps: {:#?}",
        account.gaps
    );
    ensure!(
        victim.followed > 0 || victim.runs < FOLLOWED * FOLLOWED,
        "no follower in {} runs",
        victim.runs
    );
    victim.check_sessions()
}

#[test]
fn kills_at_random_moments_cost_half_a_second_at_most() -> Result<()> {
    let crashes = match std::env::var(CRASHES) {
        Ok(count) => count
            .parse()
            .with_context(|| format!("{CRASHES}={count}"))?,
        Err(_) => CRASHES_UNASKED,
    };
    let mut random = 0x9e37_79b9_7f4a_7c15;
    let mut left: u32 = crashes;
    while left > 0 {
        let here = left.min(CRASHES_A_REEL);
        torment(here, &mut random)?;
        left -= here;
    }
    Ok(())
}
