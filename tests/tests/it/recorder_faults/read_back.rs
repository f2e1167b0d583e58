//! Gaps that the server's own history closes, in full, in part or not at all.

use anyhow::{Context as _, Result, bail};
use kubereel_format::{EventType, Evidence, Gap, GapVerdict, Note, Reel, Seq};
use kubereel_tests::recording::Account;
use kubereel_tests::scripted::{Canned, Fault, On};

use crate::recorder_faults::{ENDPOINTS, OUTAGE, SURE, Scene};

/// What the reel says of a gap.
#[derive(Debug)]
pub(crate) struct GapAccount {
    pub(crate) verdict: GapVerdict,
    pub(crate) reconstructed: u64,
    pub(crate) missing_at_most: Option<u64>,
    pub(crate) requests: u32,
    pub(crate) detail: String,
}

/// A recorded cluster with an object that is to go and one that is to go and return.
pub(crate) fn before_the_gap() -> Result<Scene> {
    let scene = Scene::live()?;
    for name in ["goes", "returns"] {
        let put = scene.put("endpoints", "default", name, r#""data":{}"#);
        put?;
    }
    scene.cluster.wait_sent("endpoints", SURE)?;
    Ok(scene)
}

/// Eleven commits, of which a later list shows three.
pub(crate) fn change_unseen(scene: &mut Scene) -> Result<()> {
    for _ in 0..5 {
        scene.write()?;
    }
    let put = |name: &str, members: &str| scene.put("endpoints", "default", name, members);
    let delete = |name: &str| scene.delete("endpoints", "default", name);
    delete("goes")?;
    delete("returns")?;
    put("returns", r#""data":{"new":"uid"}"#)?;
    put("passes", r#""data":{}"#)?;
    delete("passes")?;
    put("comes", r#""data":{}"#)?;
    Ok(())
}

/// Serves again, waits until the state was listed, and writes once more.
pub(crate) fn come_back(scene: &mut Scene) -> Result<()> {
    let seen = scene.cluster.requests().len();
    scene.cluster.accept()?;
    let listed = scene.cluster.wait_for_request("a list", SURE, |one| {
        one.asked.path == ENDPOINTS
            && one.asked.parameter("sendInitialEvents").is_some()
            && one.progress().lines > 0
            && one.number >= seen
    });
    listed.with_context(|| scene.log())?;
    scene.write()?;
    Ok(())
}

pub(crate) fn judged(scene: &Scene, of: &Gap) -> Result<GapAccount> {
    let notes = scene.notes()?;
    let place = notes.iter().position(|note| *note == Note::Gap(of.clone()));
    let behind = notes.iter().skip(place.context("the gap is noted")?);
    let found = behind.into_iter().find_map(|note| match note {
        Note::GapJudged {
            gap,
            verdict,
            reconstructed,
            missing_at_most,
            requests,
            detail,
        } if *gap == of.id => Some(GapAccount {
            verdict: *verdict,
            reconstructed: *reconstructed,
            missing_at_most: *missing_at_most,
            requests: *requests,
            detail: detail.clone(),
        }),
        _ => None,
    });
    found.context("it is judged behind that")
}

/// Plays the gap, in a server whose watches have no history any more.
fn play(prepare: impl FnOnce(&Scene)) -> Result<(Scene, Account, GapAccount)> {
    let mut scene = before_the_gap()?;
    scene.cluster.go_down()?;
    change_unseen(&mut scene)?;
    prepare(&scene);
    scene.cluster.forget_watch_caches();
    come_back(&mut scene)?;
    let account = scene.account(&["endpoints"])?.check()?;
    let [gap] = account.gaps.as_slice() else {
        bail!("one gap is due: {:#?}", account.gaps);
    };
    let judged = judged(&scene, gap)?;
    Ok((scene, account, judged))
}

fn exact() -> On {
    // Those of one object go to the path of its namespace.
    On::list("*").with_query("resourceVersionMatch=Exact")
}

#[test]
fn what_lists_of_the_past_still_know_is_read_back_whole() -> Result<()> {
    let (scene, account, judged) = play(|_| {})?;
    assert_eq!(account.in_gaps, 0, "{account:?}");
    assert_eq!(judged.verdict, GapVerdict::Reconstructed, "{judged:?}");
    assert_eq!(judged.missing_at_most, Some(0), "{judged:?}");
    assert_eq!(judged.reconstructed, 8, "{judged:?}");
    assert!((8..=40).contains(&judged.requests), "{judged:?}");
    let gap = account.gaps.first().context("a gap")?;
    rises_and_is_marked(&scene, gap)
}

/// Each object's records are in the order of its versions, created first and deleted last.
fn rises_and_is_marked(scene: &Scene, of: &Gap) -> Result<()> {
    let reel = Reel::open(&scene.reel())?;
    let mut passing = Vec::new();
    for object in reel.objects() {
        let heads: Vec<_> = reel
            .versions(object.id)
            .iter()
            .filter_map(|seq| reel.head(*seq))
            .collect();
        let rvs: Vec<u128> = heads
            .iter()
            .filter_map(|head| head.resource_version.parse().ok())
            .collect();
        assert!(rvs.is_sorted_by(|a, b| a < b), "{:?}: {rvs:?}", object.key);
        if object.key.name == "passes" {
            passing = heads
                .iter()
                .map(|head| (head.kind, head.evidence))
                .collect();
        }
    }
    let back = Evidence::Reconstructed;
    let expected = [(EventType::Added, back), (EventType::Deleted, back)];
    assert_eq!(passing, expected);
    // What was read back stands before the gap's note, and that before the judgement.
    let mut noted = reel.notes().iter();
    let noted = noted.find(|entry| entry.note == Note::Gap(of.clone()));
    let noted = noted.context("the gap is noted")?.seq;
    let is_of = |seq: Seq| {
        reel.objects().any(|object| {
            object.key.resource == of.resource && reel.versions(object.id).contains(&seq)
        })
    };
    let later = (noted.0..reel.end().0).map(Seq).filter(|seq| is_of(*seq));
    let evidence = later
        .filter_map(|seq| reel.head(seq))
        .map(|head| head.evidence);
    assert!(evidence.into_iter().all(|one| one == Evidence::Live));
    Ok(())
}

#[test]
fn a_server_that_is_busy_or_behind_is_asked_again() -> Result<()> {
    let (_, account, judged) = play(|scene| {
        for (code, reason) in [(504, "Timeout"), (429, "TooManyRequests")] {
            let answer = Canned::status(code, reason, "not now");
            scene.fault(exact().once(), Fault::Answer(answer));
        }
    })?;
    assert_eq!(account.in_gaps, 0, "{account:?}");
    assert_eq!(judged.verdict, GapVerdict::Reconstructed, "{judged:?}");
    Ok(())
}

#[test]
fn a_server_without_lists_of_the_past_leaves_the_gap() -> Result<()> {
    let (_, account, judged) = play(|scene| {
        let answer = Canned::status(400, "BadRequest", "no such parameter");
        scene.fault(exact(), Fault::Answer(answer));
    })?;
    assert_eq!(account.in_gaps, 8, "{account:?}");
    assert_eq!(judged.verdict, GapVerdict::Partly, "{judged:?}");
    assert_eq!((judged.reconstructed, judged.requests), (0, 1));
    assert!(judged.detail.contains("400"), "{judged:?}");
    assert!(
        judged.missing_at_most.is_some_and(|most| most >= 8),
        "{judged:?}"
    );
    Ok(())
}

#[test]
fn a_server_that_tells_of_the_present_instead_is_not_believed() -> Result<()> {
    let (_, account, judged) = play(|scene| {
        let text = r#"{"kind":"EndpointsList","metadata":{"resourceVersion":"999999"},"items":[]}"#;
        let answer = Canned {
            status: 200,
            headers: vec![("Content-Type".to_owned(), "application/json".to_owned())],
            body: text.as_bytes().to_vec(),
        };
        scene.fault(exact(), Fault::Answer(answer));
    })?;
    assert_eq!(account.in_gaps, 8, "{account:?}");
    assert_eq!(judged.verdict, GapVerdict::Partly, "{judged:?}");
    assert_eq!(judged.reconstructed, 0, "{judged:?}");
    Ok(())
}

#[test]
fn what_came_and_went_among_many_revisions_of_others_is_not_denied() -> Result<()> {
    let (_, account, judged) = play(|scene| {
        scene.cluster.skip_revisions(5000);
    })?;
    // All but the one that came and went, which 5000 lists could have shown.
    assert_eq!(account.in_gaps, 2, "{account:?}");
    assert_eq!(judged.verdict, GapVerdict::Partly, "{judged:?}");
    assert_eq!(judged.reconstructed, 6, "{judged:?}");
    let most = judged.missing_at_most.context("a bound")?;
    assert!((2..=5100).contains(&most), "{judged:?}");
    assert!(judged.requests < 100, "{judged:?}");
    Ok(())
}

#[test]
fn events_are_not_read_back_and_the_reel_says_why() -> Result<()> {
    let mut scene = Scene::live()?;
    scene.await_live("/api/v1/events")?;
    scene.put("events", "default", "before", r#""reason":"Tested""#)?;
    scene.cluster.wait_sent("events", SURE)?;
    scene.cluster.go_down()?;
    scene.put("events", "default", "inside", r#""reason":"Tested""#)?;
    scene.delete("events", "default", "before")?;
    scene.cluster.forget_watch_caches();
    come_back(&mut scene)?;
    let account = scene.account(&["events"])?.check()?;
    let [gap] = account.gaps.as_slice() else {
        bail!("one gap is due: {:#?}", account.gaps);
    };
    let judged = judged(&scene, gap)?;
    assert_eq!(judged.verdict, GapVerdict::Partly, "{judged:?}");
    assert_eq!((judged.reconstructed, judged.requests), (0, 0));
    assert!(judged.detail.contains("expire"), "{judged:?}");
    Ok(())
}

#[test]
fn an_outage_is_one_line_of_the_log_and_the_end_says_how_to_open_the_reel() -> Result<()> {
    let mut scene = before_the_gap()?;
    scene.cluster.go_down()?;
    scene.await_word("the cluster does not answer")?;
    std::thread::sleep(OUTAGE);
    change_unseen(&mut scene)?;
    scene.cluster.forget_watch_caches();
    come_back(&mut scene)?;
    scene.await_word("API not reachable for ")?;
    let reel = scene.reel();
    let ended = scene
        .recorder
        .take()
        .context("somebody records")?
        .finish(SURE)?;
    let lines: Vec<&str> = ended
        .log
        .lines()
        .filter(|line| line.contains(" WARN "))
        .collect();
    let [line] = lines.as_slice() else {
        bail!("one line is due: {}", ended.log);
    };
    assert!(line.contains(" watches interrupted, "), "{line}");
    assert!(!ended.log.contains(" INFO gap"), "{}", ended.log);
    let open = format!("open=\"kubereel {}\"", reel.display());
    assert!(ended.log.contains(&open), "{}", ended.log);
    Ok(())
}
