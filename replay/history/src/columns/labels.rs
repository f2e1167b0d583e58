//! Owns columns of labels, and how labels are written. Refuses to select by them: `select` does.

use super::cell::one_line;
use super::part::{NONE, Part};
use serde_json::Value;
use std::collections::BTreeMap;

/// Columns of labels, after all others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelColumns {
    /// Labels with a column of their own.
    pub own: Vec<String>,
    /// Whether a last column shows all labels.
    pub shows_all: bool,
}

impl LabelColumns {
    /// Gives the names of the columns: of a label, what follows its last slash.
    pub fn names(&self) -> Vec<String> {
        let own = self.own.iter().map(|label| {
            let name = label
                .rsplit_once('/')
                .map_or(label.as_str(), |(_, name)| name);
            name.to_uppercase()
        });
        let all = self.shows_all.then(|| "LABELS".to_owned());
        own.chain(all).collect()
    }

    /// Gives the cells of an object, each fit for a line.
    pub fn row(&self, object: &Value) -> Vec<String> {
        let labels = Part::of(object).at("metadata.labels").texts();
        let own = self.own.iter().map(|label| labels.get(label.as_str()));
        let own = own.map(|value| one_line(value.copied().unwrap_or_default()));
        let all = self.shows_all.then(|| one_line(&written(&labels)));
        own.chain(all).collect()
    }
}

/// Writes labels: `a=b,c=d`.
pub(super) fn written(labels: &BTreeMap<&str, &str>) -> String {
    let mut pairs: Vec<String> = labels
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    // By their text, as the server sorts them: `app.x=` is before `app=`.
    pairs.sort_unstable();
    match pairs.as_slice() {
        [] => NONE.to_owned(),
        pairs => pairs.join(","),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn labels_have_columns_of_their_own_and_one_together() {
        let columns = LabelColumns {
            own: vec!["example.io/tier".to_owned(), "app".to_owned()],
            shows_all: true,
        };
        assert_eq!(columns.names(), ["TIER", "APP", "LABELS"]);
        let object = json!({"metadata": {"labels": {"b": "", "app": "x", "app.y": "z"}}});
        assert_eq!(columns.row(&object), ["", "x", "app.y=z,app=x,b="]);
        assert_eq!(columns.row(&json!({})), ["", "", "<none>"]);
    }
}
