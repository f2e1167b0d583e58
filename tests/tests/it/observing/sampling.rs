//! Counters of the API server over time, of the real one too.

use anyhow::Result;
use kubereel_format::Note;
use kubereel_history::{CounterMove, Timeline};
use kubereel_tests::control_plane::{ControlPlane, skipped};
use kubereel_tests::recording::{Observed, Observing};
use kubereel_tests::scripted::{Canned, Fault, Kubeconfig, On};

use crate::observing::{Job, SURE};

fn sampled(observed: &Observed, wanted: &str) -> Result<Vec<String>> {
    let notes = observed.notes()?.into_iter();
    let values = notes.filter_map(|note| match note {
        Note::Sampled { name, value, .. } if name == wanted => Some(value),
        _ => None,
    });
    Ok(values.collect())
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
    job.cluster.wait_for_request("a reading", SURE, |one| {
        one.asked.path == "/metrics" && one.progress().ended.is_some()
    })?;
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
