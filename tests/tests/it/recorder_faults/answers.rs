//! Answers that are refusals, pages of proxies, or nothing.

use anyhow::Result;
use kubereel_format::{GapCause, GapVerdict, Lifecycle, NotCoveredReason, Note};
use kubereel_tests::scripted::{Canned, End, Fault, On, Resource};

use crate::recorder_faults::read_back::{before_the_gap, change_unseen, come_back, judged};
use crate::recorder_faults::{ENDPOINTS, SURE, Scene};

/// A stream that brings one ERROR event and ends in order, whatever was asked for.
fn error_event(code: u16, reason: &str, message: &str) -> Fault {
    let line = format!(
        "{{\"type\":\"ERROR\",\"object\":{{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{{}},\"status\":\"Failure\",\"message\":\"{message}\",\"reason\":\"{reason}\",\"code\":{code}}}}}\n"
    );
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    let answer = format!("{head}{:x}\r\n{line}\r\n0\r\n\r\n", line.len());
    Fault::Raw(answer.into_bytes(), End::Closed)
}

#[test]
fn a_watch_refused_in_any_way_goes_on_without_loss() -> Result<()> {
    let mut scene = Scene::live()?;
    let status = |code: u16, reason: &str| Fault::Answer(Canned::status(code, reason, "not now"));
    let faults = [
        status(401, "Unauthorized"),
        status(404, "NotFound"),
        status(409, "Conflict"),
        status(410, "Expired"),
        status(422, "Invalid"),
        status(500, "InternalError"),
        status(503, "ServiceUnavailable"),
        status(504, "Timeout"),
        Fault::Answer(Canned::status(429, "TooManyRequests", "slowly").header("Retry-After", "1")),
        Fault::Answer(
            Canned::status(
                504,
                "Timeout",
                "Too large resource version: 99999999, current: 7",
            )
            .header("Retry-After", "1"),
        ),
        Fault::Answer(Canned::status(
            429,
            "TooManyRequests",
            "storage is (re)initializing",
        )),
        Fault::Answer(Canned::text(503, "service unavailable")),
        Fault::Answer(Canned::html(502, "<html>Bad Gateway</html>")),
        Fault::Answer(Canned::html(200, "<html>Please log in</html>\n")),
        Fault::Answer(Canned::text(200, "")),
        error_event(410, "Expired", "too old resource version: 1 (2)"),
        error_event(500, "InternalError", "etcdserver: leader changed"),
        Fault::Raw(Vec::new(), End::Closed),
        Fault::Raw(Vec::new(), End::Reset),
        Fault::Raw(b"\x15\x03\x01\x00\x02\x02\x16".to_vec(), End::Closed),
        Fault::Head(20, End::Closed),
        Fault::Head(100, End::Reset),
    ];
    for fault in faults {
        scene.next_watch(fault)?;
        scene.write()?;
        scene.cluster.wait_sent("endpoints", SURE)?;
    }
    let account = scene.whole(&["endpoints"])?;
    assert!(account.recorded >= 21, "{account:?}");
    Ok(())
}

#[test]
fn a_history_that_comes_back_is_used() -> Result<()> {
    let mut scene = Scene::live()?;
    let rule = scene.fault(
        On::watch(ENDPOINTS).times(3),
        error_event(410, "Expired", "too old resource version: 1 (2)"),
    );
    scene.reconnect(ENDPOINTS)?;
    scene.write()?;
    scene.await_hits(rule, 3)?;
    scene.whole(&["endpoints"])?;
    Ok(())
}

#[test]
fn a_history_that_is_lost_leaves_a_gap_and_the_truth_behind_it() -> Result<()> {
    let mut scene = before_the_gap()?;
    let before = scene.cluster.revision();
    scene.cluster.go_down()?;
    change_unseen(&mut scene)?;
    scene.cluster.compact(scene.cluster.revision());
    let lost_until = scene.cluster.revision();
    come_back(&mut scene)?;
    let account = scene.account(&["endpoints"])?.check()?;
    let [gap] = account.gaps.as_slice() else {
        panic!("one gap is due: {:#?}", account.gaps);
    };
    assert_eq!(gap.cause, GapCause::Expired);
    let from: u128 = gap.from_rv.as_deref().unwrap_or_default().parse()?;
    let to: u128 = gap.to_rv.parse()?;
    assert!(
        from >= before - 1 && to >= lost_until,
        "{gap:?}, {before} to {lost_until}"
    );
    // Of eleven commits three are the last versions of what stands, which the list showed.
    assert_eq!(account.in_gaps, 8, "{account:?}");
    assert!(
        gap.missing_at_most.is_some_and(|bound| bound >= 8),
        "{gap:?}"
    );
    let judged = judged(&scene, gap)?;
    assert_eq!(judged.verdict, GapVerdict::Lost, "{judged:?}");
    assert_eq!(judged.reconstructed, 0, "{judged:?}");
    assert!((1..=6).contains(&judged.requests), "{judged:?}");
    Ok(())
}

#[test]
fn what_may_not_be_read_is_named_and_the_rest_goes_on() -> Result<()> {
    let mut scene = Scene::new()?;
    let message = "secrets is forbidden: User \"tester\" cannot list resource \"secrets\"";
    scene.fault(
        On::path("/api/v1/secrets"),
        Fault::Answer(Canned::status(403, "Forbidden", message)),
    );
    scene.recorded_whole()?;
    let told = scene.notes()?.into_iter().any(|note| {
        matches!(note, Note::NotCovered { plural, reason, detail, .. }
            if plural == "secrets" && reason == NotCoveredReason::Forbidden && detail.contains("cannot list"))
    });
    assert!(told, "{:#?}", scene.notes()?);
    Ok(())
}

#[test]
fn refused_resources_do_not_keep_others_from_being_listed() -> Result<()> {
    let mut scene = Scene::new()?;
    let plurals: Vec<String> = (0..50).map(|number| format!("refused{number}")).collect();
    for plural in &plurals {
        let resource = Resource::built_in("refused.io", "v1", plural, plural);
        scene.cluster.serve(resource);
    }
    let refusal = Canned::status(403, "Forbidden", "not for you");
    let refused = On::path("/apis/refused.io/v1/*");
    scene.fault(refused, Fault::Answer(refusal));
    scene.record()?;
    scene
        .cluster
        .wait_until("each was asked for", SURE, |cluster| {
            let is_asked = |plural: &String| {
                let path = format!("/apis/refused.io/v1/{plural}");
                !cluster.requests_to(&path).is_empty()
            };
            plurals.iter().all(is_asked).then_some(())
        })?;
    scene.await_live(ENDPOINTS)?;
    scene.written_whole()
}

#[test]
fn a_portal_in_front_of_the_server_is_told_and_outlived() -> Result<()> {
    let mut scene = Scene::new()?;
    let portal = scene.fault(
        On::path("*"),
        Fault::Answer(Canned::html(200, "<html>Please log in</html>")),
    );
    scene.record()?;
    scene.await_hits(portal, 2)?;
    scene.cluster.lift(portal);
    scene.await_live(ENDPOINTS)?;
    scene.write()?;
    scene.whole(&["endpoints"])?;
    let told = scene.notes()?.into_iter().any(|note| {
        matches!(note, Note::Lifecycle(Lifecycle::Unreachable { error }) if error.contains("html"))
    });
    assert!(told, "{:#?}", scene.notes()?);
    Ok(())
}
