//! A cluster behind a proxy: its settings appear after the kubeconfig, and change while it is recorded.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use kubereel_tests::proxy::ConnectProxy;
use kubereel_tests::recording::{Account, settle};
use kubereel_tests::scripted::Kubeconfig;

use crate::observing::{ENDPOINTS, Job, SURE};

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
