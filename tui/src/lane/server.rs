//! Owns the lane of the API server: when the recorder reached it, and when not. Refuses to judge: an outage is
//! what `history` calls one.

use super::LaneState;
use super::dark::DarkSpan;
use super::line::{Lane, LaneGroup, LaneReading, LaneSubject};
use super::spells::{StateSpan, overlaid};
use kubereel_history::{RecorderEnd, Timeline, UnobservedEffect};

/// More outages have no lane.
const MOST_OUTAGES: usize = 20_000;

/// Makes the lane; `None` where nobody asked a server, as in an import.
pub(super) fn server_lane(timeline: &Timeline) -> Option<Lane> {
    let outages = timeline.outages();
    let is_imported = timeline.resources().iter().any(|info| {
        let coverage = timeline.coverage(info.id);
        coverage.is_some_and(|coverage| coverage.imported().is_some())
    });
    if timeline.sessions().is_empty() || is_imported || outages.len() > MOST_OUTAGES {
        return None;
    }
    let spans = outages.iter().map(|outage| StateSpan {
        from: outage.from,
        to: outage.to,
        state: if outage.is_before_first_answer {
            LaneState::Absent
        } else {
            LaneState::Down
        },
        word: &outage.error,
    });
    Some(Lane::of(
        (LaneGroup::Server, LaneSubject::Server, None),
        LaneReading::State,
        overlaid(timeline, spans.collect()),
        between_sessions(timeline).into(),
    ))
}

/// Gives the times without a recorder: nobody asked the server.
fn between_sessions(timeline: &Timeline) -> Vec<DarkSpan> {
    let sessions = timeline.sessions();
    let pairs = sessions.iter().zip(sessions.iter().skip(1));
    let gaps = pairs.filter(|(before, next)| before.to < next.from);
    gaps.map(|(before, next)| DarkSpan {
        span: before.to..next.from,
        is_begin_known: true,
        why: RecorderEnd::of(before).no_recorder().to_owned(),
        effect: UnobservedEffect::MayMiss,
        is_outage: false,
        only: None,
    })
    .collect()
}
