//! A reel that grows, followed: each record is new once, and the end of the recording is seen however it comes.

use crate::script::{Script, Stream, pod, thing};
use kubereel_format::Seq;
use kubereel_history::{Cut, FollowError, FollowStep, FollowedReel, ReelFollower, Track};
use std::path::Path;
use std::time::Duration;

fn begun(path: &Path) -> (Script, Stream) {
    let mut script = Script::begin(path);
    let pods = script.resource("pods", "Pod", &["po"]);
    let stream = script.connect(pods, Some(10));
    script.commit();
    (script, stream)
}

fn add(script: &mut Script, stream: Stream, numbers: std::ops::Range<u128>) {
    for number in numbers {
        let (name, uid) = (format!("web-{number}"), format!("uid-{number}"));
        let what = thing("web", &name, &uid);
        script.wait(10);
        script.added(
            stream,
            what,
            number + 100,
            &pod(what, number + 100, "Running"),
        );
    }
}

#[expect(clippy::panic, reason = "a test whose surroundings fail has failed")]
fn grown(follower: &mut ReelFollower) -> FollowedReel {
    match follower.look().expect("a reel") {
        FollowStep::Grown(state) => state,
        FollowStep::Unchanged => panic!("nothing new"),
        FollowStep::Ended(_) => panic!("it ended"),
    }
}

/// The names of new objects.
fn new_names(state: &FollowedReel) -> Vec<String> {
    let timeline = &state.timeline;
    let from = Cut::Arrival {
        below: state.new_from,
        wall: timeline.start(),
    };
    let mut cursor = timeline.cursor(Track::Everything, from);
    let steps = std::iter::from_fn(|| cursor.forward());
    let names = steps.map(|step| timeline.key_of(step.object).expect("a key").name.to_owned());
    names.collect()
}

#[test]
fn each_record_is_new_once_and_an_earlier_state_stays_readable() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.reel");
    let copies = tempfile::tempdir().expect("a folder");
    let (mut script, stream) = begun(&path);
    let mut follower = ReelFollower::new(&path, copies.path());
    let first = grown(&mut follower);
    assert_eq!((first.new_from, new_names(&first).len()), (Seq(0), 0));
    assert!(matches!(follower.look(), Ok(FollowStep::Unchanged)));
    add(&mut script, stream, 0..3);
    // What is not committed is not there.
    assert!(matches!(follower.look(), Ok(FollowStep::Unchanged)));
    script.commit();
    let second = grown(&mut follower);
    assert_eq!(second.new_from, first.timeline.reel().end());
    assert_eq!(new_names(&second), ["web-0", "web-1", "web-2"]);
    let mut kept = vec![second];
    for round in 1..20_u128 {
        add(&mut script, stream, round * 50..round * 50 + 50);
        script.commit();
        let state = grown(&mut follower);
        assert_eq!(new_names(&state).len(), 50);
        // States that are still read do not change below their readers.
        kept.truncate(3);
        kept.push(state);
        for state in &kept {
            let reel = state.timeline.reel();
            assert_eq!(reel.damage(), []);
            for event in reel.scan() {
                let event = event.expect("a whole reel");
                let head = reel.head(event.head.seq).expect("a head");
                let name = reel.key(head.object).expect("a key").name.to_owned();
                assert!(String::from_utf8_lossy(&event.body).contains(&name));
            }
        }
    }
    let left = std::fs::read_dir(copies.path()).expect("a folder").count();
    assert_eq!(left, 0, "copies have no names");
    assert!(follower.pause() >= Duration::from_millis(250));
    follower.forget();
    assert!(new_names(&grown(&mut follower)).is_empty());
    script.finish();
    let Ok(FollowStep::Ended(last)) = follower.look() else {
        panic!("it goes on");
    };
    assert!(last.timeline.reel().is_finished());
    assert!(new_names(&last).is_empty());
}

#[test]
fn a_recorder_that_is_gone_a_reel_that_is_gone_and_another_one_are_told_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.reel");
    let (mut script, stream) = begun(&path);
    let mut killed = ReelFollower::new(&path, folder.path());
    let mut removed = ReelFollower::new(&path, folder.path());
    let mut replaced = ReelFollower::new(&path, folder.path());
    for follower in [&mut killed, &mut removed, &mut replaced] {
        grown(follower);
    }
    add(&mut script, stream, 0..3);
    script.commit();
    drop(script);
    let Ok(FollowStep::Ended(last)) = killed.look() else {
        panic!("it goes on");
    };
    assert!(!last.timeline.reel().is_finished());
    assert_eq!(new_names(&last).len(), 3);
    drop(last);
    std::fs::remove_file(&path).expect("it");
    assert!(matches!(removed.look(), Err(FollowError::Removed { .. })));
    // A reel that was never there was not removed.
    let mut none = ReelFollower::new(&path, folder.path());
    assert!(matches!(none.look(), Err(FollowError::Open(_))));
    // Another recording, which has less.
    let mut script = Script::begin(&path);
    script.commit();
    drop(script);
    assert!(matches!(replaced.look(), Err(FollowError::Replaced { .. })));
}
