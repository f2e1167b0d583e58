//! Lists, streamed and in pages, that go wrong.
//!
//! The table of a misbehaving server: every kind of list that fails, from the start of a recording, in
//! its middle and at its end. Whatever was never listed, or not again, is named, and nothing that
//! concerns it is called complete.

#![expect(
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a missing field of JSON is null there, and the table is what the test shows"
)]

use crate::recorder_faults::{ENDPOINTS, SURE, Scene, cut};
use anyhow::{Context as _, Result, ensure};
use kubereel_format::{ListMethod, Note};
use kubereel_tests::recording::program;
use kubereel_tests::scripted::{
    Canned, End, Fault, FaultId, InitialEnd, On, Pick, Place, Resource, WatchList,
};
use serde_json::Value;
use std::process::{Command, Output};

/// A scene with this many endpoints beside the first.
fn crowded(count: usize) -> Result<Scene> {
    let scene = Scene::new()?;
    for nth in 0..count {
        scene.put(
            "endpoints",
            "default",
            &format!("c{nth:04}"),
            r#""data":{}"#,
        )?;
    }
    Ok(scene)
}

fn methods(scene: &Scene) -> Result<Vec<(ListMethod, u64)>> {
    let synced = |note| match note {
        Note::Synced {
            method, objects, ..
        } => Some((method, objects)),
        _ => None,
    };
    Ok(scene.notes()?.into_iter().filter_map(synced).collect())
}

#[test]
fn a_server_without_streamed_lists_is_read_in_pages() -> Result<()> {
    let mut scene = crowded(1200)?;
    scene.set(|settings| settings.watch_list = WatchList::Refused);
    let account = scene.recorded_whole()?;
    assert_eq!(account.recorded, 1202, "{account:?}");
    assert!(methods(&scene)?.contains(&(ListMethod::Pages, 1201)));
    Ok(())
}

#[test]
fn an_old_server_is_not_asked_for_streamed_lists() -> Result<()> {
    let mut scene = crowded(10)?;
    scene.set(|settings| {
        "v1.26.4".clone_into(&mut settings.version);
        settings.watch_list = WatchList::Ignored;
    });
    scene.recorded_whole()?;
    let streamed = scene
        .cluster
        .requests()
        .iter()
        .filter(|one| one.asked.parameter("sendInitialEvents").is_some())
        .count();
    assert_eq!(streamed, 0);
    Ok(())
}

#[test]
fn a_token_that_expires_on_the_second_page_starts_the_list_anew() -> Result<()> {
    let mut scene = crowded(1200)?;
    scene.set(|settings| settings.watch_list = WatchList::Refused);
    let expired = Canned::status(410, "Expired", "The provided continue parameter is too old");
    let rule = scene.fault(
        On::list(ENDPOINTS).with_query("continue=").once(),
        Fault::Answer(expired),
    );
    let account = scene.recorded_whole()?;
    assert_eq!((account.recorded, scene.cluster.hits(rule)), (1202, 1));
    Ok(())
}

#[test]
fn pages_cut_anywhere_are_read_again() -> Result<()> {
    let mut scene = crowded(1200)?;
    scene.set(|settings| settings.watch_list = WatchList::Refused);
    for (place, end) in [
        (Place::Line(0), End::Closed),
        (Place::Line(40), End::Reset),
        (Place::Line(5000), End::Closed),
        (Place::Line(5000), End::Finished),
    ] {
        scene.fault(On::list(ENDPOINTS).once(), cut(Pick::Every, place, end));
    }
    scene.fault(
        On::list(ENDPOINTS).with_query("continue=").times(2),
        cut(Pick::Every, Place::Line(9000), End::Closed),
    );
    assert_eq!(scene.recorded_whole()?.recorded, 1202);
    Ok(())
}

#[test]
fn a_streamed_list_cut_before_its_end_is_begun_anew() -> Result<()> {
    let mut scene = crowded(50)?;
    for (line, place, end) in [
        (0, Place::Line(0), End::Closed),
        (20, Place::Line(15), End::Reset),
        (50, Place::After, End::Finished),
    ] {
        scene.fault(
            On::watch(ENDPOINTS).with_query("sendInitialEvents").once(),
            cut(Pick::Line(line), place, end),
        );
    }
    assert_eq!(scene.recorded_whole()?.recorded, 52);
    Ok(())
}

