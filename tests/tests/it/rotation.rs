//! A long-lived recording in many reels: every change is in one of them, neighbours overlap, each is
//! complete by itself, a kill in the middle of a rotation loses nothing, and only what the series has
//! written itself is removed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use kubereel_format::{NotCoveredReason, Note, Reel, SessionEnd};
use kubereel_tests::recording::{Account, Recording, program};
use kubereel_tests::scripted::{Churn, Churning, Fault, Kubeconfig, On, ScriptedCluster, noise};
use serde_json::Value;
use tempfile::TempDir;

/// How long anything that is sure to come may take on a busy machine.
const SURE: Duration = Duration::from_mins(1);

/// How often the index is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// The storages that are written to.
const STORAGES: [&str; 3] = ["endpoints", "pods", "leases.coordination.k8s.io"];

struct Scene {
    cluster: ScriptedCluster,
    folder: TempDir,
}

/// A reel as the index of the series reports it.
#[derive(Debug)]
struct Row {
    name: String,
    continues: Option<String>,
    overlap: Option<String>,
    ended: Option<String>,
}

impl Scene {
    /// A cluster that bookmarks often, so that overlaps are proven fast.
    fn new() -> Result<Self> {
        let scene = Self {
            cluster: ScriptedCluster::start()?,
            folder: tempfile::tempdir()?,
        };
        scene
            .cluster
            .set(|settings| settings.bookmark_interval = Some(Duration::from_millis(200)));
        scene
            .cluster
            .write_kubeconfig(&scene.folder.path().join("kubeconfig"), &Kubeconfig::Good)?;
        Ok(scene)
    }

