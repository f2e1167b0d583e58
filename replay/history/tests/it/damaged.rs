//! What damage hides: a state until it is shown again, and nothing of other resources.

use crate::script::{Script, Thing, pod, thing};
use kubereel_format::{Note, RecordedAt, ResourceId, Seq};
use kubereel_history::{
    Certainty, ComparisonScope, Cut, HistoryItem, HistoryQuestion, MissedReason, Moment,
    ObjectFilter, ResolveError, Timeline, WaitAnswer, WaitQuestion, WaitSpan, WaitVerdict,
};

const A: Thing<'static> = thing("default", "a", "u");

const B: Thing<'static> = thing("default", "b", "v");

/// Notes that records of a resource were lost in the next five seconds.
fn lose(script: &mut Script, resource: ResourceId) {
    let from = script.now();
    script.note(Note::Unreadable {
        from,
        to: RecordedAt::from_micros(from.micros + 5_000_000),
        records: Some(3),
        resources: vec![resource],
        cause: "block 7: the checksum does not fit".to_owned(),
    });
}

/// Pods and nodes; ten seconds in, changes of pods are lost for five; B changes later, then all is listed again.
fn recovered() -> (Timeline, Vec<RecordedAt>) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("test.reel");
    let mut script = Script::begin(&path);
    let mut moments = Vec::new();
    let (pods, nodes) = (
        script.resource("pods", "Pod", &[]),
        script.resource("nodes", "Node", &[]),
    );
    let stream = script.connect(pods, None);
    let others = script.connect(nodes, None);
    for (stream, thing) in [(stream, A), (stream, B), (others, A)] {
        script.initial(stream, thing, 5, &pod(thing, 5, "x"));
    }
    script.synced(stream, 10);
    script.synced(others, 10);
    script.wait(10_000);
    moments.push(script.now());
    script.wait(1_000);
    lose(&mut script, pods);
    script.wait(10_000);
    moments.push(script.now());
    script.wait(1_000);
    script.modified(stream, B, 20, &pod(B, 20, "y"));
    script.wait(1_000);
    moments.push(script.now());
    script.finish();
    (Timeline::open(&path).expect("a reel"), moments)
}

#[test]
fn a_loss_hides_the_state_of_its_resource_until_it_is_shown_again() {
    let (timeline, moments) = recovered();
    let id = |name: &str| timeline.resources().find(name).expect("a resource").id;
    let judged = |resource: &str, names: &[String], moment: usize| {
        let filter = ObjectFilter {
            namespace: Some("default"),
            names,
        };
        let wall = moments[moment];
        let below = timeline.reel().seq_after(wall);
        let cut = Cut::Arrival { below, wall };
        let certainty = timeline.certainty_of(id(resource), cut, &filter);
        // The file itself is whole.
        assert!(!matches!(certainty, Certainty::Damaged { .. }));
        certainty.is_damage()
    };
    let (a, b) = (vec!["a".to_owned()], vec!["b".to_owned()]);
    assert!(!judged("pods", &[], 0), "before the loss");
    assert!(judged("pods", &[], 1) && judged("pods", &b, 1), "after it");
    assert!(!judged("pods", &b, 2), "its next version shows it again");
    assert!(judged("pods", &a, 2) && judged("pods", &[], 2));
    assert!(!judged("nodes", &[], 2), "of nodes nothing was lost");
}

#[test]
fn a_lost_begin_is_no_bound_of_the_recording() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("test.reel");
    let mut script = Script::begin(&path);
    let start = script.now();
    script.note(Note::Unreadable {
        from: start,
        to: start,
        records: Some(4_096),
        resources: Vec::new(),
        cause: "block 0: the checksum does not fit".to_owned(),
    });
    let pods = script.resource("pods", "Pod", &[]);
    let stream = script.connect(pods, None);
    script.initial(stream, A, 5, &pod(A, 5, "x"));
    script.synced(stream, 10);
    script.wait(1_000);
    script.finish();
    let timeline = Timeline::open(&path).expect("a reel");
    let wall = RecordedAt::from_micros(start.micros - 60_000_000);
    let cut = Cut::Arrival {
        below: Seq(0),
        wall,
    };
    assert!(!timeline.reaches_outside(Some(cut), None));
    let certainty = timeline.certainty(pods, cut);
    assert!(certainty.is_damage(), "{certainty:?}");
    // From where it began, no time can be counted.
    let micros = 5_000_000;
    let first = timeline.start();
    let after_start = timeline.resolve(Moment::AfterStart { micros });
    assert_eq!(after_start, Err(ResolveError::StartLost { first }));
    assert!(timeline.resolve(Moment::BeforeEnd { micros: 0 }).is_ok());
    let times = timeline.damage_times(&timeline.damaged()[0]);
    assert_eq!(times, (None, Some(start)));
}

