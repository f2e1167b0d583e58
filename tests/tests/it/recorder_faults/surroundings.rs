//! Kubeconfigs and credentials that are missing, broken or replaced; secrets.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use kubereel_format::{Lifecycle, Note, Reel, Seq};
use kubereel_tests::scripted::{Gzip, Kubeconfig};

use crate::recorder_faults::{ENDPOINTS, SURE, Scene};

/// Waits until the recorder has said something new.
fn await_words(scene: &Scene, said: usize) -> Result<usize> {
    let deadline = Instant::now() + SURE;
    while Instant::now() < deadline {
        let log = scene.log();
        if log.len() > said {
            return Ok(log.len());
        }
        // A file is no event; this is as near as it comes.
        std::thread::sleep(Duration::from_millis(20));
    }
    bail!("nothing more was said: {}", scene.log())
}

#[test]
fn a_kubeconfig_may_be_missing_and_broken_before_it_is_good() -> Result<()> {
    let mut scene = Scene::new()?;
    std::fs::remove_file(scene.kubeconfig())?;
    scene.record()?;
    let mut said = await_words(&scene, 0)?;
    for broken in [
        Kubeconfig::Empty,
        Kubeconfig::HalfWritten,
        Kubeconfig::NotYaml,
        Kubeconfig::NoSuchContext,
        Kubeconfig::Elsewhere("http://127.0.0.1:9".to_owned()),
    ] {
        scene
            .cluster
            .write_kubeconfig(&scene.kubeconfig(), &broken)?;
        said = await_words(&scene, said).with_context(|| format!("{broken:?}"))?;
    }
    scene
        .cluster
        .write_kubeconfig(&scene.kubeconfig(), &Kubeconfig::Good)?;
    scene.await_live(ENDPOINTS)?;
    scene.write()?;
    scene.whole(&["endpoints"])?;
    let notes = scene.notes()?;
    let lifecycle = |wanted: fn(&Lifecycle) -> bool| {
        notes
            .iter()
            .any(|note| matches!(note, Note::Lifecycle(state) if wanted(state)))
    };
    assert!(lifecycle(|state| matches!(
        state,
        Lifecycle::WaitingForKubeconfig { .. }
    )));
    assert!(lifecycle(|state| matches!(
        state,
        Lifecycle::KubeconfigUnusable { .. }
    )));
    assert!(lifecycle(|state| matches!(
        state,
        Lifecycle::Unreachable { .. }
    )));
    assert!(lifecycle(|state| matches!(state, Lifecycle::Reachable)));
    Ok(())
}

#[test]
fn a_token_that_expires_is_replaced_without_loss() -> Result<()> {
    let mut scene = Scene::new()?;
    let token = |token: &str| Kubeconfig::WithToken(token.to_owned());
    scene.set(|settings| settings.token = Some("first".to_owned()));
    scene
        .cluster
        .write_kubeconfig(&scene.kubeconfig(), &token("first"))?;
    scene.record()?;
    scene.await_live(ENDPOINTS)?;
    scene.set(|settings| settings.token = Some("second".to_owned()));
    scene.reconnect(ENDPOINTS)?;
    scene.cluster.wait_for_request("a 401", SURE, |one| {
        one.asked.path == ENDPOINTS && one.progress().status == Some(401)
    })?;
    scene.write()?;
    scene
        .cluster
        .write_kubeconfig(&scene.kubeconfig(), &token("second"))?;
    scene.await_live(ENDPOINTS)?;
    scene.written_whole()
}

/// Has the recorder open a stream anew with what the kubeconfig says now, and writes.
fn go_on_with(scene: &mut Scene, what: &Kubeconfig) -> Result<()> {
    let file = scene.kubeconfig();
    scene.cluster.write_kubeconfig(&file, what)?;
    scene.reconnect(ENDPOINTS)?;
    scene.write()?;
    scene.cluster.wait_sent("endpoints", SURE)?;
    scene.write()?;
    Ok(())
}

