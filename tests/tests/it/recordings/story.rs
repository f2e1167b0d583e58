//! A recording as it is asked about: events by their line, values by their field, histories.

use super::recording::{Recording, Reel};
use kubereel_format::{RecordedAt, ResourceInfo, Seq};
use kubereel_history::{
    ComparisonScope, Cut, HistoryItem, HistoryQuestion, HistoryVersion, ObjectFilter, ObjectForm,
    Timeline,
};
use kubereel_import::ImportOptions;
use serde_json::Value;

/// An imported recording.
pub struct Story {
    reel: Reel,
    /// The event of each line.
    events: Vec<Seq>,
}

impl Story {
    /// Imports a recording; `None`, said aloud, if it is not there.
    pub fn read(file: &str) -> Option<Self> {
        let reel = Recording::read(file)?.import(&ImportOptions::new("test", "a recording"));
        let raw = reel.timeline.reel();
        let all = raw.objects().iter().map(|object| raw.versions(object.id));
        let mut events: Vec<Seq> = all.flatten().copied().collect();
        events.sort_unstable();
        Some(Self { reel, events })
    }

    pub fn timeline(&self) -> &Timeline {
        &self.reel.timeline
    }

    /// Gives the line, counted from 0, of an event.
    pub fn line(&self, seq: Seq) -> usize {
        self.events.binary_search(&seq).unwrap()
    }

    /// Gives the event of a line.
    pub fn event(&self, line: usize) -> Seq {
        self.events[line]
    }

    pub fn resource(&self, name: &str) -> &ResourceInfo {
        self.timeline().resources().find(name).unwrap()
    }

    /// Gives the versions of an object that `kubereel history --field` shows.
    pub fn history(&self, object: &[&str; 3], fields: &[String]) -> Vec<HistoryVersion> {
        let [resource, namespace, name] = *object;
        let question = HistoryQuestion {
            resource: self.resource(resource),
            namespace,
            name,
            scope: scope(fields),
            from: None,
            to: None,
        };
        self.timeline()
            .history(question)
            .map(|item| match item {
                HistoryItem::Version(version) => *version,
                other => panic!("{other:?}"),
            })
            .collect()
    }

    /// Gives the moment after an event, or before it.
    pub fn cut(&self, seq: Seq, is_after: bool) -> Cut {
        Cut::Arrival {
            below: Seq(seq.0 + u64::from(is_after)),
            wall: self.wall(seq),
        }
    }

    pub fn wall(&self, seq: Seq) -> RecordedAt {
        self.timeline().reel().stamp(seq).unwrap().wall
    }

    /// Gives the object as `kubereel get --at` shows it.
    pub fn at(&self, object: &[&str; 3], cut: Cut) -> Option<(Seq, Value)> {
        let [resource, namespace, name] = *object;
        let resource = self.resource(resource);
        let names = [name.to_owned()];
        let filter = ObjectFilter {
            namespace: Some(namespace),
            names: &names,
        };
        let state = self.timeline().as_of(resource.id, cut, &filter);
        let held = state.objects.first()?;
        let object = self
            .timeline()
            .object(held.seq, resource, ObjectForm::default());
        Some((held.seq, object.unwrap()))
    }
}

/// Asks for fields only.
pub fn scope(fields: &[String]) -> ComparisonScope {
    ComparisonScope {
        fields: fields.iter().map(|field| field.parse().unwrap()).collect(),
        ..ComparisonScope::default()
    }
}

/// Reads a table of values between commas, some of them in quotes; the first row names the columns.
pub fn table(text: &str) -> Vec<Vec<String>> {
    let mut rows = vec![vec![String::new()]];
    let mut is_quoted = false;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => {
                letters.next();
                rows.last_mut().unwrap().last_mut().unwrap().push('"');
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => rows.last_mut().unwrap().push(String::new()),
            '\n' if !is_quoted => rows.push(vec![String::new()]),
            '\r' if !is_quoted => {}
            letter => rows.last_mut().unwrap().last_mut().unwrap().push(letter),
        }
    }
    rows.retain(|row| row.len() > 1);
    rows.remove(0);
    rows
}

/// Gives the item of a list that has a member of this value.
pub fn item<'a>(list: &'a Value, member: &str, value: &str) -> &'a Value {
    let mut items = list.as_array().into_iter().flatten();
    items
        .find(|item| item[member] == value)
        .unwrap_or(&Value::Null)
}

/// Writes a value as the tables do.
pub fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        other => other.to_string(),
    }
}
