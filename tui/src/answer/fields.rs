//! The fields of an object with who set each of them and when: as YAML, and as a list (blame). An unknown
//! writer is never guessed.

use super::line::{Ink, PanelLine, short};
use super::object_at::{VersionAt, here, unread};
use crate::subject::NamedObject;
use crate::time::{CursorPlace, span_text};
use kubereel_history::{
    Blame, BlameSource, BlamedObject, FieldPath, FieldStep, ObjectVersion, Timeline, YamlLine, cut,
    harmless, yaml_lines,
};

/// Reads the version at a place, who set its fields, and the lines that precede them.
fn blamed(
    timeline: &Timeline,
    subject: &NamedObject,
    place: CursorPlace,
) -> Result<(ObjectVersion, BlamedObject, Vec<PanelLine>), Vec<PanelLine>> {
    let VersionAt {
        info,
        held,
        mut lines,
    } = here(timeline, subject, place)?;
    let blamed = match timeline.blame(info, &held) {
        Ok(blamed) => blamed,
        Err(error) => {
            lines.push(unread(&error));
            return Err(lines);
        }
    };
    if !blamed.unreadable.is_empty() {
        let words = "damaged: versions are missing, fields may be older than shown";
        lines.push(PanelLine::of(Ink::Wary, words));
    }
    Ok((held, blamed, lines))
}

/// Reads the lines; the first one that changed is to be seen first.
pub(super) fn read_yaml(
    timeline: &Timeline,
    subject: &NamedObject,
    place: CursorPlace,
) -> Result<(Vec<PanelLine>, usize), Vec<PanelLine>> {
    let (held, blamed, mut lines) = blamed(timeline, subject, place)?;
    let versions = timeline.reel().versions(held.object);
    let is_first = versions.first() == Some(&held.seq);
    let mut first = None;
    let yaml = yaml_lines(&blamed.object);
    let paths = paths(&yaml, &blamed.fields);
    for (line, path) in yaml.into_iter().zip(paths) {
        let field = line.field.and_then(|at| blamed.fields.get(at));
        // The server's counter changes with every write, and says nothing.
        let counts = |field: &Blame| field.path.to_string() != "metadata.resourceVersion";
        let is_new = !is_first
            && field.is_some_and(counts)
            && field.is_some_and(|field| {
                matches!(field.source, BlameSource::Recorded { seq, .. } if seq == held.seq)
            });
        if is_new && first.is_none() {
            first = Some(lines.len());
        }
        let (mark, ink) = if is_new {
            ("▌ ", Ink::Changed)
        } else {
            ("  ", Ink::Plain)
        };
        let mut shown = PanelLine::of(ink, mark).and(ink, harmless(&line.text));
        let own = field.map_or_else(String::new, |field| aside(field, place));
        let sign = if is_new && !own.is_empty() {
            "◂ "
        } else {
            ""
        };
        shown.aside = format!("{sign}{}", own.trim_start());
        shown.field = path;
        lines.push(shown);
    }
    Ok((lines, first.map_or(0, |first| first.saturating_sub(2))))
}

/// Gives the path of what each line shows; of a line that only names what holds others, its own.
fn paths(lines: &[YamlLine], fields: &[Blame]) -> Vec<Option<FieldPath>> {
    let mut all: Vec<Option<FieldPath>> = vec![None; lines.len()];
    let mut last: Option<FieldPath> = None;
    for (line, path) in lines.iter().zip(&mut all) {
        if let Some(field) = line.field.and_then(|at| fields.get(at)) {
            last = Some(field.path.clone());
        }
        if line.field.is_some() || line.goes_on {
            path.clone_from(&last);
        }
    }
    // What holds others stands above the first of them.
    let mut below: Option<FieldPath> = None;
    for (line, path) in lines.iter().zip(&mut all).rev() {
        if line.field.is_none() && !line.goes_on {
            *path = below.take().map(|below| holder(&below));
        }
        if !line.goes_on {
            below.clone_from(path);
        }
    }
    all
}

/// Gives the path of what holds a field and has a line of its own: items begin on that of a member.
fn holder(path: &FieldPath) -> FieldPath {
    let steps = path.steps();
    let mut steps = steps.get(..steps.len().saturating_sub(1)).unwrap_or(steps);
    while let Some((FieldStep::Item(_) | FieldStep::Index(_), rest)) = steps.split_last() {
        steps = rest;
    }
    steps.iter().cloned().collect()
}

/// Says who set a field, and how long before the cursor.
fn aside(field: &Blame, place: CursorPlace) -> String {
    let who: Vec<&str> = field
        .writers
        .iter()
        .map(|writer| writer.manager.as_str())
        .collect();
    let who = harmless(&who.join(",")).into_owned();
    let age = |at| span_text(place.at.micros_since(at));
    match field.source {
        BlameSource::Recorded { at, .. } if at == place.at => format!("{who} now"),
        BlameSource::Recorded { at, .. } => format!("{who} {} ago", age(at)),
        // Older than the recording: who it was is known at best, when is not.
        _ => who,
    }
}

