//! Owns the differences that people read: a line an object, its changed fields below it.

use super::Found;
use crate::command_error::CommandError;
use crate::field_text::{self, HANG};
use crate::screen::Screen;
use crate::spans::{Line, Style};
use crate::words::count;
use kubereel_history::{ObjectFate, ObjectVersion, Timeline};

/// Prints one object that differs.
pub(super) fn print(
    timeline: &Timeline,
    found: &Found<'_>,
    screen: &mut Screen,
) -> Result<(), CommandError> {
    let mut lines = vec![head(timeline, found)];
    lines.extend(field_text::lines(&found.changes));
    let (width, paint) = (screen.width(), screen.paint());
    let mut rows = lines.iter().flat_map(|line| line.rows(width, HANG, paint));
    rows.try_for_each(|row| screen.line(row))
}

fn head(timeline: &Timeline, found: &Found<'_>) -> Line {
    let differing = &found.differing;
    let (sign, style) = match differing.fate {
        ObjectFate::Created { .. } => ("+", Style::Good),
        ObjectFate::Deleted { .. } => ("-", Style::Bad),
        ObjectFate::Recreated { .. } => ("±", Style::Wary),
        ObjectFate::Changed { .. } => ("~", Style::Strong),
    };
    let resource = found.pair.after.resource.qualified();
    let mut line = Line::default();
    line.push(style, format!("{sign} {resource}/{}", differing.name));
    if !differing.namespace.is_empty() {
        line.push(Style::Plain, format!(" -n {}", differing.namespace));
    }
    line.push(Style::Faint, format!("  {}", what(timeline, found)));
    line
}

fn what(timeline: &Timeline, found: &Found<'_>) -> String {
    let reel = timeline.reel();
    let written = |seq| {
        let stamp = reel.stamp(seq).map(|stamp| stamp.wall);
        timeline.written(stamp.unwrap_or_default())
    };
    let first = |held: &ObjectVersion| reel.versions(held.object).first().copied();
    let uid = |held: &ObjectVersion| {
        usize::try_from(held.object.0)
            .ok()
            .and_then(|at| reel.objects().get(at))
            .map_or_else(String::new, |object| object.key.uid.clone())
    };
    match &found.differing.fate {
        ObjectFate::Created { new } => {
            let at = first(new).map(written).unwrap_or_default();
            format!("created, first seen at {at}")
        }
        ObjectFate::Deleted { old } => {
            let last = reel.versions(old.object).last().copied();
            let at = last.map(written).unwrap_or_default();
            format!("deleted, last seen at {at}")
        }
        ObjectFate::Recreated { old, new } => {
            let at = first(new).map(written).unwrap_or_default();
            format!("another object since {at}: uid {} → {}", uid(old), uid(new))
        }
        ObjectFate::Changed { old, new } => {
            let versions = reel.versions(new.object);
            let between = versions
                .iter()
                .filter(|seq| **seq > old.seq.min(new.seq) && **seq <= old.seq.max(new.seq))
                .count();
            let between = u64::try_from(between).unwrap_or(u64::MAX);
            format!(
                "{}, the last at {}",
                count(between, "version"),
                written(old.seq.max(new.seq))
            )
        }
    }
}