#[test]
fn changes_before_the_end_of_a_streamed_list_count() -> Result<()> {
    let mut scene = crowded(5)?;
    scene.put("endpoints", "default", "c0001", r#""data":{"again":"yes"}"#)?;
    scene.delete("endpoints", "default", "c0002")?;
    scene.put("endpoints", "default", "c0009", r#""data":{}"#)?;
    scene.set(|settings| settings.initial_lag = 3);
    let account = scene.recorded_whole()?;
    assert_eq!(account.recorded, 10, "{account:?}");
    Ok(())
}

#[test]
fn an_end_of_the_list_that_comes_first_is_not_believed_blindly() -> Result<()> {
    let mut scene = crowded(5)?;
    scene.set(|settings| settings.initial_end = InitialEnd::BeforeEvents);
    scene.record()?;
    scene.await_live(ENDPOINTS)?;
    scene.write()?;
    // Whatever the recorder makes of it, every object is in the reel.
    let account = scene.account(&["endpoints"])?.check()?;
    assert_eq!(account.recorded, 7, "{account:?}");
    Ok(())
}

const GROUP: &str = "example.com";

/// One kind of failing list.
struct Kind {
    /// The plural of the resource that fails so.
    plural: &'static str,
    /// What the server does.
    fault: fn() -> Fault,
}

fn status(code: u16, reason: &str) -> Fault {
    Fault::Answer(Canned::status(code, reason, "it does not work"))
}

fn bytes(answer: &[u8], end: End) -> Fault {
    Fault::Raw(answer.to_vec(), end)
}

const KINDS: [Kind; 12] = [
    Kind {
        plural: "errors500",
        fault: || status(500, "InternalError"),
    },
    Kind {
        plural: "unavailable503",
        fault: || Fault::Answer(Canned::text(503, "service unavailable\n")),
    },
    Kind {
        plural: "busy429",
        fault: || {
            let busy = Canned::status(429, "TooManyRequests", "slow down");
            Fault::Answer(busy.header("Retry-After", "1"))
        },
    },
    Kind {
        plural: "unauthorized401",
        fault: || status(401, "Unauthorized"),
    },
    Kind {
        plural: "missing404",
        fault: || status(404, "NotFound"),
    },
    Kind {
        plural: "unacceptable406",
        fault: || status(406, "NotAcceptable"),
    },
    Kind {
        plural: "empty204",
        fault: || bytes(b"HTTP/1.1 204 No Content\r\n\r\n", End::Closed),
    },
    Kind {
        plural: "moved302",
        fault: || {
            let moved = Canned::text(302, "").header("Location", "/login");
            Fault::Answer(moved)
        },
    },
    Kind {
        plural: "pages200",
        fault: || Fault::Answer(Canned::html(200, "<html><body>Log in</body></html>")),
    },
    Kind {
        plural: "cuts",
        fault: || {
            bytes(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n\r\n\
                  {\"kind\":\"List\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[",
                End::Reset,
            )
        },
    },
    Kind {
        plural: "others",
        fault: || {
            let mut other = Canned::status(200, "", "");
            other.body = br#"{"kind":"Status","status":"Success"}"#.to_vec();
            Fault::Answer(other)
        },
    },
    Kind {
        plural: "silences",
        fault: || bytes(b"", End::Silent),
    },
];

impl Kind {
    fn resource(&self) -> Resource {
        Resource::custom(GROUP, "v1", self.plural, "Thing")
    }

    fn name(&self) -> String {
        format!("{}.{GROUP}", self.plural)
    }

    /// Has every list of the resource fail, streamed or not.
    fn fail(&self, scene: &Scene) -> FaultId {
        let path = self.resource().path();
        let streamed = On::path(&path).with_query("sendInitialEvents=true");
        let fault = (self.fault)();
        let rule = scene.fault(streamed, fault.clone());
        scene.fault(On::list(&path), fault);
        rule
    }
}

fn kubereel(scene: &Scene, words: &[&str]) -> Result<Output> {
    let mut command = Command::new(program()?);
    let (command_word, more) = words.split_first().context("a command")?;
    command.arg(command_word).arg(scene.reel()).args(more);
    Ok(command.output()?)
}

/// The output about one resource.
struct Row {
    kind: &'static str,
    state: String,
    reasons: String,
}

/// Holds what every command says of the failed resources against the truth: none of them is known.
fn check(scene: &Scene, when: &str, state: &str) -> Result<()> {
    let verify = kubereel(scene, &["verify", "-o", "json"])?;
    let proof: Value = serde_json::from_slice(&verify.stdout)?;
    ensure!(verify.status.code() == Some(1), "{when}: {proof:#}");
    ensure!(proof["verdict"] == "incomplete", "{when}: {proof:#}");
    let resources = proof["resources"].as_array().context("resources")?;
    let mut rows = Vec::new();
    for kind in &KINDS {
        let one = resources.iter().find(|one| one["resource"] == kind.name());
        let one =
            one.with_context(|| format!("{when}: {} is not named: {proof:#}", kind.name()))?;
        let gaps = one["unseen"].as_array().context("unseen")?.iter();
        let reasons = gaps.filter_map(|unseen| unseen["why"].as_str());
        rows.push(Row {
            kind: kind.plural,
            state: one["state"].as_str().unwrap_or_default().to_owned(),
            reasons: reasons.collect::<Vec<_>>().join("; "),
        });
    }
    for row in &rows {
        println!(
            "| {:<16} | {when:<6} | {:<12} | {} |",
            row.kind, row.state, row.reasons
        );
    }
    for row in &rows {
        ensure!(row.state == state, "{when}: {} is {}", row.kind, row.state);
        ensure!(
            !row.reasons.is_empty(),
            "{when}: {} for no reason",
            row.kind
        );
    }
    let healthy = resources.iter().find(|one| one["resource"] == "endpoints");
    ensure!(
        healthy.context("endpoints")?["state"] == "complete",
        "{proof:#}"
    );
    for words in [
        &["verify"][..],
        &["info", "-o", "wide"],
        &["export", "-o", "jsonl"],
    ] {
        let output = kubereel(scene, words)?;
        let mut said = String::from_utf8_lossy(&output.stderr).into_owned();
        if words[0] != "export" {
            said.push_str(&String::from_utf8_lossy(&output.stdout));
        }
        for kind in &KINDS {
            ensure!(
                said.contains(&kind.name()),
                "{when}: {words:?} hides {}: {said}",
                kind.name()
            );
        }
        let code = output.status.code();
        let expected = match words[0] {
            "verify" => 1,
            "info" => 0,
            _ => 4,
        };
        ensure!(
            code == Some(expected),
            "{when}: {words:?} ended with {code:?}: {said}"
        );
    }
    for kind in &KINDS {
        let get = kubereel(scene, &["get", &kind.name(), "-A"])?;
        let said = String::from_utf8_lossy(&get.stderr);
        ensure!(
            get.status.code() == Some(4),
            "{when}: get {}: {said}",
            kind.name()
        );
        ensure!(
            !said.contains("· complete"),
            "{when}: get {}: {said}",
            kind.name()
        );
    }
    Ok(())
}

/// Waits until every list has failed, and the log says so of each; one that is never answered is still
/// waited for.
fn await_failures(scene: &Scene, rules: &[FaultId]) -> Result<()> {
    for rule in rules {
        scene.await_hits(*rule, 1)?;
    }
    for name in KINDS.iter().map(Kind::name) {
        let is_hanging = name.starts_with("silences");
        let is_logged = |log: &str| {
            let mut said = log.lines().filter(|line| line.contains("cannot list"));
            said.any(|line| line.contains(&name))
        };
        let what = format!("the log to name {name}");
        let met = scene.cluster.wait_until(&what, SURE, |_| {
            (is_hanging || is_logged(&scene.log())).then_some(())
        });
        met.with_context(|| scene.log())?;
    }
    Ok(())
}

#[test]
fn lists_that_fail_from_the_start_are_never_called_complete() -> Result<()> {
    let mut scene = Scene::new()?;
    for kind in &KINDS {
        scene.cluster.install_crd(&kind.resource())?;
    }
    let rules: Vec<FaultId> = KINDS.iter().map(|kind| kind.fail(&scene)).collect();
    scene.record()?;
    scene.await_live(ENDPOINTS)?;
    await_failures(&scene, &rules)?;
    scene.finish()?;
    check(&scene, "start", "never-listed")
}

#[test]
fn lists_that_fail_after_a_lost_history_are_never_called_complete() -> Result<()> {
    let mut scene = Scene::new()?;
    for kind in &KINDS {
        scene.cluster.install_crd(&kind.resource())?;
    }
    scene.record()?;
    scene.await_live(ENDPOINTS)?;
    for kind in &KINDS {
        scene.await_live(&kind.resource().path())?;
    }
    let mut rules = Vec::new();
    for kind in &KINDS {
        rules.push(kind.fail(&scene));
        let expired = Canned::status(410, "Expired", "too old resource version");
        let resumed = On::watch(&kind.resource().path()).with_query("watch=true&resourceVersion=");
        scene.fault(resumed, Fault::Answer(expired));
    }
    let custom = On::watch(&format!("/apis/{GROUP}/*"));
    scene.cluster.cut_open(&custom, End::Finished);
    await_failures(&scene, &rules)?;
    scene.finish()?;
    check(&scene, "middle", "incomplete")
}

#[test]
fn lists_that_fail_at_the_end_are_never_called_complete() -> Result<()> {
    let mut scene = Scene::live()?;
    let rules: Vec<FaultId> = KINDS.iter().map(|kind| kind.fail(&scene)).collect();
    for kind in &KINDS {
        scene.cluster.install_crd(&kind.resource())?;
    }
    await_failures(&scene, &rules)?;
    scene.finish()?;
    check(&scene, "end", "never-listed")
}