/// The longest manager's name, in letters.
const WIDEST_MANAGER: usize = 28;

/// Reads the lines; the first field that changed last is to be seen first.
pub(super) fn read_blame(
    timeline: &Timeline,
    subject: &NamedObject,
    place: CursorPlace,
) -> Result<(Vec<PanelLine>, usize), Vec<PanelLine>> {
    let (held, blamed, mut lines) = blamed(timeline, subject, place)?;
    let words = "≤ set at or before   ~ earlier versions may be missing   - unknown";
    lines.push(PanelLine::of(Ink::Faint, words));
    let who: Vec<String> = blamed.fields.iter().map(who).collect();
    let whens: Vec<String> = blamed
        .fields
        .iter()
        .map(|field| when(timeline, field))
        .collect();
    let widest = |all: &[String]| all.iter().map(|one| one.chars().count()).max().unwrap_or(0);
    let (time_width, who_width) = (widest(&whens), widest(&who));
    let mut first = None;
    for ((field, who), when) in blamed.fields.iter().zip(who).zip(whens) {
        let is_new = matches!(field.source, BlameSource::Recorded { seq, .. } if seq == held.seq);
        if is_new && first.is_none() {
            first = Some(lines.len());
        }
        let ink = if is_new { Ink::Changed } else { Ink::Plain };
        let path = harmless(&field.path.to_string()).into_owned();
        let line = PanelLine::of(Ink::Faint, format!("{when:<time_width$}  "))
            .and(ink, format!("{who:<who_width$}  "))
            .and(Ink::Strong, path)
            .and(ink, format!("  {}", short(&field.value)));
        lines.push(PanelLine {
            field: Some(field.path.clone()),
            ..line
        });
    }
    Ok((lines, first.map_or(0, |first| first.saturating_sub(2))))
}

fn who(field: &Blame) -> String {
    let names = field.writers.iter().map(|writer| writer.manager.as_str());
    let names: Vec<&str> = names.collect();
    if names.is_empty() {
        return "-".to_owned();
    }
    let names = harmless(&names.join(",")).into_owned();
    if names.chars().count() <= WIDEST_MANAGER {
        return names;
    }
    cut(&names, WIDEST_MANAGER - 1).into_owned()
}

fn when(timeline: &Timeline, field: &Blame) -> String {
    let sign = match field.source {
        BlameSource::Recorded { .. } if field.may_be_older => "~",
        BlameSource::Recorded { .. } => "",
        _ => "≤",
    };
    let at = field.source.at().map(|at| timeline.written(at));
    at.map_or_else(|| "-".to_owned(), |at| format!("{sign}{at}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubereel_history::ComparisonScope;
    use serde_json::json;

    #[test]
    fn each_line_of_yaml_knows_its_field() {
        let object = json!({
            "metadata": {"annotations": {"a.b/c": "x\ny:\nz\n"}, "name": "etcd"},
            "spec": {"l": [[1, 2], [3]], "e": [], "m": [{"metadata": {"x": 1}}, {"y": 2}]},
            "status": {"conditions": [
                {"status": "True", "type": "Degraded"},
                {"status": "False", "type": "Available"},
            ]},
        });
        let lines = yaml_lines(&object);
        let leaves: Vec<Blame> = ComparisonScope::default()
            .contents(&object)
            .iter()
            .flat_map(|change| change.leaves(100).first)
            .map(|leaf| Blame {
                path: leaf.path,
                value: leaf.new.unwrap_or_default(),
                source: BlameSource::Unknown,
                writers: Vec::new(),
                may_be_older: false,
            })
            .collect();
        let paths = paths(&lines, &leaves);
        let shown: Vec<String> = lines
            .iter()
            .zip(paths)
            .map(|(line, path)| {
                let path = path.expect("every line shows something");
                format!("{} | {path}", line.text.trim())
            })
            .collect();
        let text = shown.join("\n");
        for expected in [
            "metadata: | metadata",
            "annotations: | metadata.annotations",
            "y: | metadata.annotations[\"a.b/c\"]",
            "name: etcd | metadata.name",
            "l: | spec.l",
            "- - 1 | spec.l[0][0]",
            "- - 3 | spec.l[1][0]",
            "e: [] | spec.e",
            "m: | spec.m",
            "- metadata: | spec.m[0].metadata",
            "x: 1 | spec.m[0].metadata.x",
            "conditions: | status.conditions",
            "- status: \"True\" | status.conditions[Degraded].status",
        ] {
            assert!(
                shown.iter().any(|line| line == expected),
                "{expected}\n{text}"
            );
        }
    }
}
