//! A problem as text to read: the sentence, its times, where it may come from, what it led to, and the rules
//! that found it. A change that may have caused it leads to its record.

use super::line::{Ink, LineTarget, PanelLine};
use crate::findings::FindingVerdict;
use crate::problem::{ProblemEntry, ProblemOccurrence};
use crate::time::span_text;
use kubereel_history::Timeline;
use kubereel_problems::shortened;

/// The most letters of the sentence; the rest of it follows what it may come from.
const MOST_SENTENCE: usize = 200;

/// Gives the lines.
pub(crate) fn problem_lines(timeline: &Timeline, entry: &ProblemEntry) -> Vec<PanelLine> {
    let sentence = format!("{}: {}", entry.about, entry.words);
    // Where it comes from matters more than the end of a long message.
    let short = shortened(&sentence, MOST_SENTENCE);
    let rest = rest_of(&sentence, &short);
    let mut all = vec![
        PanelLine::of(Ink::Strong, short),
        PanelLine::of(
            Ink::Faint,
            match &entry.times {
                Some(times) if entry.spots.len() == 1 => times.clone(),
                _ => times(timeline, entry),
            },
        ),
    ];
    if entry.is_young {
        all.push(PanelLine::of(Ink::Faint, "during installation"));
    } else if entry.is_planned {
        all.push(PanelLine::of(
            Ink::Faint,
            "planned: a drain, a reboot or an eviction",
        ));
    }
    for origin in &entry.causes {
        let line = PanelLine::of(Ink::Wary, origin.words.clone());
        all.push(match &origin.change {
            Some((seq, object)) => line.to(LineTarget::Moment(*seq, object.clone())),
            None => line,
        });
    }
    all.extend(rest.map(|rest| PanelLine::of(Ink::Plain, rest)));
    let led_to = entry.led_to.iter();
    all.extend(led_to.map(|other| PanelLine::of(Ink::Plain, format!("led to: {other}"))));
    let mut shown: Vec<&str> = vec![&entry.words];
    for said in &entry.said {
        let does = match said.verdict {
            FindingVerdict::Fail => "fails",
            FindingVerdict::Flake => "flakes",
        };
        let words = format!("rule {} {does}: {}", said.rule, said.test);
        all.push(PanelLine::of(Ink::Faint, words));
        for line in said.lines.iter() {
            // Rules that found the same say the same.
            if shown.iter().any(|one| one.contains(line.as_str())) {
                continue;
            }
            shown.push(line);
            all.push(PanelLine::of(Ink::Plain, format!("  {line}")));
        }
    }
    let count = entry.others.len() + entry.more_others;
    if count > 0 {
        all.push(PanelLine::of(Ink::Strong, format!("and {count} more:")));
        let others = entry.others.iter();
        all.extend(others.map(|other| PanelLine::of(Ink::Plain, other.clone())));
    }
    all
}

/// Returns what a shortened text leaves out; `None` if nothing.
fn rest_of(text: &str, short: &str) -> Option<String> {
    let whole = shortened(text, usize::MAX);
    let rest = whole.strip_prefix(short.strip_suffix('…')?)?;
    (!rest.is_empty() && rest != "…").then(|| format!("…{rest}"))
}

/// Says from when to when it was so.
fn times(timeline: &Timeline, entry: &ProblemEntry) -> String {
    let (Some(first), Some(last)) = (entry.spots.first(), entry.spots.last()) else {
        return String::new();
    };
    let from = timeline.written(first.from);
    let end = |spot: &ProblemOccurrence| match spot.to {
        None => "the end".to_owned(),
        Some(to) => timeline.written(to),
    };
    let to = end(last);
    let long = match (entry.spots.len(), last.to) {
        (1, Some(to)) => format!(" ({})", span_text(to.micros_since(first.from))),
        _ => String::new(),
    };
    let often = match entry.count() {
        1 => String::new(),
        count => format!(", {count} times"),
    };
    format!("{from} → {to}{long}{often}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_a_shortened_text_begins_where_it_was_cut() {
        let text = "one  two\nthree";
        for most in 1..20 {
            let short = shortened(text, most);
            let shown = short.strip_suffix('…').unwrap_or(&short);
            let rest = rest_of(text, &short).unwrap_or_default();
            let rest = rest.strip_prefix('…').unwrap_or(&rest);
            assert_eq!(format!("{shown}{rest}"), "one two three");
        }
        // A message that was cut before has no rest.
        assert_eq!(rest_of("one …", "one …"), None);
    }
}
