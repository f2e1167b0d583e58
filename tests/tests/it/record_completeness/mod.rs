//! The recorder against a real control plane that is shaken while it is written to: what etcd says
//! was changed is in the reel, or inside a gap that the reel declares.

#![expect(clippy::print_stderr, reason = "says how hard each run was")]

mod churn;
mod planted;
mod read_back;

use std::collections::BTreeSet;
use std::time::Duration;

use crate::plane;
use anyhow::{Context as _, Result, ensure};
use churn::Churn;
use kubereel_format::{GapCause, ListMethod, NotCoveredReason, Note, Reel, Seq};
use kubereel_redact::Extra;
use kubereel_scan::Canaries;
use kubereel_tests::control_plane::skipped;
use kubereel_tests::oracle::Change;
use kubereel_tests::proxy::{Cut, CutEvery};
use kubereel_tests::shaken::{CANARY, CANARY_BASE64, Scene};
use kubereel_tests::skipped::skipped_as_slow;

/// Anything that must come comes within this time, also on a busy machine.
const SURE: Duration = Duration::from_mins(2);

/// The time between two faults: as long as a server needs to learn what the other one knows.
const BETWEEN: Duration = Duration::from_secs(5);

/// Two servers, of which one is always up; every connection is cut again and again.
async fn nothing_is_lost_between_two_servers(flags: &[&str], method: ListMethod) -> Result<()> {
    let scene = Scene::start(2, flags).await?;
    let mut churn = Churn::start(&scene.rest().await?);
    let cut_every = CutEvery {
        period: Duration::from_secs(4),
        how: Cut::Reset,
    };
    scene
        .proxy
        .change(|faults| faults.cut_every = Some(cut_every));
    for round in 0..4 {
        tokio::time::sleep(BETWEEN).await;
        // A server keeps the history of a custom resource from the first request for it on: what is
        // defined just before the only server goes away that was asked for it goes with it.
        churn.settle().await?;
        scene.page.until_ready(SURE).await?;
        tokio::time::sleep(BETWEEN).await;
        let server = scene.control_plane.api(round % 2);
        if round < 2 {
            server.kill().await?;
        } else {
            server.stop().await?;
        }
        server.start().await?;
        churn.go_on();
    }
    tokio::time::sleep(BETWEEN).await;
    churn.stop().await?;
    let expired = scene.page.number("kubereel_expired_total").await?;
    ensure!(
        expired > 0,
        "no server ever lost its history: the test shows nothing"
    );
    let cut = scene.proxy.counts().cut;
    ensure!(cut > 100, "only {cut} connections were cut");
    let settled = scene.settle().await?;
    let (account, reel) = (&settled.account, &settled.reel);
    let (custom, native): (Vec<&Change>, Vec<&Change>) =
        account.in_gaps.iter().partition(|change| is_custom(change));
    ensure!(
        native.is_empty(),
        "{} changes are inside gaps, though one server was always up: {:#?}",
        native.len(),
        native.iter().take(20).collect::<Vec<_>>()
    );
    // Each server is asked for a custom resource, but behind one address nobody can choose which.
    let all_custom = account.recorded.iter().filter(|change| is_custom(change));
    ensure!(
        custom.len() * 10 <= all_custom.count(),
        "{} changes of custom resources are inside gaps: {:#?}",
        custom.len(),
        custom.iter().take(20).collect::<Vec<_>>()
    );
    ensure!(
        account.unlisted.is_empty(),
        "resources that were never listed: {:#?}",
        account.unlisted.iter().take(5).collect::<Vec<_>>()
    );
    ensure!(
        account.recorded.len() > 800,
        "only {} changes",
        account.recorded.len()
    );
    says_how_it_listed(reel, method)?;
    definitions_end_cleanly(reel)?;
    keeps_no_secret(reel)?;
    eprintln!(
        "{} changes recorded, {} in gaps of custom resources, {} before the first list, {} without API, {expired} answers of 410, {cut} connections cut, {} gaps",
        account.recorded.len(),
        custom.len(),
        account.before,
        account.without_api,
        gaps(reel)
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_with_streamed_lists() -> Result<()> {
    if skipped() {
        return Ok(());
    }
    let _turn = plane::alone().await;
    nothing_is_lost_between_two_servers(&[], ListMethod::WatchList).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_with_pages() -> Result<()> {
    if skipped() || skipped_as_slow("two servers rolled, read in pages") {
        return Ok(());
    }
    let _turn = plane::alone().await;
    let flags = ["--feature-gates=WatchList=false"];
    nothing_is_lost_between_two_servers(&flags, ListMethod::Pages).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_restarted_server_loses_is_read_back_or_lies_in_gaps() -> Result<()> {
    if skipped() {
        return Ok(());
    }
    let _turn = plane::alone().await;
    let scene = Scene::start(1, &[]).await?;
    let writers = scene.rest().await?;
    let planted = planted::plant(&writers).await?;
    ensure!(planted > 12, "only {planted} objects with canaries");
    let churn = Churn::start(&writers);
    for _ in 0..3 {
        tokio::time::sleep(BETWEEN / 2).await;
        let server = scene.control_plane.api(0);
        server.kill().await?;
        server.start().await?;
    }
    tokio::time::sleep(BETWEEN).await;
    churn.stop().await?;
    let page = scene.page.text().await?;
    ensure!(!page.contains(CANARY), "the status page holds the canary");
    let log = scene.recording.log();
    ensure!(!log.contains(CANARY), "the log holds the canary: {log}");
    let settled = scene.settle().await?;
    let (account, reel) = (&settled.account, &settled.reel);
    ensure!(
        reel.objects().iter().any(|object| {
            object.key.name == format!("redacted-by-kubereel-{}", object.key.uid)
        }),
        "no token has another name"
    );
    ensure!(
        reel.objects()
            .iter()
            .any(|object| object.key.name == "planted"),
        "nothing was planted"
    );
    let expired = reel
        .notes()
        .iter()
        .filter(|entry| matches!(&entry.note, Note::Gap(gap) if gap.cause == GapCause::Expired));
    ensure!(
        expired.count() > 0,
        "a restarted server's lost history is no gap"
    );
    // A definition may come and go while its own list is in a gap: then nothing is promised.
    ensure!(
        account.unlisted.iter().all(is_custom),
        "{:#?}",
        account.unlisted
    );
    keeps_no_secret(reel)?;
    let told = read_back::of(reel);
    read_back::check(&told, account)?;
    eprintln!("{}", read_back::summary(&told));
    eprintln!(
        "{} changes recorded, {} in {} gaps, {} of resources that were never listed",
        account.recorded.len(),
        account.in_gaps.len(),
        gaps(reel),
        account.unlisted.len()
    );
    Ok(())
}

fn is_custom(change: &Change) -> bool {
    change.key.contains("/churned")
}

fn gaps(reel: &Reel) -> usize {
    let notes = reel.notes().iter();
    notes
        .filter(|entry| matches!(entry.note, Note::Gap(_)))
        .count()
}

fn says_how_it_listed(reel: &Reel, wanted: ListMethod) -> Result<()> {
    let methods: BTreeSet<String> = reel
        .notes()
        .iter()
        .filter_map(|entry| match &entry.note {
            Note::Synced { method, .. } => Some(format!("{method:?}")),
            _ => None,
        })
        .collect();
    ensure!(
        methods == BTreeSet::from([format!("{wanted:?}")]),
        "{methods:?}"
    );
    Ok(())
}

/// Definitions were deleted: their resources are gone, and nothing of them is left alive.
fn definitions_end_cleanly(reel: &Reel) -> Result<()> {
    let gone: BTreeSet<&String> = reel
        .notes()
        .iter()
        .filter_map(|entry| match &entry.note {
            Note::NotCovered {
                plural,
                reason: NotCoveredReason::Gone,
                ..
            } => Some(plural),
            _ => None,
        })
        .collect();
    ensure!(
        !gone.is_empty(),
        "no definition was deleted: the test shows nothing"
    );
    let churned = |plural: &&&String| plural.starts_with("churned");
    ensure!(gone.iter().all(|plural| churned(&plural)), "{gone:?}");
    Ok(())
}

fn keeps_no_secret(reel: &Reel) -> Result<()> {
    let is_clean = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        !text.contains(CANARY) && !text.contains(CANARY_BASE64)
    };
    let mut secrets = 0;
    for event in reel.scan(Seq(0)) {
        let event = event?;
        ensure!(is_clean(&event.body), "{:?} holds the canary", event.head);
        secrets += usize::from(
            event
                .body
                .windows(13)
                .any(|part| part == b"\"kind\":\"Secre"),
        );
    }
    ensure!(
        secrets > 20,
        "only {secrets} Secrets: the test shows nothing"
    );
    for entry in reel.notes() {
        let blobs = match &entry.note {
            Note::OddLine { blobs, .. } | Note::Document { blobs, .. } => blobs.as_slice(),
            _ => &[],
        };
        for blob in blobs {
            ensure!(is_clean(&reel.blob(*blob)?), "{entry:?} holds the canary");
        }
    }
    let raw = std::fs::read(reel.path()).context("the reel itself")?;
    ensure!(is_clean(&raw), "the file holds the canary");
    // In every form, and everything else that the policy knows.
    let canaries = Canaries::new(vec![CANARY.as_bytes().to_vec()])?;
    let options = kubereel_scan::ScanOptions::new(canaries, Extra::default());
    let report = kubereel_scan::scan(reel, &options, |_| {})?;
    ensure!(
        report.total == 0 && report.unread.is_empty() && report.objects > 100,
        "the scan: {report:#?}"
    );
    Ok(())
}
