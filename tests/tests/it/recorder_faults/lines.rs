//! Lines that are not what a watch promises.

use anyhow::{Context as _, Result};
use kubereel_format::{AnomalyKind, EndCause, Note, OddLineProblem};
use kubereel_history::ResourceProof;
use kubereel_tests::recording::settle;
use kubereel_tests::scripted::{Edit, Fault, On, Pick};

use crate::recorder_faults::{ENDPOINTS, SURE, Scene};

fn modified(edit: Edit) -> Fault {
    Fault::Edit(Pick::Type("MODIFIED"), edit)
}

fn odd_lines(scene: &Scene) -> Result<Vec<OddLineProblem>> {
    let problem = |note| match note {
        Note::OddLine { problem, .. } => Some(problem),
        _ => None,
    };
    Ok(scene.notes()?.into_iter().filter_map(problem).collect())
}

#[test]
fn lines_that_are_no_events_are_kept_and_cost_nothing() -> Result<()> {
    let mut scene = Scene::live()?;
    let bad: [&[u8]; 6] = [
        b"{\"type\":\"MODIFIED\",\"object\":{\"kind\":\n",
        b"{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"\xff\xfe\"}}}\n",
        b"not json at all\n",
        b"[]\n",
        b"{\"type\":\"MODIFIED\"}\n",
        b"\0\0\0\0\n",
    ];
    for bytes in bad {
        // Only the first stream has it: asked again, the server tells properly.
        scene.next_watch(modified(Edit::Replace(bytes.to_vec())))?;
        scene.write()?;
        scene.write()?;
        scene.cluster.wait_sent("endpoints", SURE)?;
    }
    scene.whole(&["endpoints"])?;
    let odd = odd_lines(&scene)?;
    assert!(odd.len() >= bad.len(), "{odd:?}");
    Ok(())
}

#[test]
fn a_line_that_stays_unreadable_is_a_gap_not_a_standstill() -> Result<()> {
    let mut scene = Scene::live()?;
    let poisoned = scene.cluster.revision() + 1;
    let edit = Edit::Replace(b"{\"type\":\"MODIFIED\",\"object\":\n".to_vec());
    scene.fault(
        On::watch(ENDPOINTS),
        Fault::Edit(Pick::Revision(poisoned), edit),
    );
    scene.reconnect(ENDPOINTS)?;
    scene.await_live(ENDPOINTS)?;
    scene.write()?;
    scene.write()?;
    scene.cluster.wait_until("a new list", SURE, |cluster| {
        let lists = cluster.requests_to(ENDPOINTS);
        let lists = lists
            .iter()
            .filter(|one| one.asked.parameter("resourceVersion").is_none());
        (lists.count() >= 2).then_some(())
    })?;
    scene.write()?;
    let account = scene.account(&["endpoints"])?.check()?;
    assert!(
        account
            .gaps
            .iter()
            .any(|gap| gap.cause == kubereel_format::GapCause::Unreadable),
        "{account:?}"
    );
    Ok(())
}

#[test]
fn objects_that_are_not_utf8_are_kept_and_the_watch_goes_on() -> Result<()> {
    let mut scene = Scene::live()?;
    let first = scene.cluster.revision() + 1;
    for revision in first..first + 5 {
        let head = format!(
            r#"{{"type":"MODIFIED","object":{{"kind":"Endpoints","apiVersion":"v1","metadata":{{"namespace":"default","name":"bad","uid":"bad","resourceVersion":"{revision}","annotations":{{"a":""#
        );
        let line = [head.as_bytes(), b"\xff\xfe\"}}}}\n"].concat();
        scene.fault(
            On::watch(ENDPOINTS),
            Fault::Edit(Pick::Revision(revision), Edit::Replace(line)),
        );
    }
    scene.reconnect(ENDPOINTS)?;
    scene.await_live(ENDPOINTS)?;
    for _ in 0..6 {
        scene.write()?;
    }
    settle(&scene.cluster, "endpoints", SURE)?;
    scene.finish()?;
    scene.check_claims(&["endpoints"])?;
    let is_restart = |note: &Note| {
        let unreadable = EndCause::Unreadable;
        matches!(note, Note::Gap(_))
            || matches!(note, Note::Disconnected { cause, .. } if *cause == unreadable)
    };
    assert!(!scene.notes()?.iter().any(is_restart));
    assert_eq!(odd_lines(&scene)?, [OddLineProblem::Unparsable; 5]);
    let timeline = kubereel_history::Timeline::open(&scene.reel())?;
    let endpoints = timeline.resources().find("endpoints")?;
    let proof = ResourceProof::of(&timeline, endpoints);
    assert_eq!(
        proof.state,
        kubereel_history::ResourceCompleteness::Incomplete
    );
    Ok(())
}

