//! The thread that follows a reel which is being recorded: it reads again what grew, and finds its lanes, in a small
//! share of the time.

use super::event::{RuntimeEvent, TuiError, spawn};
use super::program::caught;
use super::reader::CACHE_BYTES;
use crate::lane::{DarkSpan, dark_of, gather};
use crate::model::{LiveState, TuiRequest};
use crate::msg::Msg;
use kubereel_format::Reel;
use kubereel_history::{FollowStep, FollowedReel, Outage, ReelFollower, Timeline};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::thread;

/// How often a reel that changes too fast to be copied is tried at first.
const TRIES: usize = 5;

/// Opens a reel; one that is being recorded comes with what follows it.
pub(super) fn open(
    request: &TuiRequest,
    file: &Path,
) -> Result<(Timeline, Option<ReelFollower>), String> {
    let Some(copies) = &request.copies else {
        let reel = Reel::open(file).map_err(|error| error.to_string())?;
        let reel = match &request.damage {
            Some(damage) => reel.taken_from_damaged(damage.clone()),
            None => reel,
        };
        return Ok((Timeline::new(reel), None));
    };
    let mut follower = ReelFollower::new(file, copies).of_damaged(request.damage.clone());
    for _ in 0..TRIES {
        match follower.look().map_err(|error| error.to_string())? {
            FollowStep::Unchanged => thread::sleep(follower.pause()),
            FollowStep::Grown(state) => return Ok((state.timeline, Some(follower))),
            FollowStep::Ended(state) => return Ok((state.timeline, None)),
        }
    }
    Err("the reel is being recorded, and changes too fast to be copied".to_owned())
}

/// Follows a reel until its recording has ended in order, or the program has ended.
pub(super) fn begin(
    follower: ReelFollower,
    told: &SyncSender<RuntimeEvent>,
) -> Result<(), TuiError> {
    spawn("kubereel-follow", told, move |told| {
        // A loop that is over needs nothing.
        let _is_heard = run(follower, told);
    })
}

/// Returns once nothing comes any more; `None` without a listener.
fn run(mut follower: ReelFollower, told: &SyncSender<RuntimeEvent>) -> Option<()> {
    let say = |msg| told.send(RuntimeEvent::Reader(msg)).ok();
    say(Msg::Live(LiveState::Live))?;
    let (mut gathered, mut was_left) = (None, false);
    loop {
        thread::sleep(follower.pause());
        let step = caught(|| follower.look());
        let (state, is_last) = match step.map(|step| step.map_err(|error| error.to_string())) {
            Ok(Ok(FollowStep::Unchanged)) => continue,
            Ok(Ok(FollowStep::Grown(state))) => (state, false),
            Ok(Ok(FollowStep::Ended(state))) => (state, true),
            Ok(Err(why)) | Err(why) => return say(Msg::NotFollowed(why)),
        };
        let FollowedReel { timeline, .. } = state;
        let reel = timeline.reel();
        reel.bound_cache(CACHE_BYTES);
        let ended = if reel.is_finished() {
            LiveState::Ended
        } else {
            LiveState::Unfinished
        };
        let now = Some(lane_evidence(&timeline));
        let timeline = Arc::new(timeline);
        say(Msg::Grown(Arc::clone(&timeline)))?;
        if is_last || now != gathered {
            gathered = now;
            match caught(|| gather(&timeline, |_| ControlFlow::Continue(()))) {
                Ok(Some(board)) => say(Msg::Regathered(Arc::new(board)))?,
                Ok(None) => {}
                Err(why) => return say(Msg::NotFollowed(why)),
            }
        }
        if is_last && ended == LiveState::Ended {
            return say(Msg::Live(ended));
        }
        // A recorder that was killed may be started again.
        if is_last != was_left {
            was_left = is_last;
            say(Msg::Live(if is_last { ended } else { LiveState::Live }))?;
        }
    }
}

/// Returns what lanes are derived from: the number of events, and what was not observed. What nothing has ended yet
/// grows without an event.
fn lane_evidence(timeline: &Timeline) -> (u64, Vec<Outage>, Vec<DarkSpan>) {
    let infos = timeline.resources().iter();
    // A resource without objects has no lanes: one that is refused is unknown at every growth.
    let with_objects = infos.filter(|info| !timeline.objects_of(info.id).is_empty());
    let dark = with_objects.flat_map(|info| dark_of(timeline, info.id));
    (
        timeline.reel().event_count(),
        timeline.outages().to_vec(),
        dark.collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::script::{Script, thing};
    use crate::tests::stage::{node, request};

    #[test]
    fn an_outage_that_continues_changes_lanes_without_an_event() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.reel");
        let mut script = Script::begin(&path);
        let nodes = script.resource("nodes", "Node", &[]);
        let pods = script.resource("pods", "Pod", &[]);
        let stream = script.connect(nodes, None);
        script.initial(stream, thing("", "m-0", "m-0"), 1, &node("m-0", "True", 1));
        script.synced(stream, 1);
        let of_pods = script.connect(pods, None);
        script.synced(of_pods, 1);
        let mut seen = Vec::new();
        let mut look = |script: &mut Script| {
            script.commit();
            let copy = folder.path().join("copy.reel");
            kubereel_format::copy_in_use(&path, &copy).expect("a copy");
            seen.push(lane_evidence(&Timeline::open(&copy).expect("a reel")));
        };
        script.wait(5_000);
        script.bookmark(stream, 2);
        look(&mut script);
        script.wait(5_000);
        script.bookmark(stream, 3);
        look(&mut script);
        script.begin_outage("https://api:6443", kubereel_format::OutageClass::Connect);
        script.disconnect(stream, kubereel_format::EndCause::Cut);
        for _ in 0..2 {
            script.wait(5_000);
            script.bookmark(of_pods, 4);
            look(&mut script);
        }
        let [before, known, outage, longer] = seen.as_slice() else {
            panic!("{seen:?}");
        };
        assert_eq!(before, known, "nothing is unknown");
        assert_ne!(known, outage);
        assert_ne!(outage, longer);
        assert_eq!(outage.0, longer.0, "no event");
        assert_eq!(outage.1.len(), longer.1.len());
    }

    #[test]
    fn damage_of_the_file_that_has_the_reel_is_damage_on_the_screen() {
        let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/demo.reel");
        let folder = tempfile::tempdir().expect("a folder");
        for copies in [None, Some(folder.path().to_owned())] {
            let mut request = request(&demo);
            request.copies = copies;
            request.damage = Some("a wrong checksum".to_owned());
            let (timeline, _) = open(&request, &demo).expect("the demo");
            let causes: Vec<&str> = timeline
                .reel()
                .damage()
                .iter()
                .map(|damage| damage.cause.as_str())
                .collect();
            assert_eq!(causes, ["a wrong checksum"]);
        }
    }
}
