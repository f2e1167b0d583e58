//! `kubereel observe` as a CI job runs it: kubeconfigs that come late or never, a proxy that comes later,
//! signals, marks, the files that others read. Against the scripted server, and a real control plane.
//!
//! A job's own credentials: kubeconfigs that are cut or damaged, and everything that the observer then
//! says, in every file and on its page.
//!
//! Kubeconfigs that come late, broken, one after the other or never; a proxy that comes later.
//!
//! Signals, at good times and bad ones; what cannot be written; a kill.
//!
//! The files that others read: labels and nothing else of the environment, the digest, JUnit by its
//! schema, two observers in one folder.
//!
//! Marks, by a file and by the status page, of both commands that record.
//!
//! A cluster behind a proxy: its settings appear after the kubeconfig, and change while it is recorded.
//!
//! Counters of the API server over time, of the real one too.

use anyhow::{Context as _, Result, ensure};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use kubereel_format::{Lifecycle, Note, Reel, SessionEnd, copy_in_use};
use kubereel_history::{CounterMove, Timeline};
use kubereel_tests::control_plane::{ControlPlane, skipped};
use kubereel_tests::proxy::ConnectProxy;
use kubereel_tests::recording::{Account, Observed, Observing, Page, Recording, program, settle};
use kubereel_tests::scripted::{Canned, Fault, Kubeconfig, On, ScriptedCluster};
use kubereel_tests::skipped::say_skipped;
use planted_kubeconfigs::{Planted, damages, leaked, planted};
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};
use tempfile::TempDir;

mod lens;
mod planted;

/// How long anything that is sure to come may take on a busy machine.
const SURE: Duration = Duration::from_mins(1);

const ENDPOINTS: &str = "/api/v1/endpoints";

/// A cluster that a job brings up, and the folders of the job's pod.
struct Job {
    cluster: ScriptedCluster,
    folder: TempDir,
}

