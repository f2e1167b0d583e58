//! Another cluster behind the same kubeconfig, and the same one put back in time.

use anyhow::{Context as _, Result};
use kubereel_format::{EpochId, GapCause, Note};
use kubereel_tests::recording::Account;
use kubereel_tests::scripted::{Kubeconfig, ScriptedCluster};

use crate::recorder_faults::{ENDPOINTS, SURE, Scene};

/// The epochs that the reel tells of, in order.
fn epochs(scene: &Scene) -> Result<Vec<(EpochId, String)>> {
    let mut epochs = Vec::new();
    for note in scene.notes()? {
        if let Note::Cluster { epoch, uid, .. } = note {
            epochs.push((epoch, uid));
        }
    }
    epochs.dedup();
    Ok(epochs)
}

#[test]
fn a_restored_cluster_is_a_new_epoch() -> Result<()> {
    let mut scene = Scene::live()?;
    for _ in 0..10 {
        scene.write()?;
    }
    scene.put("endpoints", "default", "rolled-back", r#""data":{}"#)?;
    scene.cluster.wait_sent("endpoints", SURE)?;
    let committed = scene.cluster.committed();
    let before = scene.cluster.requests().len();
    scene.cluster.restore(scene.cluster.revision() - 5)?;
    scene.put("endpoints", "default", "new-life", r#""data":{}"#)?;
    scene
        .cluster
        .wait_for_request("a new list", SURE, |one| {
            // A list of one object only asks for the revision.
            let listed = one.asked.parameter("resourceVersion").is_none()
                && one.asked.parameter("limit") != Some("1");
            one.number >= before
                && one.asked.path == ENDPOINTS
                && listed
                && one.progress().lines > 0
        })
        .with_context(|| scene.log())?;
    scene.write()?;
    let all = scene.account(&["endpoints"])?;
    assert!(
        all.gaps.iter().any(|gap| gap.cause == GapCause::NewEpoch),
        "{:#?}",
        all.gaps
    );
    let ends: Vec<&String> = all
        .wrong
        .iter()
        .filter(|wrong| wrong.contains("at the end"))
        .collect();
    assert!(ends.is_empty(), "{ends:#?}");
    // The first life was recorded whole before it was undone.
    let first = Account::of_required(
        &scene.reel(),
        &scene.cluster,
        &["endpoints"],
        &committed,
        |_| true,
    )?;
    let missing: Vec<&String> = first
        .wrong
        .iter()
        .filter(|wrong| wrong.contains("missing"))
        .collect();
    assert!(missing.is_empty(), "{missing:#?}");
    let epochs = epochs(&scene)?;
    assert!(
        matches!(epochs.as_slice(), [(EpochId(0), one), (EpochId(1), other)] if one == other),
        "{epochs:?}"
    );
    Ok(())
}

#[test]
fn another_cluster_behind_the_same_file_is_told_apart() -> Result<()> {
    let mut scene = Scene::live()?;
    scene.write()?;
    scene.cluster.wait_sent("endpoints", SURE)?;
    let other = ScriptedCluster::start_as(2, 50)?;
    other.put("endpoints", "default", "elsewhere", r#""data":{}"#)?;
    other.write_kubeconfig(&scene.kubeconfig(), &Kubeconfig::Good)?;
    let first = std::mem::replace(&mut scene.cluster, other);
    drop(first);
    scene.await_live(ENDPOINTS)?;
    scene.write()?;
    let account = scene.account(&["endpoints"])?;
    assert!(
        account
            .gaps
            .iter()
            .any(|gap| gap.cause == GapCause::NewEpoch),
        "{:#?}",
        account.gaps
    );
    let ends: Vec<&String> = account
        .wrong
        .iter()
        .filter(|wrong| wrong.contains("at the end"))
        .collect();
    assert!(ends.is_empty(), "{ends:#?}");
    let epochs = epochs(&scene)?;
    assert!(
        matches!(epochs.as_slice(), [(EpochId(0), one), (EpochId(1), other)] if one != other),
        "{epochs:?}"
    );
    Ok(())
}
