//! What the server tells a test: requests, slow readers, load, kubeconfigs.

use std::time::Duration;

use anyhow::Result;
use kubereel_tests::scripted::{Churn, End, Ending, Kubeconfig, ScriptedCluster};

use crate::scripted::{SURE, client, with_configmaps};

const PATH: &str = "/api/v1/configmaps";

#[test]
fn requests_are_kept_with_query_headers_and_progress() -> Result<()> {
    let (cluster, _) = with_configmaps(1)?;
    let mut asking = client(&cluster)?;
    asking.get(
        &format!("{PATH}?limit=5&fieldSelector=metadata.name%3Da"),
        &[("Accept-Encoding", "identity")],
    )?;
    let request =
        cluster.wait_for_request("its end", SURE, |one| one.progress().ended.is_some())?;
    assert_eq!(request.asked.parameter("limit"), Some("5"));
    assert_eq!(
        request.asked.parameter("fieldSelector"),
        Some("metadata.name=a")
    );
    assert_eq!(request.asked.header("accept-encoding"), Some("identity"));
    let progress = request.progress();
    assert_eq!((progress.status, progress.lines), (Some(200), 1));
    assert!(progress.bytes_accepted > 200);
    assert_eq!(
        progress.ended.map(|(_, how)| how),
        Some(Ending::Server(End::Finished))
    );
    let never = cluster.wait_for_request("a miracle", Duration::from_millis(10), |_| false);
    assert!(never.is_err_and(|error| error.to_string().contains("a miracle")));
    Ok(())
}

#[test]
fn a_client_that_stops_reading_is_seen_and_closed_when_told_so() -> Result<()> {
    let cluster = ScriptedCluster::start()?;
    let from = cluster.revision();
    let members = format!(r#""data":{{"big":"{}"}}"#, "x".repeat(512 << 10));
    for nth in 0..24 {
        cluster.put("configmaps", "default", &format!("c{nth}"), &members)?;
    }
    let target = format!("{PATH}?watch=true&resourceVersion={from}");
    let mut lazy = client(&cluster)?;
    lazy.ask(&target, &[])?;
    let stalled = cluster.wait_for_request("a stall", SURE, |one| {
        one.progress().stalled_since.is_some()
    })?;
    let accepted = stalled.progress().bytes_accepted;
    assert!(accepted > 0 && accepted < 12 << 20, "{accepted}");
    assert_eq!(
        lazy.lines(24)?.len(),
        24,
        "reading goes on where it stopped"
    );

    cluster.set(|settings| settings.stall_limit = Some(Duration::from_millis(50)));
    let mut lazier = client(&cluster)?;
    lazier.ask(&target, &[])?;
    let closed = cluster.wait_for_request("the close", SURE, |one| {
        one.progress()
            .ended
            .is_some_and(|(_, how)| how == Ending::Server(End::Closed))
    })?;
    assert!(closed.progress().lines < 24);
    Ok(())
}

#[test]
fn load_is_made_at_its_rate_and_all_of_it_is_sent() -> Result<()> {
    let cluster = ScriptedCluster::start()?;
    let from = cluster.revision();
    let mut stream = client(&cluster)?;
    stream.ask(&format!("{PATH}?watch=true&resourceVersion={from}"), &[])?;
    let load = Churn {
        writes: Some(500),
        per_second: None,
        ..Churn::default()
    };
    assert_eq!(cluster.churn(load.clone())?.finish()?, 500);
    assert_eq!(stream.lines(500)?.len(), 500);
    cluster.wait_sent("configmaps", SURE)?;
    let changes = |wanted: &str| {
        cluster
            .committed()
            .iter()
            .filter(|one| one.change.as_str() == wanted && one.storage == "configmaps")
            .count()
    };
    assert!(changes("ADDED") > 0 && changes("DELETED") > 0);
    assert_eq!(
        changes("ADDED") + changes("MODIFIED") + changes("DELETED"),
        500
    );

    let started = std::time::Instant::now();
    let paced = Churn {
        writes: Some(20),
        per_second: Some(100),
        ..load
    };
    cluster.churn(paced)?.finish()?;
    assert!(started.elapsed() >= Duration::from_millis(190));
    let endless = cluster.churn(Churn {
        writes: None,
        ..Churn::default()
    })?;
    cluster.wait_until("some load", SURE, |cluster| {
        (cluster.revision() > from + 530).then_some(())
    })?;
    assert!(endless.stop()? > 10);
    Ok(())
}

#[test]
fn kubeconfigs_lead_here_or_are_broken_as_named() -> Result<()> {
    let cluster = ScriptedCluster::start()?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("kubeconfig");
    let write = |what: &Kubeconfig| -> Result<String> {
        cluster.write_kubeconfig(&path, what)?;
        Ok(std::fs::read_to_string(&path)?)
    };
    let good = write(&Kubeconfig::Good)?;
    assert!(good.contains(&format!("server: {}", cluster.url())));
    assert!(good.contains("current-context: scripted"));
    let half = write(&Kubeconfig::HalfWritten)?;
    assert!(good.starts_with(&half) && half.len() == good.len() / 2);
    assert_eq!(write(&Kubeconfig::Empty)?, "");
    assert!(write(&Kubeconfig::WithToken("sesame".to_owned()))?.contains("token: sesame"));
    assert!(write(&Kubeconfig::NoSuchContext)?.contains("current-context: nowhere"));
    assert!(
        write(&Kubeconfig::Elsewhere("http://127.0.0.1:1".to_owned()))?.contains("127.0.0.1:1")
    );
    assert!(write(&Kubeconfig::NotYaml)?.starts_with("{]"));
    Ok(())
}