    fn record(&self, more: &[&str]) -> Result<Recording> {
        let output = self.path("cluster.reel");
        Recording::start(&output, &self.path("kubeconfig"), more)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn load(&self, seed: u64) -> Result<Vec<Churning>> {
        let loads = STORAGES.into_iter().zip(seed..).map(|(resource, seed)| {
            self.cluster.churn(Churn {
                resource: resource.to_owned(),
                per_second: Some(60),
                seed,
                ..Churn::default()
            })
        });
        loads.collect()
    }

    /// What the index tells, oldest first; nothing before there is one.
    fn rows(&self) -> Result<Vec<Row>> {
        let Ok(text) = std::fs::read(self.path("cluster.series.json")) else {
            return Ok(Vec::new());
        };
        let index: Value = serde_json::from_slice(&text)?;
        let rows = index.pointer("/reels").and_then(Value::as_array);
        let rows = rows.context("rows")?.iter().map(|row| {
            let word = |name: &str| row.get(name).and_then(Value::as_str).map(str::to_owned);
            Ok(Row {
                name: word("name").context("a name")?,
                continues: word("continues"),
                overlap: word("overlap"),
                ended: word("ended"),
            })
        });
        rows.collect()
    }

    fn until(
        &self,
        recording: &Recording,
        what: &str,
        met: impl Fn(&[Row]) -> bool,
    ) -> Result<Vec<Row>> {
        let deadline = Instant::now() + SURE;
        loop {
            let rows = self.rows()?;
            if met(&rows) {
                return Ok(rows);
            }
            let log = recording.log();
            ensure!(Instant::now() < deadline, "no {what}: {rows:#?}\n{log}");
            std::thread::sleep(LOOK);
        }
    }

    /// Waits until Pods are watched, and then for the next reel: it gets no list of Pods, and cannot take over.
    fn next_without_pods(&self, recording: &Recording) -> Result<Vec<Row>> {
        self.cluster
            .wait_for_request("a watch of pods", SURE, |one| {
                one.asked.path == "/api/v1/pods" && one.progress().lines > 0
            })?;
        self.cluster
            .fault(On::path("/api/v1/pods"), Fault::Delay(SURE));
        self.until(recording, "next reel", |rows| rows.len() == 2)
    }

    /// Waits until this many reels more have taken over.
    fn rotated(&self, recording: &Recording, more: usize) -> Result<Vec<Row>> {
        let so_far = taken_over(&self.rows()?);
        self.until(recording, "rotation", |rows| {
            taken_over(rows) >= so_far + more
        })
    }

    /// Each reel is complete, neighbours overlap, and so every change is in one of them.
    fn nothing_is_lost(&self, rows: &[&Row]) -> Result<()> {
        let mut reached: BTreeMap<&str, u128> = BTreeMap::new();
        for (place, row) in rows.iter().enumerate() {
            let path = self.path(&row.name);
            let commits = self.cluster.committed();
            for storage in STORAGES {
                let span = span(&path, storage)?;
                if place > 0 {
                    let before = reached.get(storage).copied().unwrap_or(0);
                    ensure!(
                        before >= span.first_list,
                        "{storage} ends at {before}, {} begins at {}",
                        row.name,
                        span.first_list
                    );
                }
                reached.insert(storage, span.reached);
                let account =
                    Account::of_required(&path, &self.cluster, &[storage], &commits, |commit| {
                        commit.revision <= span.reached
                    });
                let account = account?.check_whole().with_context(|| row.name.clone())?;
                ensure!(account.recorded > 0, "{}: {account:?}", row.name);
            }
            let verified = Command::new(program()?).arg("verify").arg(&path).output()?;
            let said = String::from_utf8_lossy(&verified.stdout).into_owned();
            ensure!(verified.status.success(), "{}: {said}", row.name);
        }
        for storage in STORAGES {
            let commits = self.cluster.committed();
            let last = commits.iter().rfind(|commit| commit.storage == storage);
            let last = last.context("something was written")?.revision;
            let reached = reached.get(storage).copied().unwrap_or(0);
            ensure!(reached >= last, "{storage}: {reached} of {last}");
        }
        Ok(())
    }
}

/// Returns the reels that follow one another: the first, and those that took over.
fn chain(rows: &[Row]) -> Vec<&Row> {
    let rows = rows.iter();
    rows.filter(|row| row.overlap.is_some() || row.continues.is_none())
        .collect()
}

fn taken_over(rows: &[Row]) -> usize {
    rows.iter().filter(|row| row.overlap.is_some()).count()
}

/// From which list to which version a reel is complete.
#[derive(Debug)]
struct Span {
    first_list: u128,
    reached: u128,
}

fn span(path: &Path, storage: &str) -> Result<Span> {
    let reel = Reel::open(path)?;
    let mut resource = None;
    let mut connections = Vec::new();
    let (mut first_list, mut reached) = (None, 0);
    for entry in reel.notes() {
        match &entry.note {
            Note::Resource(info) if info.qualified() == storage => resource = Some(info.id),
            Note::Connected {
                connection,
                resource: of,
                ..
            } if Some(*of) == resource => connections.push(*connection),
            Note::Synced {
                resource: of, rv, ..
            } if Some(*of) == resource => {
                let rv: u128 = rv.parse()?;
                first_list.get_or_insert(rv);
                reached = reached.max(rv);
            }
            Note::Bookmark { connection, rv } if connections.contains(connection) => {
                reached = reached.max(rv.parse()?);
            }
            Note::Disconnected {
                connection,
                last_rv: Some(rv),
                ..
            } if connections.contains(connection) && first_list.is_some() => {
                reached = reached.max(rv.parse()?);
            }
            _ => {}
        }
    }
    let first_list = first_list.with_context(|| format!("no list of {storage}"))?;
    Ok(Span {
        first_list,
        reached,
    })
}

fn labels(path: &Path) -> Result<BTreeMap<String, String>> {
    let reel = Reel::open(path)?;
    let labels = reel.notes().iter().filter_map(|entry| match &entry.note {
        Note::Label { name, value } => Some((name.clone(), value.clone())),
        _ => None,
    });
    Ok(labels.collect())
}

fn reels(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if Path::new(&name)
            .extension()
            .is_some_and(|ending| ending == "reel")
        {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

#[test]
fn every_change_is_in_a_reel_and_neighbours_overlap() -> Result<()> {
    let scene = Scene::new()?;
    let loads = scene.load(1)?;
    let recording = scene.record(&["--rotate", "2s"])?;
    scene.rotated(&recording, 2)?;
    for load in loads {
        load.stop()?;
    }
    // The reel of the moment may not have everything yet; the one that follows lists it, and the one
    // before is proven to have come so far.
    scene.rotated(&recording, 2)?;
    let ended = recording.finish(SURE)?;
    ensure!(ended.status.success(), "{}", ended.log);
    let rows = scene.rows()?;
    let taken = chain(&rows);
    ensure!(taken.len() >= 5, "{rows:#?}");
    scene.nothing_is_lost(&taken)?;
    let mut before: Option<&Row> = None;
    for row in &taken {
        let labels = labels(&scene.path(&row.name))?;
        let label = |name: &str| labels.get(name).map(String::as_str);
        ensure!(label("series") == Some("cluster"), "{labels:?}");
        ensure!(label("continues") == row.continues.as_deref(), "{labels:?}");
        ensure!(label("overlap") == row.overlap.as_deref(), "{labels:?}");
        ensure!(row.ended.as_deref() == Some("finished"), "{row:?}");
        if let Some(before) = before {
            ensure!(row.continues.as_ref() == Some(&before.name), "{row:?}");
            let overlap = row.overlap.as_deref().unwrap_or_default();
            // Events get no bookmarks, and none was written.
            let is_proven = !overlap.contains("not listed")
                && STORAGES.iter().all(|storage| !overlap.contains(storage));
            ensure!(overlap.starts_with("proven for ") && is_proven, "{overlap}");
        }
        before = Some(row);
    }
    Ok(())
}

#[test]
fn a_kill_in_the_middle_of_a_rotation_loses_nothing() -> Result<()> {
    let scene = Scene::new()?;
    let loads = scene.load(7)?;
    let recording = scene.record(&["--rotate", "1s"])?;
    let rows = scene.next_without_pods(&recording)?;
    let next = scene.path(&rows.last().context("the next")?.name);
    scene
        .cluster
        .wait_until("lists of the next", SURE, |cluster| {
            (cluster.requests_to("/api/v1/endpoints").len() >= 2).then_some(())
        })?;
    recording.kill()?;
    for row in &rows {
        Reel::open(&scene.path(&row.name)).with_context(|| row.name.clone())?;
    }
    scene.cluster.lift_all();
    let recording = scene.record(&["--rotate", "1s"])?;
    let rows = scene.rotated(&recording, 1)?;
    for load in loads {
        load.stop()?;
    }
    scene.rotated(&recording, 2)?;
    let ended = recording.finish(SURE)?;
    ensure!(ended.status.success(), "{}", ended.log);
    let given_up = rows.get(1).context("the reel that was given up")?;
    ensure!(scene.path(&given_up.name) == next, "{rows:#?}");
    ensure!(given_up.ended.as_deref() == Some("killed"), "{rows:#?}");
    ensure!(given_up.overlap.is_none(), "{rows:#?}");
    let first = rows.first().context("the first")?;
    ensure!(
        rows.get(2).context("the third")?.continues.as_ref() == Some(&first.name),
        "{rows:#?}"
    );
    let rows = scene.rows()?;
    scene.nothing_is_lost(&chain(&rows))?;
    let reel = Reel::open(&scene.path(&first.name))?;
    let ends = reel.notes().iter().filter(|entry| {
        let finished = SessionEnd::Finished;
        matches!(&entry.note, Note::SessionEnded { end, .. } if *end == finished)
    });
    ensure!(ends.count() == 1, "it was resumed, and ended in order");
    Ok(())
}

#[test]
fn a_reel_that_is_due_when_it_is_resumed_is_brought_up_to_date_first() -> Result<()> {
    let scene = Scene::new()?;
    let loads = scene.load(11)?;
    let recording = scene.record(&["--rotate", "1h"])?;
    scene.until(&recording, "reel", |rows| !rows.is_empty())?;
    // Beyond the first list.
    for path in ["/api/v1/endpoints", "/api/v1/pods"] {
        scene.cluster.wait_for_request("a watch", SURE, |one| {
            one.asked.path == path && one.progress().lines > 100
        })?;
    }
    recording.kill()?;
    let killed_at = scene.cluster.revision();
    while scene.cluster.revision() < killed_at + 50 {
        std::thread::sleep(LOOK);
    }
    for load in loads {
        load.stop()?;
    }
    // What came meanwhile arrives late; the next reel would list at once.
    scene.cluster.fault(
        On::watch("/api/v1/pods").once(),
        Fault::Delay(Duration::from_secs(3)),
    );
    let recording = scene.record(&["--rotate", "1s"])?;
    scene.rotated(&recording, 2)?;
    let ended = recording.finish(SURE)?;
    ensure!(ended.status.success(), "{}", ended.log);
    let rows = scene.rows()?;
    scene.nothing_is_lost(&chain(&rows))
}

#[test]
fn a_reel_that_fills_is_followed_before_anything_is_left_out() -> Result<()> {
    const EVERY_SECS: u64 = 40;
    let scene = Scene::new()?;
    let every = format!("{EVERY_SECS}s");
    let recording = scene.record(&["--rotate", &every, "--max-size", "8MB"])?;
    scene.until(&recording, "reel", |rows| !rows.is_empty())?;
    let began = Instant::now();
    let mut seed = 0;
    while scene.rows()?.len() < 2 {
        seed += 1;
        let members = format!(r#""data":{{"n":"{}"}}"#, noise(seed, 100_000));
        scene
            .cluster
            .put("endpoints", "default", "noise", &members)?;
        let log = recording.log();
        ensure!(began.elapsed() < SURE, "{seed} objects, one reel: {log}");
        // The pace of a cluster that fills a reel fast, and no faster than another can begin.
        std::thread::sleep(LOOK * 10);
    }
    scene.rotated(&recording, 1)?;
    let took = began.elapsed();
    let ended = recording.finish(SURE)?;
    ensure!(ended.status.success(), "{}", ended.log);
    ensure!(took < Duration::from_secs(EVERY_SECS), "{took:?}");
    for row in scene.rows()? {
        let reel = Reel::open(&scene.path(&row.name))?;
        let left_out = reel.notes().iter().find(|entry| {
            let wanted = NotCoveredReason::SizeBudget;
            matches!(&entry.note, Note::NotCovered { reason, .. } if *reason == wanted)
        });
        ensure!(left_out.is_none(), "{}: {left_out:?}", row.name);
    }
    Ok(())
}

#[test]
fn only_its_own_old_reels_are_removed() -> Result<()> {
    let scene = Scene::new()?;
    let foreign = "cluster-20200101T000000Z.reel";
    std::fs::write(scene.path(foreign), "of somebody else")?;
    let recording = scene.record(&["--rotate", "1s", "--keep", "1"])?;
    let rows = scene.until(&recording, "reel", |rows| !rows.is_empty())?;
    let first = rows.first().context("the first")?.name.clone();
    scene.until(&recording, "removal", |rows| {
        rows.iter().all(|row| row.name != first)
    })?;
    let ended = recording.finish(SURE)?;
    ensure!(ended.status.success(), "{}", ended.log);
    let rows = scene.rows()?;
    // The current one, which has ended, too, and the one that is kept besides it.
    ensure!(chain(&rows).len() == 2, "{rows:#?}");
    let mut expected: Vec<String> = rows.iter().map(|row| row.name.clone()).collect();
    expected.insert(0, foreign.to_owned());
    ensure!(reels(scene.folder.path())? == expected, "{rows:#?}");
    ensure!(std::fs::read_to_string(scene.path(foreign))? == "of somebody else");
    Ok(())
}

#[test]
fn a_series_that_ends_during_an_overlap_keeps_the_reel_that_has_everything() -> Result<()> {
    let scene = Scene::new()?;
    let recording = scene.record(&["--rotate", "3s", "--keep", "1"])?;
    let rows = scene.next_without_pods(&recording)?;
    let names: Vec<String> = rows.into_iter().map(|row| row.name).collect();
    let ended = recording.finish(SURE)?;
    ensure!(ended.status.success(), "{}", ended.log);
    let rows = scene.rows()?;
    ensure!(chain(&rows).len() == 1, "{rows:#?}");
    ensure!(reels(scene.folder.path())? == names, "{rows:#?}");
    let current = names.first().context("the current reel")?;
    let hint = format!("open=\"kubereel {}\"", scene.path(current).display());
    ensure!(ended.log.contains(&hint), "{hint}: {}", ended.log);
    Ok(())
}
