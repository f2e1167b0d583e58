//! Owns what the words of a filter mean. Refuses none: what is no `ns:` or state is looked for as text.

use crate::lane::LaneState;

/// A filter that was read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words {
    namespaces: Vec<String>,
    states: Vec<LaneState>,
    texts: Vec<String>,
}

impl Words {
    /// Reads a filter.
    pub(crate) fn of(filter: &str) -> Self {
        let mut words = Self::default();
        for word in filter.split_whitespace() {
            let state = LaneState::ALL
                .into_iter()
                .find(|state| state.word() == word);
            if let Some(namespace) = word.strip_prefix("ns:") {
                words.namespaces.push(namespace.to_owned());
            } else if let Some(state) = state {
                words.states.push(state);
            } else {
                words.texts.push(word.to_lowercase());
            }
        }
        words
    }

    /// Tells whether something is asked for: its namespace, its texts, the states that it ever had.
    pub(crate) fn has<'a>(
        &self,
        namespace: &str,
        texts: &(impl Iterator<Item = &'a str> + Clone),
        mut had: impl FnMut(LaneState) -> bool,
    ) -> bool {
        let is_text = |word: &String| texts.clone().any(|text| text.to_lowercase().contains(word));
        (self.namespaces.is_empty() || self.namespaces.iter().any(|own| own == namespace))
            && (self.states.is_empty() || self.states.iter().any(|state| had(*state)))
            && self.texts.iter().all(is_text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_narrows() {
        let has = |filter: &str| {
            let texts = ["web-0", "Running"];
            Words::of(filter).has("shop", &texts.into_iter(), |state| state == LaneState::Bad)
        };
        for yes in [
            "",
            "WEB",
            "ns:shop",
            "bad",
            "down bad",
            "web run",
            "ns:a ns:shop web",
        ] {
            assert!(has(yes), "{yes}");
        }
        for no in ["ns:sho", "down", "web bar", "ns:a web"] {
            assert!(!has(no), "{no}");
        }
    }
}