/// A reel whose recorder was killed, with bytes in front of it: whether records followed is not known.
fn without_end() -> Timeline {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("test.reel");
    let mut script = Script::begin(&path);
    let pods = script.resource("pods", "Pod", &[]);
    let stream = script.connect(pods, None);
    script.initial(stream, A, 5, &pod(A, 5, "x"));
    script.synced(stream, 10);
    script.wait(10_000);
    script.modified(stream, A, 20, &pod(A, 20, "y"));
    script.commit();
    let killed = std::fs::read(&path).expect("a reel");
    let path = folder.path().join("damaged.reel");
    std::fs::write(&path, [b"0123456789", &killed[..]].concat()).expect("room");
    Timeline::open(&path).expect("a reel")
}

#[test]
fn a_lost_end_hides_the_state_at_the_end_and_no_earlier_one() {
    let timeline = without_end();
    assert!(timeline.is_end_lost());
    let resource = timeline.resources().find("pods").expect("pods").id;
    let at = |moment: &str| {
        let moment = moment.parse::<Moment>().expect("a moment");
        timeline.resolve(moment)
    };
    let certainty = |moment| timeline.certainty(resource, at(moment).expect("a place"));
    assert!(certainty("end").is_damage(), "{:?}", certainty("end"));
    assert!(certainty("+5s").is_known(), "{:?}", certainty("+5s"));
    let end = timeline.end();
    assert_eq!(at("-5s"), Err(ResolveError::EndLost { last: end }));
    // How long the lost part was is not known.
    let lost = timeline
        .damaged()
        .iter()
        .map(|span| timeline.damage_times(span));
    assert!(lost.clone().any(|times| times == (Some(end), None)));
    let unseen: Vec<_> = timeline.unobserved(resource).collect();
    assert!(
        unseen.iter().all(|span| span.known_to().is_none()),
        "{unseen:?}"
    );
    assert_eq!(unseen.len(), 1);
}

#[test]
fn a_description_has_a_time_without_observation_around_its_moment_once() {
    let timeline = without_end();
    let pods = timeline.resources().find("pods").expect("pods");
    let cut = timeline.last_cut();
    let state = timeline.as_of(pods.id, cut, &ObjectFilter::default());
    let described = timeline.describe(pods, &state.objects[0], cut, 60_000_000, 10);
    let around = described.expect("a description").around;
    let gaps = around
        .iter()
        .filter(|item| matches!(item, HistoryItem::Unobserved(_)));
    assert_eq!(gaps.count(), 1, "{around:?}");
}

#[test]
fn a_loss_is_named_by_its_time_and_resources_and_is_not_observed() {
    let (timeline, moments) = recovered();
    let [span] = timeline.damaged() else {
        panic!("{:?}", timeline.damaged());
    };
    let words = timeline.damage_words(span);
    assert!(words.contains("3 events or notes are lost") && words.contains("block 7"));
    assert_eq!(span.to.micros_since(span.from), 5_000_000);
    let pods = timeline.resources().find("pods").expect("pods").id;
    let nodes = timeline.resources().find("nodes").expect("nodes").id;
    let unseen: Vec<_> = timeline.unobserved(pods).collect();
    assert!(
        unseen
            .iter()
            .any(|one| one.from <= moments[0] && one.to == span.to),
        "{unseen:?}"
    );
    assert!(timeline.is_fully_observed(nodes));
}

