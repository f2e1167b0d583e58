//! One recording of a control plane: the oracle that watches etcd from its first revision on, the
//! proxy between recorder and servers, and the account at the end. It does not end before the
//! recorder had time to catch up.

#![expect(clippy::print_stderr, reason = "says how hard each run was")]

use anyhow::{Context as _, Result, bail, ensure};
use kubereel_format::{EpochId, GapId, Note, Reel};
use kubereel_history::{Coverage, Proof, ResourceProof, Timeline};
use kubereel_tests::claims::{Claims, Fact, Tally};
use kubereel_tests::control_plane::ControlPlane;
use kubereel_tests::oracle::{Account, Change, Oracle};
use kubereel_tests::proxy::{Faults, Proxy};
use kubereel_tests::recording::{Page, Recording};
use kubereel_tests::rest::Rest;
use kubereel_tests::shaken::CANARY;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Anything that must come comes within this time, also on a busy machine.
const SURE: Duration = Duration::from_mins(2);

/// Names a folder where the reels are left.
const KEEP: &str = "KUBEREEL_KEEP";

/// How long the last changes may take to arrive.
const CAUGHT_UP: Duration = Duration::from_secs(30);

const LOOK_EVERY: Duration = Duration::from_millis(300);

/// The number of resources that are recorded without a hole at the moment.
const COMPLETE: &str = "kubereel_resources{state=\"complete\"}";

/// A control plane that is being recorded.
pub(crate) struct Scene<'a> {
    pub(crate) control_plane: &'a Arc<ControlPlane>,
    pub(crate) proxy: Proxy,
    pub(crate) recording: Recording,
    pub(crate) page: Page,
    oracle: Oracle,
    /// What was made before is another test's.
    begins_behind: u64,
    /// Other etcds, of each the changes whose key has this part.
    others: Vec<(Oracle, &'static str)>,
    folder: TempDir,
    name: &'static str,
    began: Instant,
}

/// The result.
pub(crate) struct SceneResult {
    pub(crate) account: Account,
    pub(crate) changes: Vec<Change>,
    pub(crate) claims: Claims,
    pub(crate) tally: Tally,
    pub(crate) oracle: Oracle,
    _folder: TempDir,
}

impl<'a> Scene<'a> {
    /// Begins to record, and returns once every resource is complete.
    pub(crate) async fn start(
        name: &'static str,
        control_plane: &'a Arc<ControlPlane>,
    ) -> Result<Self> {
        let began = Instant::now();
        let oracle = Oracle::open(control_plane.etcd().endpoint(), 1).await?;
        let begins_behind = oracle.current_revision().await?;
        let proxy = control_plane.proxy()?;
        let kubeconfig = control_plane.kubeconfig_through(&proxy)?;
        let folder = tempfile::tempdir()?;
        let more = [
            "--listen",
            "127.0.0.1:0",
            "--log",
            "info,kubereel_recorder=debug",
        ];
        let reel = folder.path().join("run.reel");
        let recording = Recording::start(&reel, &kubeconfig, &more)?;
        let page = Page::of(&recording, SURE).await?;
        page.until_ready(SURE).await?;
        Ok(Self {
            control_plane,
            proxy,
            recording,
            page,
            oracle,
            begins_behind,
            others: Vec::new(),
            folder,
            name,
            began,
        })
    }

    /// Watches another etcd too; only keys with this part are recorded by way of this control plane.
    pub(crate) fn also(&mut self, oracle: Oracle, part: &'static str) {
        self.others.push((oracle, part));
    }

    /// Requests straight to the servers, past the proxy.
    pub(crate) async fn rest(&self) -> Result<Rest> {
        let mut clients = Vec::new();
        for index in 0..self.control_plane.api_servers() {
            clients.push(self.control_plane.client(index).await?);
        }
        Ok(Rest::new(clients))
    }

    pub(crate) fn oracle(&self) -> &Oracle {
        &self.oracle
    }

    async fn changes(&self) -> Result<Vec<Change>> {
        let mut changes = self.oracle.changes_up_to_now().await?;
        changes.retain(|change| change.revision > self.begins_behind);
        // A token that is a name: the reel knows it by another one, which a test looks for.
        changes.retain(|change| !change.key.contains(CANARY));
        for (oracle, part) in &self.others {
            let others = oracle.changes_up_to_now().await?;
            changes.extend(
                others
                    .into_iter()
                    .filter(|change| change.key.contains(part)),
            );
        }
        Ok(changes)
    }

    /// Waits until what was changed up to now is in the reel, as far as it will ever be.
    pub(crate) async fn catch_up(&self) -> Result<Vec<Change>> {
        let changes = self.changes().await?;
        let deadline = Instant::now() + CAUGHT_UP;
        // The account names what is missing in the end.
        while Instant::now() < deadline && !(self.has(&changes) && self.is_watching().await?) {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(changes)
    }

    fn has(&self, changes: &[Change]) -> bool {
        // A copy that was taken in the middle of a write may not open: the next one will.
        self.look(|timeline| {
            let account = Account::of(timeline.reel(), changes)?;
            Ok(account.lost.is_empty() && is_judged(timeline.reel()))
        })
        .unwrap_or(false)
    }

    /// Returns whether a watch of every resource runs: a recording that ends while streams wait for their
    /// next try says rightly that none does. The reel names a connection with its first entry, which a quiet
    /// resource gets a minute later; the proxy knows each at once, and each watch has its own.
    async fn is_watching(&self) -> Result<bool> {
        let complete = self.page.number(COMPLETE).await?;
        Ok(self.proxy.counts().open() >= complete)
    }

    /// Looks at a copy of the reel as it is now.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&Timeline) -> Result<T>) -> Result<T> {
        let copy = self.folder.path().join("copy.reel");
        std::fs::copy(self.recording.reel(), &copy)?;
        look(&Timeline::open(&copy)?)
    }