#[test]
fn a_kubeconfig_spoilt_while_recording_costs_nothing() -> Result<()> {
    let mut scene = Scene::live()?;
    let mut said = scene.log().len();
    for spoilt in [
        Kubeconfig::Empty,
        Kubeconfig::HalfWritten,
        Kubeconfig::NotYaml,
    ] {
        go_on_with(&mut scene, &spoilt).with_context(|| format!("{spoilt:?}"))?;
        said = await_words(&scene, said).with_context(|| format!("{spoilt:?}"))?;
    }
    std::fs::remove_file(scene.kubeconfig())?;
    scene.reconnect(ENDPOINTS)?;
    scene.write()?;
    scene.cluster.wait_sent("endpoints", SURE)?;
    go_on_with(&mut scene, &Kubeconfig::Good)?;
    // Another one that leads to the same cluster: the streams go on.
    scene.set(|settings| settings.token = Some("new".to_owned()));
    let replaced = Kubeconfig::WithToken("new".to_owned());
    let file = scene.kubeconfig();
    scene.cluster.write_kubeconfig(&file, &replaced)?;
    scene.reconnect(ENDPOINTS)?;
    scene.await_live(ENDPOINTS)?;
    scene.write()?;
    scene.whole(&["endpoints"])?;
    let unusable =
        |note: &Note| matches!(note, Note::Lifecycle(Lifecycle::KubeconfigUnusable { .. }));
    assert!(scene.notes()?.iter().any(unusable), "{:#?}", scene.notes()?);
    Ok(())
}

#[test]
fn secrets_never_reach_the_reel() -> Result<()> {
    let mut scene = Scene::new()?;
    let secret = |text: &str| {
        let applied = format!(
            r#""annotations":{{"kubectl.kubernetes.io/last-applied-configuration":"{{\"data\":\"{text}\"}}"}}"#
        );
        let members = format!(
            r#""data":{{"password":"{text}"}},"stringData":{{"also":"{text}"}},"type":"Opaque""#
        );
        (applied, members)
    };
    let (applied, members) = secret("aW5pdGlhbC1zZWNyZXQ");
    scene
        .cluster
        .put_with_metadata("secrets", "default", "s", &applied, &members)?;
    scene.record()?;
    scene.await_live("/api/v1/secrets")?;
    let (applied, members) = secret("bGl2ZS1zZWNyZXQ");
    scene
        .cluster
        .put_with_metadata("secrets", "default", "s", &applied, &members)?;
    scene.delete("secrets", "default", "s")?;
    kubereel_tests::recording::settle(&scene.cluster, "secrets", SURE)?;
    scene.finish()?;
    let reel = Reel::open(&scene.reel())?;
    let mut seen = 0;
    for event in reel.scan(Seq(0)) {
        let body = String::from_utf8_lossy(&event?.body).into_owned();
        seen += usize::from(body.contains("\"Opaque\""));
        for text in ["aW5pdGlhbC1zZWNyZXQ", "bGl2ZS1zZWNyZXQ"] {
            assert!(!body.contains(text), "{body}");
        }
    }
    assert_eq!(seen, 3, "all three events of the secret are there");
    let file = std::fs::read(scene.reel())?;
    for text in [b"aW5pdGlhbC1zZWNyZXQ".as_slice(), b"bGl2ZS1zZWNyZXQ"] {
        assert!(!file.windows(text.len()).any(|window| window == text));
    }
    Ok(())
}

#[test]
fn bodies_compressed_against_our_wish_are_not_taken_for_complete() -> Result<()> {
    let mut scene = Scene::new()?;
    scene.set(|settings| settings.gzip = Gzip::Always);
    scene.record()?;
    scene
        .cluster
        .wait_until("a second round", SURE, |cluster| {
            (cluster.requests().len() >= 4).then_some(())
        })?;
    let asked = scene.cluster.requests();
    let accepts_gzip =
        |encodings: Option<&str>| encodings.is_some_and(|text| text.contains("gzip"));
    assert!(
        !asked
            .iter()
            .any(|one| accepts_gzip(one.asked.header("accept-encoding")))
    );
    scene.finish()?;
    let synced = |note: &Note| matches!(note, Note::Synced { .. });
    assert!(!scene.notes()?.iter().any(synced), "nothing could be read");
    Ok(())
}
