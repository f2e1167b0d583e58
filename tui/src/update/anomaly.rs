//! Owns the steps to what is odd. Refuses silence: each step says what it was.

use super::moving;
use crate::lane::Anomaly;
use crate::model::{List, Open, Place};
use crate::msg::Way;
use kubereel_format::Seq;

/// Steps to the next or the previous one; gives the words.
pub(super) fn step(open: &mut Open, way: Way) -> String {
    let is_whole = open.board().is_some();
    let here = (open.place.at, Some(open.place.below));
    // A flap lies where its record was seen.
    let key = |one: &Anomaly| (one.from, one.seq.map(|seq| Seq(seq.0 + 1)));
    let all = open.anomalies();
    let found = match way {
        Way::Next => all
            .iter()
            .find(|one| key(one) > here && one.from >= open.place.at),
        Way::Previous => all
            .iter()
            .rfind(|one| key(one) < here && one.from < open.place.at),
    };
    let Some(found) = found.cloned() else {
        let word = if way == Way::Next { "later" } else { "earlier" };
        let doubt = if is_whole {
            ""
        } else {
            "; flaps are not known: the reel is not read"
        };
        return format!("no {word} gap, outage or flap{doubt}");
    };
    let place = match found.seq {
        Some(seq) => Place::behind(&open.timeline, seq),
        None => Place::at(&open.timeline, found.from),
    };
    if let Some((subject, condition)) = found.lane {
        open.list = List::Lanes;
        open.selected = Some(subject);
        open.condition = condition.filter(|_| open.lanes.grouping.has_conditions());
    }
    moving::jump(open, place);
    found.words
}