/// Waits for a condition of an object up to a moment.
fn wait(
    timeline: &Timeline,
    (resource, name): (&str, &str),
    goal: &str,
    wall: RecordedAt,
) -> WaitAnswer {
    let resource = timeline.resources().find(resource).expect("a resource");
    let below = timeline.reel().seq_after(wall);
    let to = Cut::Arrival { below, wall };
    let goals = [goal.parse().expect("a goal")];
    timeline.wait(&WaitQuestion {
        resource,
        namespace: "default",
        name,
        goals: &goals,
        is_any: false,
        fail_on: &[],
        span: WaitSpan::of(timeline, resource.id, &goals, None, to, None),
        nth: 1,
        at_least_micros: 0,
    })
}

#[test]
fn a_wait_does_not_know_what_a_loss_hides() {
    let (timeline, moments) = recovered();
    let answered = |resource: &str, name: &str, to: usize| {
        let answer = wait(
            &timeline,
            (resource, name),
            "condition=Degraded",
            moments[to],
        );
        let missed = answer.missed.iter().map(|missed| missed.why);
        (answer.verdict, missed.collect::<Vec<_>>())
    };
    let lost = vec![MissedReason::NotObserved];
    assert_eq!(answered("pods", "a", 0), (WaitVerdict::NotMet, vec![]));
    let expected = (WaitVerdict::Unknown, lost.clone());
    assert_eq!(answered("pods", "a", 1), expected);
    assert_eq!(answered("pods", "b", 2), (WaitVerdict::Unknown, lost));
    assert_eq!(answered("nodes", "a", 2), (WaitVerdict::NotMet, vec![]));
}

/// A Pod whose changes are lost from 1 s to 6 s, apart from one at 3 s; it changes again at 8 s, if at all.
fn scattered(is_shown_again: bool) -> Timeline {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("test.reel");
    let mut script = Script::begin(&path);
    let pods = script.resource("pods", "Pod", &[]);
    let stream = script.connect(pods, None);
    script.initial(stream, A, 5, &pod(A, 5, "x"));
    script.synced(stream, 10);
    script.wait(1_000);
    lose(&mut script, pods);
    script.wait(2_000);
    script.modified(stream, A, 20, &pod(A, 20, "y"));
    script.wait(5_000);
    if is_shown_again {
        script.modified(stream, A, 30, &pod(A, 30, "y"));
    }
    script.wait(1_000);
    script.bookmark(stream, 31);
    script.finish();
    Timeline::open(&path).expect("a reel")
}

#[test]
fn a_version_within_a_recovered_loss_shows_its_own_moment_only() {
    for (is_shown_again, lasted) in [(false, [0, 0, 0]), (true, [0, 0, 1_000_000])] {
        let timeline = scattered(is_shown_again);
        let waited = |goal: &str| wait(&timeline, ("pods", "a"), goal, timeline.end());
        let unknown = waited("jsonpath=.metadata.labels.app=z");
        assert_eq!(unknown.verdict, WaitVerdict::Unknown, "{unknown:?}");
        let last = unknown.missed.last().map(|missed| missed.to.micros);
        let begin = timeline.start().micros;
        let end = if is_shown_again { 8_000_000 } else { 9_000_000 };
        assert_eq!(last, Some(begin + end), "{unknown:?}");
        let met = waited("jsonpath=.metadata.labels.app=y");
        assert_eq!(met.verdict, WaitVerdict::Met, "{met:?}");
        assert_eq!(met.steps[0].at.micros, begin + 3_000_000);
        assert!(met.steps[0].may_last_longer && !met.steps[0].lasts_to_end);
        let history = timeline.history(HistoryQuestion {
            resource: timeline.resources().find("pods").expect("pods"),
            namespace: "default",
            name: "a",
            scope: ComparisonScope::default(),
            from: None,
            to: None,
        });
        let held: Vec<u64> = history
            .filter_map(|item| match item {
                HistoryItem::Version(version) => Some(version.held.map_or(0, |held| held.micros)),
                _ => None,
            })
            .collect();
        assert_eq!(held, lasted[..held.len()]);
    }
}