#[test]
fn objects_with_endless_names_leave_their_resource_incomplete() -> Result<()> {
    let mut scene = Scene::live()?;
    for nth in 0..19 {
        scene.put("endpoints", "default", &format!("e{nth}"), r#""data":{}"#)?;
    }
    let long = "n".repeat(5_000);
    scene.put("endpoints", "default", &long, r#""data":{}"#)?;
    settle(&scene.cluster, "endpoints", SURE)?;
    scene.finish()?;
    scene.check_claims(&["endpoints"])?;
    let reel = scene.reel();
    let run = |words: &[&str]| -> Result<(Option<i32>, String)> {
        let mut command = std::process::Command::new(kubereel_tests::recording::program()?);
        let (word, more) = words.split_first().context("a command")?;
        let output = command.arg(word).arg(&reel).args(more).output()?;
        let said = [output.stdout, output.stderr].concat();
        Ok((
            output.status.code(),
            String::from_utf8_lossy(&said).into_owned(),
        ))
    };
    for (words, code) in [
        (&["verify"][..], 1),
        (&["export"], 4),
        (&["get", "endpoints", "-A"], 4),
        (&["describe", "endpoints/e0"], 4),
        (&["blame", "endpoints/e0"], 4),
        (&["history", "endpoints/e0", "--to", "end"], 4),
        (
            &["diff", "endpoints", "-A", "--from", "start", "--to", "end"],
            4,
        ),
        (&["wait", "endpoints/none", "--for=create"], 4),
        (&["info"], 0),
    ] {
        let (ended, said) = run(words)?;
        assert_eq!(ended, Some(code), "{words:?}: {said}");
        assert!(!said.contains("· complete"), "{words:?}: {said}");
    }
    Ok(())
}

#[test]
fn a_type_from_the_future_is_kept() -> Result<()> {
    let mut scene = Scene::live()?;
    scene.next_watch(modified(Edit::Type("PATCHED".to_owned())))?;
    scene.write()?;
    scene.write()?;
    scene.await_lines(2)?;
    scene.account(&["endpoints"])?.check()?;
    assert!(odd_lines(&scene)?.contains(&OddLineProblem::UnknownType));
    Ok(())
}

#[test]
fn revisions_against_the_rules_are_kept_and_marked() -> Result<()> {
    let mut scene = Scene::live()?;
    let far = "340282366920938463463374607431768211456";
    let edits = [
        Edit::Twice,
        Edit::ResourceVersion(Some("1".to_owned())),
        Edit::ResourceVersion(None),
        Edit::ResourceVersion(Some(String::new())),
        Edit::ResourceVersion(Some("abc".to_owned())),
        Edit::Before(b"\n".to_vec()),
        Edit::Before(b"{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Endpoints\",\"apiVersion\":\"v1\",\"metadata\":{}}}\n".to_vec()),
        Edit::ResourceVersion(Some(far.to_owned())),
    ];
    for edit in edits {
        scene.next_watch(Fault::Edit(Pick::Line(1), edit))?;
        for _ in 0..3 {
            scene.write()?;
        }
        scene.await_lines(3)?;
    }
    scene.account(&["endpoints"])?.check()?;
    let kinds: Vec<AnomalyKind> = scene
        .notes()?
        .into_iter()
        .filter_map(|note| match note {
            Note::Anomaly { kind, .. } => Some(kind),
            _ => None,
        })
        .collect();
    for kind in [
        AnomalyKind::VersionNotRising,
        AnomalyKind::VersionUnusable,
        AnomalyKind::BookmarkWithoutVersion,
    ] {
        assert!(kinds.contains(&kind), "{kind:?} is not among {kinds:?}");
    }
    Ok(())
}

#[test]
fn revisions_of_39_digits_are_as_good_as_any() -> Result<()> {
    let mut scene = Scene::new()?;
    scene.cluster = kubereel_tests::scripted::ScriptedCluster::start_as(9, 10_u128.pow(38))?;
    scene.cluster.write_kubeconfig(
        &scene.kubeconfig(),
        &kubereel_tests::scripted::Kubeconfig::Good,
    )?;
    scene.record()?;
    scene.await_live(ENDPOINTS)?;
    for _ in 0..5 {
        scene.write()?;
    }
    scene.reconnect(ENDPOINTS)?;
    scene.write()?;
    assert_eq!(scene.whole(&["endpoints"])?.recorded, 6);
    Ok(())
}

#[test]
fn a_line_of_forty_mebibytes_is_kept_in_bounded_memory() -> Result<()> {
    let mut scene = Scene::live()?;
    let big = format!(
        r#""data":{{"big":"{}"}}"#,
        "0123456789abcdef".repeat(40 << 16)
    );
    scene.put("endpoints", "default", "big", &big)?;
    scene.write()?;
    scene.cluster.wait_sent("endpoints", SURE)?;
    scene.delete("endpoints", "default", "big")?;
    scene.write()?;
    scene.cluster.wait_sent("endpoints", SURE)?;
    let peak = scene
        .recorder
        .as_ref()
        .context("it records")?
        .peak_memory_kib()?;
    scene.account(&["endpoints"])?.check()?;
    assert!(odd_lines(&scene)?.contains(&OddLineProblem::TooLong));
    assert!(peak < 250 << 10, "{peak} KiB");
    Ok(())
}
