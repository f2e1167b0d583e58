//! Owns the words for how far a state can be trusted. Refuses to soften them.

use kubereel_history::{Certainty, Timeline, harmless};

/// Says what is wrong with the knowledge of a moment; `None` where it is whole.
pub(crate) fn trust(timeline: &Timeline, certainty: &Certainty) -> Option<String> {
    let at = |at| timeline.written(at);
    Some(match certainty {
        Certainty::Known { .. } | Certainty::ReadBack { .. } => return None,
        Certainty::Imported { .. } => {
            "imported: what the recording leaves out is not known".to_owned()
        }
        Certainty::InsideGap { gap } => format!(
            "unknown from {} to {}: {}",
            at(gap.from_time),
            at(gap.to_time),
            gap.cause.as_str()
        ),
        Certainty::Unobserved { from, to, reason } => {
            let to = to.map_or_else(|| "the end".to_owned(), at);
            format!("not observed from {} to {to}: {reason}", at(*from))
        }
        Certainty::Blind { from, to } => {
            let to = to.map_or_else(|| "the end".to_owned(), at);
            format!(
                "no watch ran from {} to {to}: this is the state before",
                at(*from)
            )
        }
        Certainty::NotCovered { detail, .. } => format!("not recorded then {}", harmless(detail)),
        Certainty::BeforeFirst { first: Some(first) } => {
            format!("unknown before {}: not recorded yet", at(*first))
        }
        Certainty::BeforeFirst { first: None } => "unknown: never listed".to_owned(),
        Certainty::Damaged { damage } => {
            format!("the reel is damaged: {}", harmless(&damage.place))
        }
        Certainty::AfterLast { last } => format!("unknown after {}: the recording ends", at(*last)),
    })
}