    /// Waits until a copy of the reel shows something.
    pub(crate) async fn until(&self, what: &str, shows: impl Fn(&Reel) -> bool) -> Result<()> {
        let deadline = Instant::now() + SURE;
        while !self
            .look(|timeline| Ok(shows(timeline.reel())))
            .unwrap_or(false)
        {
            ensure!(
                Instant::now() < deadline,
                "the reel never shows {what}: {}",
                self.recording.log()
            );
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(())
    }

    /// Ends the faults of the network, waits until the recorder has caught up, stops it, accounts for
    /// everything, and holds the reel's claims against that.
    pub(crate) async fn settle(self) -> Result<SceneResult> {
        self.proxy.change(|faults| *faults = Faults::default());
        self.page.until_ready(SURE).await?;
        let changes = self.catch_up().await?;
        self.end(changes, Vec::new())
    }

    /// Ends the recording: every change of etcd's first history is in it or declared missing, and nothing
    /// that the reel claims is false, of that history and of the facts of a later one.
    pub(crate) fn end(self, changes: Vec<Change>, later: Vec<Fact>) -> Result<SceneResult> {
        let path = self.recording.reel().to_owned();
        let ended = self.recording.finish(SURE)?;
        ensure!(ended.status.success(), "{}: {}", ended.status, ended.log);
        if let Some(folder) = std::env::var_os(KEEP) {
            for end in ["reel", "log"] {
                let kept = Path::new(&folder).join(format!("{}.{end}", self.name));
                std::fs::copy(path.with_extension(end), kept)?;
            }
        }
        let claims = Claims::read(&path)?;
        ensure!(claims.reel().is_finished());
        let account = Account::of(claims.reel(), &changes)?;
        let mut facts = Fact::of_etcd(&changes, EpochId(0))?;
        facts.extend(later);
        let tally = claims.against(&facts);
        eprintln!("{}", words(self.name, &tally, &claims, self.began));
        let judged = account.check().and_then(|()| tally.check());
        match judged {
            Ok(tally) => Ok(SceneResult {
                account,
                changes,
                claims,
                tally,
                oracle: self.oracle,
                _folder: self.folder,
            }),
            Err(error) => bail!(
                "{}: {error:#}\nthe reel and the recorder's log: {}",
                self.name,
                self.folder.keep().display()
            ),
        }
    }
}

/// Returns whether every gap is judged: before that its changes may still be read back.
fn is_judged(reel: &Reel) -> bool {
    let notes = || reel.notes().iter().map(|entry| &entry.note);
    let judged: BTreeSet<GapId> = notes()
        .filter_map(|note| match note {
            Note::GapJudged { gap, .. } => Some(*gap),
            _ => None,
        })
        .collect();
    let mut gaps = notes().filter_map(|note| match note {
        Note::Gap(gap) => Some(gap.id),
        _ => None,
    });
    gaps.all(|gap| judged.contains(&gap))
}

/// One line: the outcome of the changes, and what the reel says of itself.
fn words(name: &str, tally: &Tally, claims: &Claims, began: Instant) -> String {
    let gaps = claims.reel().notes().iter();
    let gaps = gaps.filter(|entry| matches!(entry.note, Note::Gap(_)));
    let proof = claims.proof();
    format!(
        "{name}: {} changes recorded, {} read back, {} declared missing ({} gaps), {} outside, {} never \
         listed, {} lost, {} false claims; {:?} {:?}, {} outages; {:.1} s",
        tally.recorded,
        tally.reconstructed,
        tally.declared,
        gaps.count(),
        tally.outside,
        tally.unlisted,
        tally.lost.len(),
        tally.false_claims.len(),
        proof.verdict,
        proof.reasons,
        proof.outages.count,
        began.elapsed().as_secs_f64()
    )
}

impl SceneResult {
    pub(crate) fn timeline(&self) -> &Timeline {
        self.claims.timeline()
    }

    pub(crate) fn proof(&self) -> &Proof {
        self.claims.proof()
    }

    /// Fails unless every change of what fits was received or read back.
    pub(crate) fn nothing_missing(&self, fits: impl Fn(&Change) -> bool) -> Result<()> {
        let gaps = self.account.in_gaps.iter().chain(&self.account.unlisted);
        let missing: Vec<&Change> = gaps.filter(|change| fits(change)).collect();
        ensure!(
            missing.is_empty(),
            "{} changes are missing: {:#?}",
            missing.len(),
            missing.iter().take(10).collect::<Vec<_>>()
        );
        Ok(())
    }

    /// How long no watch of a resource ran at the longest, as the reel says, in seconds.
    pub(crate) fn longest_dark_secs(&self, plural: &str) -> f64 {
        let infos = self.timeline().resources().iter();
        let infos = infos.filter(|info| info.plural == plural);
        let coverage = infos.filter_map(|info| self.timeline().coverage(info.id));
        let unwatched = coverage.flat_map(Coverage::unwatched);
        let closed = unwatched.filter(|span| !span.is_open());
        let micros = closed.map(|span| span.to.micros_since(span.from));
        let longest = micros.max().and_then(|micros| u64::try_from(micros).ok());
        longest.map_or(0.0, |micros| Duration::from_micros(micros).as_secs_f64())
    }

    /// What the reel proves of a resource.
    pub(crate) fn proof_of(&self, resource: &str) -> Result<&ResourceProof> {
        let mut proofs = self.proof().resources.iter();
        proofs
            .find(|proof| proof.resource == resource)
            .with_context(|| format!("{resource} is not in the reel"))
    }
}
