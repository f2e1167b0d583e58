//! The pace of an update: times without progress, and the slowest parts.

use super::tell::{OPERATORS, UpgradeStory};
use crate::mark::{RecordMark, micros_between};
use kubereel_format::{RecordedAt, qualified, worded};

/// The shortest time without progress that is a stall: 5 minutes, after which `oc adm upgrade
/// status` begins to warn.
pub const STALL_MICROS: u64 = 5 * 60 * 1_000_000;

/// The number of slowest parts that are named.
const SLOWEST: usize = 5;

/// A time without progress: no operator began or changed its version, no node changed its phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stall {
    /// The last movement before.
    pub from: RecordMark,
    /// The next one; `None` if there was none up to the queried moment.
    pub to: Option<RecordMark>,
    /// The last progress message of `ClusterVersion`.
    pub last_message: String,
}

/// A part of an update with its duration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdatePart {
    /// The kind of part.
    pub what: PartKind,
    /// The operator's or the node's name; empty for the payload.
    pub name: String,
    /// When it began.
    pub from: RecordMark,
    /// Its duration, or the time so far.
    pub micros: u64,
    /// Whether it had ended.
    pub is_over: bool,
}

impl PartKind {
    /// Returns the resource, in plural, of which an object is the part.
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Acceptance => "clusterversions",
            Self::Operator => "clusteroperators",
            Self::Drain | Self::Reboot => "nodes",
        }
    }
}

worded! {
/// A kind of part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PartKind {
    /// From the first request to the acceptance.
    Acceptance = "acceptance",
    /// An operator, from its begin to its new version.
    Operator = "operator",
    /// A drain.
    Drain = "drain",
    /// A reboot, from its report to Ready.
    Reboot = "reboot",
}
}

/// Finds the stalls. `now` is `None` if it is not known whether anything moved after the last
/// observed movement.
pub(super) fn stalls(
    story: &UpgradeStory,
    end: Option<RecordMark>,
    now: Option<RecordedAt>,
) -> Vec<Stall> {
    // Operators that were never observed may have moved.
    let operators = qualified(OPERATORS.1, OPERATORS.0);
    let mut never_seen = story.not_seen.iter().filter(|one| one.unseen.is_none());
    if never_seen.any(|one| one.resource == operators) {
        return Vec::new();
    }
    let accepted = story.update.accepted.unwrap_or(story.update.first);
    let mut moves = vec![accepted];
    for operator in &story.operators {
        moves.extend(operator.began);
        moves.extend(operator.moved);
        moves.extend(operator.available);
    }
    for node in &story.nodes {
        let drain = node.drain.and_then(|drain| drain.to);
        let reboot = node.reboot.and_then(|reboot| reboot.to);
        let marks = [node.cordoned, drain, reboot, node.ready, node.over()];
        moves.push(node.began);
        moves.extend(marks.into_iter().flatten());
    }
    for join in &story.joins {
        moves.push(join.joined);
        moves.extend(join.ready);
    }
    moves.retain(|mark| *mark >= accepted && end.is_none_or(|end| *mark <= end));
    moves.extend(end);
    moves.sort_unstable();
    let mut all = Vec::new();
    let pairs = moves
        .iter()
        .zip(moves.iter().skip(1).map(Some).chain([None]));
    for (&from, to) in pairs {
        let to = to.copied();
        // After the end there is no progress to expect.
        if to.is_none() && end.is_some() {
            continue;
        }
        let Some(until) = to.map(|to| to.at).or(now) else {
            continue;
        };
        let lasted = micros_between(from.at, until);
        if lasted >= STALL_MICROS {
            let messages = story.progress.iter().rev();
            let mut messages =
                messages.skip_while(|message| to.is_some_and(|to| message.mark >= to));
            all.push(Stall {
                from,
                to,
                last_message: messages
                    .next()
                    .map_or_else(String::new, |message| message.message.clone()),
            });
        }
    }
    all
}

/// Returns the slowest parts.
pub(super) fn slowest(story: &UpgradeStory) -> Vec<UpdatePart> {
    let mut parts = Vec::new();
    if let (Some(asked), Some(accepted)) = (story.update.asked(), story.update.accepted) {
        parts.push(UpdatePart {
            what: PartKind::Acceptance,
            name: String::new(),
            from: asked,
            micros: micros_between(asked.at, accepted.at),
            is_over: true,
        });
    }
    for operator in &story.operators {
        let now = story.until(PartKind::Operator.plural(), &operator.name);
        if let (Some(from), Some(micros)) = (operator.began, operator.took_micros(now)) {
            parts.push(UpdatePart {
                what: PartKind::Operator,
                name: operator.name.clone(),
                from,
                micros,
                is_over: operator.over().is_some() && !operator.is_older,
            });
        }
    }
    for node in &story.nodes {
        let now = story.until(PartKind::Drain.plural(), &node.node);
        if let Some(drain) = node.drain {
            parts.push(UpdatePart {
                what: PartKind::Drain,
                name: node.node.clone(),
                from: drain.from,
                micros: drain.micros(now),
                is_over: drain.to.is_some(),
            });
        }
        // A node that was deleted before it was ready did not come back.
        let reboot = node
            .reboot
            .filter(|_| node.ready.is_some() || node.deleted.is_none());
        if let Some(reboot) = reboot {
            let ready = node.ready.map_or(now, |ready| ready.at);
            parts.push(UpdatePart {
                what: PartKind::Reboot,
                name: node.node.clone(),
                from: reboot.from,
                micros: micros_between(reboot.from.at, ready),
                is_over: node.ready.is_some(),
            });
        }
    }
    parts.sort_by(|a, b| {
        let order = b.micros.cmp(&a.micros).then(a.what.cmp(&b.what));
        order.then_with(|| a.name.cmp(&b.name))
    });
    parts.truncate(SLOWEST);
    parts
}