impl Job {
    fn new() -> Result<Self> {
        let job = Self {
            cluster: ScriptedCluster::start()?,
            folder: tempfile::tempdir()?,
        };
        job.cluster
            .put("endpoints", "default", "written", r#""data":{"n":"0"}"#)?;
        std::fs::create_dir(job.mount())?;
        Ok(job)
    }

    /// Where the job's Secret is seen.
    fn mount(&self) -> PathBuf {
        self.folder.path().join("mount")
    }

    fn minimal(&self) -> PathBuf {
        self.mount().join("kubeconfig-minimal")
    }

    fn full(&self) -> PathBuf {
        self.mount().join("kubeconfig")
    }

    fn deliver(&self, path: &Path, what: &Kubeconfig) -> Result<()> {
        self.cluster.write_kubeconfig(path, what)
    }

    fn output(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    /// Starts an observer with the variables of a job.
    fn observe(&self, more: &[&str]) -> Result<Observing> {
        self.observe_with(&[], more)
    }

    fn observe_with(&self, variables: &[(&str, &str)], more: &[&str]) -> Result<Observing> {
        let minimal = self.minimal();
        let minimal = minimal.to_str().context("a path in letters")?;
        let mut all = vec![("KUBECONFIGMINIMAL", minimal)];
        all.extend(variables);
        Observing::start(&self.output(), &all, more)
    }

    /// Waits until endpoints are watched and their first list was sent.
    fn await_live(&self, observing: &Observing) -> Result<()> {
        let live = self.cluster.wait_live(ENDPOINTS, SURE);
        live.with_context(|| observing.log())
    }

    /// Waits until the observer says that the cluster answers.
    fn await_reached(observing: &Observing) -> Result<()> {
        observing.until_said("the cluster answers", SURE)
    }

    fn write(&self, number: u32) -> Result<u128> {
        let members = format!(r#""data":{{"n":"{number}"}}"#);
        self.cluster
            .put("endpoints", "default", "written", &members)
    }
}

#[path = "../../../recorder/src/lifecycle/planted.rs"]
#[expect(clippy::indexing_slicing, reason = "what helps a test may fail it")]
mod planted_kubeconfigs;

/// How many observers run at once.
const AT_ONCE: usize = 6;

/// How many cuts of each kubeconfig are tried; the recorder's own tests try all.
const CUTS: usize = 2;

/// By which words it is known that the kubeconfig was looked at, and what it names was asked.
const LOOKED: [&str; 3] = ["cannot be used", "does not answer", "the cluster answers"];

/// One file to try.
struct Try {
    kubeconfig: usize,
    damage: String,
    text: Vec<u8>,
}

fn tries(all: &[Planted]) -> Vec<Try> {
    let mut tries = Vec::new();
    for (kubeconfig, planted) in all.iter().enumerate() {
        let users = planted.text.find("  user:\n").unwrap_or(0);
        let rest = planted.text.len() - users;
        for cut in 1..=CUTS {
            let end = users + rest * cut / (CUTS + 1);
            tries.push(Try {
                kubeconfig,
                damage: format!("cut at {end}"),
                text: planted.text.as_bytes().iter().take(end).copied().collect(),
            });
        }
    }
    // Each damage once, and every kubeconfig with some.
    let kinds = all.first().map_or(0, |planted| damages(planted).len());
    for kind in 0..kinds {
        let kubeconfig = kind % all.len();
        let found = all
            .get(kubeconfig)
            .and_then(|planted| damages(planted).into_iter().nth(kind));
        if let Some((damage, text)) = found {
            tries.push(Try {
                kubeconfig,
                damage: damage.to_owned(),
                text,
            });
        }
    }
    tries
}

fn page(observing: &Observing) -> Result<Vec<u8>> {
    let address = observing.page(SURE)?;
    let mut said = Vec::new();
    for path in ["/readyz", "/healthz", "/metrics", "/"] {
        let mut stream = TcpStream::connect(&address)?;
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n"
        )?;
        stream.read_to_end(&mut said)?;
    }
    Ok(said)
}

fn until_looked(observing: &Observing) -> Result<()> {
    let deadline = Instant::now() + SURE;
    while !LOOKED.iter().any(|words| observing.log().contains(words)) {
        ensure!(Instant::now() < deadline, "{}", observing.log());
        // A log is not an event; this is as near as it comes.
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

fn said_by(args: &[&str], reel: &Path) -> Result<Vec<u8>> {
    let (command, rest) = args.split_first().context("a command")?;
    let output = Command::new(program()?)
        .arg(command)
        .arg(reel)
        .args(rest)
        .output()?;
    Ok([output.stdout, output.stderr].concat())
}

fn check(planted: &Planted, damage: &str, observing: Observing) -> Result<()> {
    until_looked(&observing)?;
    let page = page(&observing)?;
    let observed = observing.end(SURE)?;
    ensure!(observed.status.code() == Some(0), "{}", observed.log);
    let reel = observed.file("artifacts", ".reel")?;
    let mut said = vec![
        ("the page".to_owned(), page),
        ("the log".to_owned(), observed.log.clone().into_bytes()),
        (
            "the notes".to_owned(),
            format!("{:?}", observed.notes()?).into_bytes(),
        ),
        ("info".to_owned(), said_by(&["info", "-o", "json"], &reel)?),
        ("export".to_owned(), said_by(&["export"], &reel)?),
    ];
    for path in observed.files()? {
        said.push((path.display().to_string(), std::fs::read(&path)?));
    }
    // The page has its words in base64.
    let html = observed.text("artifacts", ".html")?;
    let data = html.split_once("id=\"kubereel-data\">");
    let data = data.and_then(|(_, data)| data.split_once('<'));
    let (data, _) = data.context("data in the page")?;
    said.push((
        "the words of the page".to_owned(),
        BASE64_STANDARD.decode(data)?,
    ));
    for (place, bytes) in said {
        let part = leaked(planted, &bytes).map(String::from_utf8_lossy);
        ensure!(
            part.is_none(),
            "{place}: {part:?} of {}, {damage}",
            planted.name
        );
    }
    let canaries = reel.with_extension("canaries");
    std::fs::write(&canaries, planted.secrets.join("\n"))?;
    let scan = Command::new(program()?)
        .arg("scan")
        .arg(&reel)
        .arg("--canaries")
        .arg(&canaries)
        .output()?;
    ensure!(scan.status.code() == Some(0), "{damage}: {scan:?}");
    Ok(())
}

#[test]
fn no_part_of_the_jobs_credentials_reaches_a_public_file() -> Result<()> {
    let cluster = ScriptedCluster::start()?;
    let folder = tempfile::tempdir()?;
    let all = planted(&cluster.url(), folder.path())?;
    let tries = tries(&all);
    ensure!(tries.len() >= 40, "only {} files", tries.len());
    for (round, together) in tries.chunks(AT_ONCE).enumerate() {
        let mut running = Vec::new();
        for (number, one) in together.iter().enumerate() {
            let own = folder.path().join(format!("{round}-{number}"));
            std::fs::create_dir_all(&own)?;
            let kubeconfig = own.join("kubeconfig");
            std::fs::write(&kubeconfig, &one.text)?;
            let variables = [
                (
                    "KUBECONFIG",
                    kubeconfig.to_str().context("a path in letters")?,
                ),
                // Whatever a library says of what it does passes the same door.
                ("RUST_LOG", if number % 2 == 0 { "trace" } else { "info" }),
            ];
            let observing = Observing::start(&own.join("out"), &variables, &["--listen", "0"])?;
            running.push((one, observing));
        }
        for (one, observing) in running {
            let planted = all.get(one.kubeconfig).context("a kubeconfig")?;
            check(planted, &one.damage, observing)?;
        }
    }
    Ok(())
}

/// What the reel says of the way to the cluster: a letter for each note.
fn way(notes: &[Note], job: &Job) -> String {
    let full = job.full().display().to_string();
    let letter = |note: &Note| match note {
        Note::Lifecycle(Lifecycle::WaitingForKubeconfig { .. }) => Some('w'),
        Note::Lifecycle(Lifecycle::KubeconfigUnusable { path, .. }) if *path == full => Some('B'),
        Note::Lifecycle(Lifecycle::KubeconfigUnusable { .. }) => Some('b'),
        Note::Lifecycle(Lifecycle::KubeconfigLoaded { path }) if *path == full => Some('F'),
        Note::Lifecycle(Lifecycle::KubeconfigLoaded { .. }) => Some('m'),
        _ => None,
    };
    notes.iter().filter_map(letter).collect()
}

#[test]
fn absent_then_broken_then_minimal_then_full_and_nothing_is_lost() -> Result<()> {
    let job = Job::new()?;
    let observing = job.observe(&[])?;
    observing.until_said("waiting for a kubeconfig", SURE)?;
    job.deliver(&job.minimal(), &Kubeconfig::HalfWritten)?;
    observing.until_said("the kubeconfig cannot be used", SURE)?;
    job.deliver(&job.minimal(), &Kubeconfig::Good)?;
    Job::await_reached(&observing)?;
    job.await_live(&observing)?;
    job.write(1)?;
    // The full one is broken at first: the minimal one goes on.
    job.deliver(&job.full(), &Kubeconfig::NotYaml)?;
    let broken = format!("path={:?}", job.full().display().to_string());
    observing.until_said(&broken, SURE)?;
    job.write(2)?;
    job.deliver(&job.full(), &Kubeconfig::Good)?;
    observing.until_said(&format!("kubeconfig loaded {broken}"), SURE)?;
    job.write(3)?;
    settle(&job.cluster, "endpoints", SURE)?;
    // A list of one object only asks how far the history has come.
    let asked = job.cluster.requests_to(ENDPOINTS);
    let lists = asked.iter().filter(|one| {
        let is_list = !one.asked.is_watch() && one.asked.parameter("limit") != Some("1");
        is_list || one.asked.parameter("sendInitialEvents").is_some()
    });
    assert_eq!(lists.count(), 1, "the switch kept the place");
    let observed = observing.end(SURE)?;
    assert!(observed.status.success(), "{}", observed.log);
    assert_eq!(way(&observed.notes()?, &job), "wbmBF", "{}", observed.log);
    assert_eq!(observed.metadata("reached-cluster")?, "true");
    let reel = observed.file("artifacts", ".reel")?;
    Account::of(&reel, &job.cluster, &["endpoints"])?.check_whole()?;
    Ok(())
}

/// Checks that nothing was found, but perhaps that another resource than Endpoints, for which alone a test waits, was
/// not up to date at an end soon after the begin.
fn check_recorded(observed: &Observed) -> Result<()> {
    let (outcome, junit) = (
        observed.metadata("outcome")?,
        observed.text("junit", ".xml")?,
    );
    let is_late = junit.matches("<failure ").count() == 1
        && junit.contains("resources were not up to date at the end\"");
    ensure!(
        outcome == "recorded" || outcome == "recorded, with findings" && is_late,
        "{outcome}: {junit}\n{}",
        observed.log
    );
    Ok(())
}

/// Nothing listens there.
const DEAD: &str = "http://127.0.0.1:1";

#[test]
fn a_better_kubeconfig_that_does_not_work_is_not_used() -> Result<()> {
    let job = Job::new()?;
    // Both are there at the start, and the better one leads nowhere.
    let dead = Kubeconfig::Elsewhere(DEAD.to_owned());
    job.deliver(&job.full(), &dead)?;
    job.deliver(&job.minimal(), &Kubeconfig::Good)?;
    let observing = job.observe(&[])?;
    Job::await_reached(&observing)?;
    job.await_live(&observing)?;
    let full = format!("path={:?}", job.full().display().to_string());
    observing.until_said(&full, SURE)?;
    job.write(1)?;
    // It is used as soon as it works, and not left for another one that does not.
    job.deliver(&job.full(), &Kubeconfig::Good)?;
    observing.until_said(&format!("kubeconfig loaded {full}"), SURE)?;
    job.write(2)?;
    settle(&job.cluster, "endpoints", SURE)?;
    job.deliver(&job.full(), &dead)?;
    let minimal = format!("path={:?}", job.minimal().display().to_string());
    observing.until_said(&format!("kubeconfig loaded {minimal}"), SURE)?;
    job.write(3)?;
    settle(&job.cluster, "endpoints", SURE)?;
    let observed = observing.end(SURE)?;
    assert!(observed.status.success(), "{}", observed.log);
    check_recorded(&observed)?;
    let outages = observed.notes()?.into_iter();
    let mut outages = outages.filter(|note| matches!(note, Note::OutageBegan { .. }));
    assert_eq!(outages.next(), None, "{}", observed.log);
    let reel = observed.file("artifacts", ".reel")?;
    Account::of(&reel, &job.cluster, &["endpoints"])?.check_whole()?;
    Ok(())
}

#[test]
fn a_better_kubeconfig_whose_token_is_refused_is_not_used() -> Result<()> {
    let job = Job::new()?;
    let token = "token-of-this-cluster".to_owned();
    job.cluster
        .set(|settings| settings.token = Some(token.clone()));
    job.deliver(&job.minimal(), &Kubeconfig::WithToken(token))?;
    let observing = job.observe(&[])?;
    Job::await_reached(&observing)?;
    job.await_live(&observing)?;
    // It comes while the minimal one is recorded with.
    let other = Kubeconfig::WithToken("token-of-another-cluster".to_owned());
    job.deliver(&job.full(), &other)?;
    let full = format!("path={:?}", job.full().display().to_string());
    observing.until_said(&full, SURE)?;
    job.write(1)?;
    settle(&job.cluster, "endpoints", SURE)?;
    let observed = observing.end(SURE)?;
    let log = &observed.log;
    check_recorded(&observed)?;
    assert_eq!(observed.metadata("outages")?, "0", "{log}");
    assert!(!log.contains("token-of-another-cluster"), "{log}");
    let reel = observed.file("artifacts", ".reel")?;
    Account::of(&reel, &job.cluster, &["endpoints"])?.check_whole()?;
    Ok(())
}

#[test]
fn a_cluster_that_never_comes_is_an_outcome() -> Result<()> {
    let job = Job::new()?;
    let observing = job.observe(&[])?;
    observing.until_said("waiting for a kubeconfig", SURE)?;
    let observed = observing.end(SURE)?;
    assert_eq!(observed.status.code(), Some(0), "{}", observed.log);
    assert_eq!(way(&observed.notes()?, &job), "w");
    assert_eq!(observed.metadata("outcome")?, "no cluster");
    assert!(
        observed
            .text("artifacts", "-summary.txt")?
            .contains("no kubeconfig at")
    );
    Ok(())
}

/// What an observer's pod has by default.
const GRACE: Duration = Duration::from_secs(15);

fn ended_by(observed: &Observed) -> Result<Vec<SessionEnd>> {
    let notes = observed.notes()?.into_iter();
    let ends = notes.filter_map(|note| match note {
        Note::SessionEnded { end, .. } => Some(end),
        _ => None,
    });
    Ok(ends.collect())
}

#[test]
fn a_signal_that_comes_before_the_recording_begins_ends_the_observer_in_order() -> Result<()> {
    let job = Job::new()?;
    let token = job.folder.path().join("token");
    ensure!(Command::new("mkfifo").arg(&token).status()?.success());
    let name = token.to_str().context("a path in letters")?;
    // It waits for the token, and has not opened a reel yet.
    let mut observing = job.observe(&["--listen", "0", "--status-token-file", name])?;
    observing.terminate(SURE)?;
    std::fs::write(&token, "token-of-the-status-page-0123456789")?;
    let observed = observing.ended(SURE)?;
    ensure!(observed.status.success(), "{observed:?}");
    let end = SessionEnd::Signal("SIGTERM".to_owned());
    assert_eq!(ended_by(&observed)?, [end]);
    Ok(())
}

#[test]
fn a_closed_terminal_ends_a_recording_in_order_except_under_nohup() -> Result<()> {
    let job = Job::new()?;
    job.deliver(&job.full(), &Kubeconfig::Good)?;
    // This process may be below nohup itself.
    let plain = ["env", "--default-signal=HUP"];
    for (under, end) in [(&plain[..], "SIGHUP"), (&["nohup"][..], "SIGTERM")] {
        let reel = job.folder.path().join(format!("{end}.reel"));
        let recording = Recording::start_under(under, &reel, &job.full(), &[])?;
        recording.until_said_since_start("the cluster answers", SURE)?;
        recording.hang_up()?;
        let ended = if end == "SIGHUP" {
            recording.ended(SURE)?
        } else {
            recording.finish(SURE)?
        };
        ensure!(ended.status.success(), "{end}: {ended:?}");
        let reel = Reel::open(&reel)?;
        let ends = reel.notes().iter().filter_map(|entry| match &entry.note {
            Note::SessionEnded { end, .. } => Some(end.clone()),
            _ => None,
        });
        let ends: Vec<SessionEnd> = ends.collect();
        assert_eq!(ends, [SessionEnd::Signal(end.to_owned())]);
    }
    Ok(())
}

#[test]
fn two_signals_at_once_are_one_end_within_the_grace_period() -> Result<()> {
    let job = Job::new()?;
    job.deliver(&job.full(), &Kubeconfig::Good)?;
    let observing = job.observe(&[])?;
    job.await_live(&observing)?;
    let observed = observing.end(GRACE)?;
    assert_eq!(observed.status.code(), Some(0), "{}", observed.log);
    let expected = [SessionEnd::Signal("SIGINT".to_owned())];
    assert_eq!(ended_by(&observed)?, expected);
    assert!(Reel::open(&observed.file("artifacts", ".reel")?)?.is_finished());
    assert_eq!(observed.metadata("ended-by")?, "SIGINT");
    Ok(())
}

#[test]
fn an_end_during_an_outage_is_in_time_and_claims_nothing() -> Result<()> {
    let mut job = Job::new()?;
    job.deliver(&job.full(), &Kubeconfig::Good)?;
    let observing = job.observe(&[])?;
    job.await_live(&observing)?;
    observing.until_said("the cluster answers", SURE)?;
    job.cluster.go_down()?;
    observing.until_said("the cluster does not answer", SURE)?;
    let observed = observing.end(GRACE)?;
    assert_eq!(observed.status.code(), Some(0), "{}", observed.log);
    assert_eq!(observed.metadata("outcome")?, "recorded, with findings");
    let junit = observed.text("junit", ".xml")?;
    assert!(
        junit.contains("what changed meanwhile is not recorded"),
        "{junit}"
    );
    Ok(())
}

#[test]
fn what_the_files_say_of_gaps_is_what_verify_says() -> Result<()> {
    let mut job = Job::new()?;
    job.deliver(&job.full(), &Kubeconfig::Good)?;
    let observing = job.observe(&[])?;
    job.await_live(&observing)?;
    settle(&job.cluster, "endpoints", SURE)?;
    job.cluster.go_down()?;
    job.write(1)?;
    job.write(2)?;
    job.cluster.compact(job.cluster.revision());
    job.cluster.accept()?;
    job.await_live(&observing)?;
    settle(&job.cluster, "endpoints", SURE)?;
    let observed = observing.end(GRACE)?;
    assert_eq!(observed.metadata("outcome")?, "recorded, with findings");
    let reel = observed.file("artifacts", ".reel")?;
    let verified = Command::new(program()?).arg("verify").arg(&reel).output()?;
    let verified = String::from_utf8(verified.stdout)?;
    let lines = verified.lines().filter_map(|line| {
        let (resource, words) = line.trim().split_once(' ')?;
        let words = words.trim();
        let is_missing = words.starts_with("may miss") || words.starts_with("not observed");
        is_missing.then(|| format!("{resource} {words}"))
    });
    let lines: Vec<String> = lines.collect();
    let is_gap = |line: &String| line.starts_with("endpoints may miss up to ");
    assert!(lines.iter().any(is_gap), "{verified}");
    assert_eq!(observed.metadata("gaps")?, lines.len().to_string());
    let summary = observed.text("artifacts", "-summary.txt")?;
    for line in &lines {
        assert!(summary.contains(line), "{line}: {summary}");
    }
    Ok(())
}

#[test]
fn an_output_that_cannot_be_written_is_said_and_no_failure() -> Result<()> {
    let job = Job::new()?;
    std::fs::write(job.output(), "a file where a folder should be")?;
    let mut observing = job.observe(&[])?;
    let observed = observing.ended(SURE)?;
    assert_eq!(observed.status.code(), Some(0), "{}", observed.log);
    assert!(observed.log.contains("cannot write"), "{}", observed.log);
    Ok(())
}

#[test]
fn a_kill_leaves_files_that_say_so() -> Result<()> {
    let job = Job::new()?;
    job.deliver(&job.full(), &Kubeconfig::Good)?;
    let observing: Observing = job.observe(&[])?;
    job.await_live(&observing)?;
    let folder = observing.kill()?;
    let metadata = std::fs::read_to_string(folder.join("metadata.json"))?;
    assert!(
        metadata.contains(r#""kubereel-outcome": "recording""#),
        "{metadata}"
    );
    let junit = std::fs::read_dir(folder.join("junit"))?.next();
    let junit = std::fs::read_to_string(junit.expect("a file")?.path())?;
    assert!(junit.contains("or was killed"), "{junit}");
    Ok(())
}

const CANARY: &str = "canary-of-the-environment-7341";

/// Holds JUnit against the project's schema; reports it if there is nothing to do it with.
fn check_schema(junit: &Path) -> Result<()> {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/junit.xsd");
    let checked = Command::new("xmllint")
        .args(["--noout", "--schema"])
        .arg(schema)
        .arg(junit)
        .output();
    match checked {
        Ok(output) => ensure!(output.status.success(), "{output:?}"),
        Err(error) => say_skipped(&format!("no xmllint to check JUnit with: {error}")),
    }
    Ok(())
}

fn check_digest(observed: &Observed) -> Result<()> {
    let line = observed.text("artifacts", ".reel.sha256")?;
    let reel = std::fs::read(observed.file("artifacts", ".reel")?)?;
    let digest = ring::digest::digest(&ring::digest::SHA256, &reel);
    let mut hex = String::new();
    for byte in digest.as_ref() {
        write!(hex, "{byte:02x}")?;
    }
    ensure!(line.starts_with(&hex), "{line} is not {hex}");
    Ok(())
}

#[test]
fn labels_go_into_the_reel_and_nothing_else_of_the_environment() -> Result<()> {
    let job = Job::new()?;
    job.deliver(&job.full(), &Kubeconfig::Good)?;
    let observing = job.observe_with(
        &[
            ("JOB_NAME", "periodic-ci-e2e"),
            ("BUILD_ID", "1234567890"),
            ("PULL_BASE_SHA", "0123456789abcdef0123456789abcdef01234567"),
            ("JOB_SPEC", CANARY),
            ("AWS_SECRET_ACCESS_KEY", CANARY),
            ("KUBEADMIN_PASSWORD_FILE", CANARY),
        ],
        &[],
    )?;
    job.await_live(&observing)?;
    let observed = observing.end(SURE)?;
    let labels = observed.notes()?.into_iter().filter_map(|note| match note {
        Note::Label { name, value } => Some(format!("{name}={value}")),
        _ => None,
    });
    let labels: Vec<String> = labels.collect();
    let expected = [
        "JOB_NAME=periodic-ci-e2e",
        "BUILD_ID=1234567890",
        "PULL_BASE_SHA=0123456789abcdef0123456789abcdef01234567",
    ];
    assert_eq!(labels, expected);
    for path in observed.files()? {
        let bytes = std::fs::read(&path)?;
        let found = bytes
            .windows(CANARY.len())
            .any(|part| part == CANARY.as_bytes());
        assert!(!found, "{}", path.display());
    }
    assert!(!observed.log.contains(CANARY));
    let canaries = job.folder.path().join("canaries");
    std::fs::write(&canaries, CANARY)?;
    let scan = Command::new(program()?)
        .arg("scan")
        .arg(observed.file("artifacts", ".reel")?)
        .arg("--canaries")
        .arg(&canaries)
        .output()?;
    assert_eq!(scan.status.code(), Some(0), "{scan:?}");
    Ok(())
}

#[test]
fn every_file_is_as_its_readers_want_it() -> Result<()> {
    let job = Job::new()?;
    job.deliver(&job.full(), &Kubeconfig::Good)?;
    let observing = job.observe(&[])?;
    job.await_live(&observing)?;
    let observed = observing.end(SURE)?;
    check_digest(&observed)?;
    let junit = observed.file("junit", ".xml")?;
    check_schema(&junit)?;
    let name = junit.file_name().context("a name")?.to_string_lossy();
    let parts: Vec<&str> = name.trim_end_matches(".xml").split('_').collect();
    assert_eq!(parts[..2], ["junit", "kubereel"], "{name}");
    assert_eq!((parts[2].len(), parts[3]), ("20261122-0330".len(), "01"));
    let page = observed.text("artifacts", ".html")?;
    assert!(page.contains("<title>kubereel: "), "{page}");
    assert!(!page.contains("href=") && !page.contains("src="), "{page}");
    assert!(
        observed
            .text("artifacts", "-summary.txt")?
            .contains("ended       by SIGINT")
    );
    Ok(())
}

#[test]
fn two_observers_of_one_cluster_in_one_folder_do_not_disturb_each_other() -> Result<()> {
    let job = Job::new()?;
    job.deliver(&job.full(), &Kubeconfig::Good)?;
    let first = job.observe(&["--listen", "0"])?;
    let page = first.page(SURE)?;
    // The same port: it is no failure that it is taken.
    let second = job.observe(&["--listen", &page])?;
    assert_ne!(second.page(SURE)?, page);
    first.until_said("the cluster answers", SURE)?;
    second.until_said("the cluster answers", SURE)?;
    let first = first.end(SURE)?;
    let second = second.end(SURE)?;
    assert_eq!(
        (first.status.code(), second.status.code()),
        (Some(0), Some(0))
    );
    let files = second.files()?;
    let count = |ending: &str| {
        let names = files.iter().map(|path| path.display().to_string());
        names.filter(|name| name.ends_with(ending)).count()
    };
    for ending in [
        ".reel",
        ".reel.sha256",
        "-summary.txt",
        ".html",
        ".xml",
        ".json",
    ] {
        assert_eq!(count(ending), 2, "{ending}: {files:?}");
    }
    assert_eq!(count(".tmp"), 0, "{files:?}");
    Ok(())
}

const SECRET: &str = "sha256~canarycanarycanarycanary";

fn mark(args: &[&str]) -> Result<Output> {
    Ok(Command::new(program()?).arg("mark").args(args).output()?)
}

fn marks(notes: impl IntoIterator<Item = Note>) -> Vec<String> {
    let marks = notes.into_iter().filter_map(|note| match note {
        Note::Mark { text } => Some(text),
        _ => None,
    });
    marks.collect()
}

fn letters(path: &Path) -> Result<&str> {
    path.to_str().context("a path in letters")
}

#[test]
fn marks_come_over_the_page_and_over_the_file_without_their_secrets() -> Result<()> {
    let job = Job::new()?;
    let observing = job.observe(&["--listen", "0"])?;
    let page = observing.page(SURE)?;
    let posted = mark(&["--listen", &page, "tests", "started", SECRET])?;
    assert!(posted.status.success(), "{posted:?}");
    let file = job.output().join("artifacts/kubereel.marks");
    let dropped = mark(&["--file", letters(&file)?, &format!("tests ended {SECRET}")])?;
    assert!(dropped.status.success(), "{dropped:?}");
    observing.until_said("tests ended", SURE)?;
    // The last one comes while the observer ends.
    std::fs::write(&file, std::fs::read_to_string(&file)? + "the end")?;
    let observed = observing.end(SURE)?;
    let marks = marks(observed.notes()?);
    assert_eq!(marks.len(), 3, "{marks:?}");
    assert!(
        marks[0].starts_with("tests started redacted-by-"),
        "{marks:?}"
    );
    assert!(
        marks[1].starts_with("tests ended redacted-by-"),
        "{marks:?}"
    );
    assert_eq!(marks[2], "the end");
    assert_eq!(observed.metadata("marks")?, "3");
    Ok(())
}

#[tokio::test]
async fn the_recorder_takes_marks_once_over_two_runs() -> Result<()> {
    let job = Job::new()?;
    job.deliver(&job.full(), &Kubeconfig::Good)?;
    let reel = job.folder.path().join("run.reel");
    let file = job.folder.path().join("run.reel.marks");
    for words in ["first", "second"] {
        let recording = Recording::start(&reel, &job.full(), &["--listen", "0"])?;
        Page::of(&recording, SURE).await?;
        let dropped = mark(&["--file", letters(&file)?, words])?;
        assert!(dropped.status.success(), "{dropped:?}");
        recording.finish(SURE)?;
    }
    let reel = Reel::open(&reel)?;
    let notes = reel.notes().iter().map(|entry| entry.note.clone());
    assert_eq!(marks(notes), ["first", "second"]);
    Ok(())
}

#[test]
fn a_mark_that_nobody_takes_is_an_error() -> Result<()> {
    let nobody = mark(&["--listen", "1", "x"])?;
    assert_eq!(nobody.status.code(), Some(5), "{nobody:?}");
    let empty = mark(&["--file", "x", " "])?;
    assert_eq!(empty.status.code(), Some(2), "{empty:?}");
    let nowhere = mark(&["x"])?;
    assert_eq!(nowhere.status.code(), Some(2), "{nowhere:?}");
    Ok(())
}

/// A name that only the proxy knows.
const CLUSTER: &str = "api.cluster.invalid:6443";

/// What the proxy asks for, and nobody may publish.
const USER: &str = "observer";
const PASSWORD: &str = "k4mJx9vQ2ztP";

/// Delivers the script that a job's steps source, as the step that makes the proxy writes it.
fn deliver(job: &Job, proxy: &ConnectProxy) -> Result<()> {
    let url = format!("http://{USER}:{PASSWORD}@{}", proxy.address());
    let lines: Vec<String> = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"]
        .iter()
        .map(|name| format!("export {name}={url}\n"))
        .collect();
    let fresh = job.mount().join("proxy-conf.new");
    std::fs::write(
        &fresh,
        lines.concat() + "export NO_PROXY=\"other.invalid\"\n",
    )?;
    std::fs::rename(&fresh, job.mount().join("proxy-conf.sh"))?;
    Ok(())
}

fn holds(path: &Path, text: &str) -> Result<bool> {
    let bytes = std::fs::read(path)?;
    Ok(bytes
        .windows(text.len())
        .any(|part| part == text.as_bytes()))
}

#[test]
fn a_proxy_that_appears_later_and_moves_costs_nothing() -> Result<()> {
    let job = Job::new()?;
    let credentials = format!("{USER}:{PASSWORD}");
    let first = ConnectProxy::start(job.cluster.address(), &credentials)?;
    let second = ConnectProxy::start(job.cluster.address(), &credentials)?;
    let observing = job.observe(&[])?;
    let elsewhere = Kubeconfig::Elsewhere(format!("http://{CLUSTER}"));
    job.deliver(&job.minimal(), &elsewhere)?;
    observing.until_said("the cluster does not answer", SURE)?;
    ensure!(job.cluster.requests().is_empty(), "there is a way without");
    deliver(&job, &first)?;
    Job::await_reached(&observing)?;
    job.await_live(&observing)?;
    job.write(1)?;
    settle(&job.cluster, "endpoints", SURE).with_context(|| observing.log())?;
    ensure!(second.tunnels().is_empty(), "{:?}", second.tunnels());
    // The proxy moves: its settings first, then the old one goes, with every stream through it.
    deliver(&job, &second)?;
    let through = first.tunnels();
    drop(first);
    job.write(2)?;
    job.cluster
        .wait_until("a watch through the second", SURE, |cluster| {
            let last = cluster.requests_to(ENDPOINTS).pop()?;
            (last.asked.is_watch()
                && last.progress().ended.is_none()
                && !second.tunnels().is_empty())
            .then_some(())
        })?;
    job.write(3)?;
    settle(&job.cluster, "endpoints", SURE).with_context(|| observing.log())?;
    let observed = observing.end(SURE)?;
    ensure!(observed.status.success(), "{}", observed.log);
    for target in through.iter().chain(&second.tunnels()) {
        ensure!(target == CLUSTER, "{target}");
    }
    let reel = observed.file("artifacts", ".reel")?;
    Account::of(&reel, &job.cluster, &["endpoints"])?.check_whole()?;
    ensure!(!observed.log.contains(PASSWORD), "{}", observed.log);
    for notes in observed.notes()? {
        ensure!(!format!("{notes:?}").contains(PASSWORD), "{notes:?}");
    }
    ensure!(!holds(&reel, PASSWORD)?, "in the file itself");
    Ok(())
}

fn sampled(observed: &Observed, wanted: &str) -> Result<Vec<String>> {
    let notes = observed.notes()?.into_iter();
    let values = notes.filter_map(|note| match note {
        Note::Sampled { name, value, .. } if name == wanted => Some(value),
        _ => None,
    });
    Ok(values.collect())
}

/// Waits until the reel of a job that still runs has a value of a counter.
fn until_sampled(job: &Job, observing: &Observing, wanted: &str) -> Result<()> {
    let copy = job.folder.path().join("copy.reel");
    let is_sampled = || -> Result<bool> {
        let reels = std::fs::read_dir(job.output().join("artifacts"))?;
        let paths = reels.filter_map(|entry| Some(entry.ok()?.path()));
        for path in paths.filter(|path| path.extension().is_some_and(|ending| ending == "reel")) {
            copy_in_use(&path, &copy)?;
            let reel = Reel::open(&copy)?;
            let mut notes = reel.notes().iter();
            if notes
                .any(|entry| matches!(&entry.note, Note::Sampled { name, .. } if name == wanted))
            {
                return Ok(true);
            }
        }
        Ok(false)
    };
    let deadline = Instant::now() + SURE;
    // What is not a reel yet will be one.
    while !is_sampled().unwrap_or(false) {
        ensure!(Instant::now() < deadline, "{}", observing.log());
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

#[test]
fn a_counter_that_moved_is_told_with_its_bounds() -> Result<()> {
    let job = Job::new()?;
    job.deliver(&job.full(), &Kubeconfig::Good)?;
    let answer = |panics: u32| {
        let text = format!(
            "# TYPE panics_total counter\nprocess_start_time_seconds 17\npanics_total{{kind=\"a\"}} {panics}\nother 5\n"
        );
        Fault::Answer(Canned::text(200, &text))
    };
    let first = job.cluster.fault(On::path("/metrics"), answer(0));
    let observing = job.observe(&["--metrics", "panics_total"])?;
    // That the server has answered would not suffice: the end cuts a reading short whose answer nobody has taken.
    until_sampled(&job, &observing, "panics_total")?;
    job.cluster.lift(first);
    job.cluster.fault(On::path("/metrics"), answer(3));
    let observed = observing.end(SURE)?;
    assert_eq!(sampled(&observed, "panics_total")?, ["0", "3"]);
    assert_eq!(sampled(&observed, "other")?, [""; 0]);
    let timeline = Timeline::open(&observed.file("artifacts", ".reel")?)?;
    let moves = CounterMove::all(&timeline);
    assert_eq!(moves.len(), 1, "{moves:?}");
    assert_eq!(
        (moves[0].from.as_deref(), moves[0].to.as_str()),
        (Some("0"), "3")
    );
    assert_eq!(moves[0].labels, "kind=\"a\"");
    assert!(moves[0].after < moves[0].by, "{moves:?}");
    Ok(())
}

#[tokio::test]
async fn the_real_server_counts_and_a_real_cluster_is_observed() -> Result<()> {
    if skipped() {
        return Ok(());
    }
    let control_plane = ControlPlane::builder().start().await?;
    let folder = tempfile::tempdir()?;
    let kubeconfig = control_plane.kubeconfig(0).display().to_string();
    let more = [
        "--kubeconfig",
        &kubeconfig,
        "--metrics",
        "apiserver_request_total",
    ];
    let observing = Observing::start(&folder.path().join("out"), &[], &more)?;
    observing.until_said("the cluster answers", SURE)?;
    let observed = observing.end(SURE)?;
    assert_eq!(observed.status.code(), Some(0), "{}", observed.log);
    assert_eq!(observed.metadata("reached-cluster")?, "true");
    // It was sealed within its share of the grace period.
    let reel = Reel::open(&observed.file("artifacts", ".reel")?)?;
    assert!(reel.is_sealed() && reel.is_finished(), "{}", observed.log);
    let counts = sampled(&observed, "apiserver_request_total")?;
    assert!(!counts.is_empty(), "{}", observed.log);
    assert!(
        counts.iter().all(|count| count.parse::<f64>().is_ok()),
        "{counts:?}"
    );
    // The first reading may have been cut short by the end, which reads once more.
    assert!(!sampled(&observed, "process_start_time_seconds")?.is_empty());
    Ok(())
}
