//! The scenarios as they are written: steps, what must be found, and names that the seed draws.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Deserialize;
use serde_json::Value;

use crate::kubelet::Fate;

/// The file with all scenarios.
const FILE: &str = include_str!("../../../testdata/scenarios/diagnosis.yaml");

/// Words that names begin with; none of them tells what a scenario is about.
const WORDS: &[&str] = &[
    "amber", "basalt", "birch", "cedar", "comet", "delta", "ember", "falcon", "garnet", "harbor",
    "indigo", "juniper", "kestrel", "lagoon", "maple", "nectar", "onyx", "petrel", "quartz",
    "raven", "saffron", "tundra", "umber", "violet", "willow", "yarrow", "zephyr",
];

/// Names that are filled in when a step is sent.
pub(super) const NOW: &str = "$now";
/// A while after that.
pub(super) const SOON: &str = "$soon";
pub(super) const MICROS: &str = "$micros";
/// Alone in its place a certificate authority in PEM that ends at `$soon`.
pub(super) const AUTHORITY: &str = "$authority";
pub(super) const TURN: &str = "$turn";
/// Alone in their place they are numbers that rise from turn to turn.
pub(super) const EVEN: &str = "$even";
pub(super) const ODD: &str = "$odd";

/// All scenarios, and what goes on around each of them.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Book {
    around: Value,
    scenarios: Vec<Value>,
}

/// What is unrelated to a scenario.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Around {
    /// Made first, in a namespace of its own.
    pub(super) before: Vec<Step>,
    /// Made first, in the scenario's namespace.
    pub(super) before_beside: Vec<Step>,
    /// Done in any order while a recording runs.
    pub(super) acts: Vec<Step>,
    /// As `acts`, in the scenario's namespace.
    pub(super) acts_beside: Vec<Step>,
}

/// A scenario with its names drawn.
#[derive(Debug, Clone)]
pub struct Play {
    pub(super) scenario: Scenario,
    pub(super) around: Around,
    pub(super) dice: Dice,
    pub(super) seed: u64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Scenario {
    pub(super) name: String,
    pub(super) about: String,
    /// Whether it takes minutes, because what it shows is normal for so long.
    #[serde(default)]
    pub(super) is_long: bool,
    /// Whether nothing else may go on in its namespace: the fault would hit it too.
    #[serde(default)]
    pub(super) is_alone: bool,
    /// Made before the recording.
    pub(super) before: Vec<Step>,
    /// Done while it is recorded.
    pub(super) then: Vec<Step>,
    /// How long it is recorded after the last step.
    #[serde(default = "Scenario::default_hold")]
    pub(super) hold_secs: f64,
    /// Objects that may be named first; no problem at all may be named when there are none.
    #[serde(default)]
    pub(super) failing: Vec<String>,
    /// Changes that count as the cause; none when the API does not show it.
    #[serde(default)]
    pub(super) causes: Vec<CauseEntry>,
}

/// A change: `field` is a path, or `created` or `deleted`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CauseEntry {
    pub(super) object: String,
    pub(super) field: String,
}

/// One step.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Step {
    /// Creates an object; what a manifest leaves out is filled in.
    Create(Value),
    /// Patches an object.
    Patch(Edit),
    /// Deletes an object.
    Delete(Removal),
    /// Deletes the Pods whose names begin so.
    DeletePods(String),
    /// Evicts the Pods whose names begin so, as a drain does: a refusal is borne.
    Evict(Eviction),
    /// Returns Pods their fate.
    Fate(Script),
    /// Ends the kubelet of a node.
    StopKubelet(String),
    /// A node runs short of memory.
    ShortOfMemory(String),
    /// Waits until objects are seen so.
    Until(Sight),
    /// Waits.
    Hold(f64),
    /// Takes steps again and again.
    Repeat(Repetition),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Edit {
    pub(super) object: String,
    pub(super) with: Value,
    /// The subresource that is patched, such as `/status`.
    #[serde(default)]
    pub(super) part: String,
    #[serde(default = "Edit::default_by")]
    pub(super) by: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Removal {
    pub(super) object: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Eviction {
    pub(super) pods: String,
    /// Only those on this node.
    pub(super) node: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Script {
    /// How the Pods' names begin.
    pub(super) pods: String,
    /// Whether Pods that live already meet it too.
    #[serde(default)]
    pub(super) now: bool,
    pub(super) fate: Fate,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sight {
    /// A kind, and how names begin.
    pub(super) object: String,
    /// Parts of the object's compact JSON, all of which must be there.
    #[serde(default)]
    pub(super) has: Vec<String>,
    /// Parts none of which may be there.
    #[serde(default)]
    pub(super) lacks: Vec<String>,
    /// How many objects must be so.
    #[serde(default = "Sight::default_count")]
    pub(super) count: usize,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Repetition {
    pub(super) times: u32,
    pub(super) every_secs: f64,
    pub(super) steps: Vec<Step>,
}

impl Scenario {
    const fn default_hold() -> f64 {
        8.0
    }
}

impl Edit {
    fn default_by() -> String {
        "kubectl-edit".to_owned()
    }
}

impl Sight {
    const fn default_count() -> usize {
        1
    }
}

impl Book {
    /// Reads the project's scenarios.
    ///
    /// # Errors
    ///
    /// When the file does not hold any.
    pub fn read() -> Result<Self> {
        serde_saphyr::from_str(FILE).context("read diagnosis.yaml")
    }

    /// Replaces the scenarios by those of another file, which has only `scenarios`.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or does not hold any.
    pub fn with_scenarios_of(mut self, path: &Path) -> Result<Self> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct ScenarioFile {
            scenarios: Vec<Value>,
        }
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let file: ScenarioFile =
            serde_saphyr::from_str(&text).with_context(|| path.display().to_string())?;
        self.scenarios = file.scenarios;
        Ok(self)
    }

    /// The names of all scenarios, in their order.
    pub fn names(&self) -> Vec<String> {
        let names = self.scenarios.iter();
        names
            .map(|one| one["name"].as_str().unwrap_or_default().to_owned())
            .collect()
    }

    /// Whether a scenario takes minutes.
    pub fn is_long(&self, name: &str) -> bool {
        self.play(name, 0).is_ok_and(|play| play.scenario.is_long)
    }

    /// A scenario with the names that a seed draws.
    ///
    /// # Errors
    ///
    /// When there is no such scenario, or it is not written as one.
    pub fn play(&self, name: &str, seed: u64) -> Result<Play> {
        let found = self.scenarios.iter().find(|one| one["name"] == name);
        let found = found.with_context(|| format!("no scenario is called {name}"))?;
        let dice = Dice::new(seed);
        let drawn = |value: &Value| draw(value, &|token: &str| drawn_name(dice, name, token));
        let scenario =
            serde_json::from_value(drawn(found)).with_context(|| format!("scenario {name}"))?;
        let around = serde_json::from_value(drawn(&self.around)).context("what is around")?;
        Ok(Play {
            scenario,
            around,
            dice,
            seed,
        })
    }
}

impl Play {
    /// The scenario's name.
    pub fn name(&self) -> &str {
        &self.scenario.name
    }

    /// What happens in it.
    pub fn about(&self) -> &str {
        &self.scenario.about
    }

    /// The same, recorded for so long after the last step.
    #[must_use]
    pub fn held_for(mut self, secs: f64) -> Self {
        self.scenario.hold_secs = secs;
        self
    }

    /// The name that a token stands for.
    pub(super) fn named(&self, token: &str) -> String {
        drawn_name(self.dice, &self.scenario.name, token)
    }
}

/// Throws that depend on the seed and on what the throw is for, not on the order of throws.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dice {
    seed: u64,
}

impl Dice {
    pub(super) const fn new(seed: u64) -> Self {
        Self { seed }
    }

    fn throw(self, purpose: &[&str]) -> u64 {
        let mut hash = self.seed ^ 0xcbf2_9ce4_8422_2325;
        for byte in purpose.iter().flat_map(|part| part.bytes().chain([0xff])) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        let mut word = hash.wrapping_add(0x9e37_79b9_7f4a_7c15);
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// A number from 0 up to `limit`; 0 when that is 0.
    pub(super) fn below(self, limit: u32, purpose: &[&str]) -> u32 {
        let limit = u64::from(limit.max(1));
        u32::try_from(self.throw(purpose) % limit).unwrap_or_default()
    }

    /// The five characters at the end of a generated name: no vowels, as Kubernetes draws them.
    pub(super) fn suffix(self, purpose: &[&str]) -> String {
        const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
        let mut word = self.throw(purpose);
        let mut text = String::new();
        for _ in 0..5 {
            let letters = u64::try_from(LETTERS.len()).unwrap_or(1);
            let index = usize::try_from(word % letters).unwrap_or_default();
            text.push(char::from(LETTERS.get(index).copied().unwrap_or(b'x')));
            word /= letters;
        }
        text
    }
}

fn drawn_name(dice: Dice, scenario: &str, token: &str) -> String {
    let token = token.trim_start_matches('$');
    let words = u32::try_from(WORDS.len()).unwrap_or(1);
    let word = dice.below(words, &[scenario, token, "word"]);
    let word = usize::try_from(word)
        .ok()
        .and_then(|index| WORDS.get(index));
    let suffix = dice.suffix(&[scenario, token]);
    format!("{}-{suffix}", word.unwrap_or(&"onyx"))
}

/// Replaces every `$token` in keys and texts, but those that are filled in when a step is sent.
pub(super) fn draw(value: &Value, name: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(draw_text(text, name)),
        Value::Array(items) => items.iter().map(|item| draw(item, name)).collect(),
        Value::Object(fields) => {
            let fields: BTreeMap<String, Value> = fields
                .iter()
                .map(|(key, value)| (draw_text(key, name), draw(value, name)))
                .collect();
            fields.into_iter().collect()
        }
        other => other.clone(),
    }
}

fn draw_text(text: &str, name: &impl Fn(&str) -> String) -> String {
    let mut parts = text.split('$');
    let mut drawn = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|letter: char| !letter.is_ascii_alphanumeric());
        let (token, rest) = part.split_at(end.unwrap_or(part.len()));
        let token = format!("${token}");
        if [NOW, SOON, MICROS, AUTHORITY, TURN, EVEN, ODD].contains(&token.as_str()) {
            drawn.push_str(&token);
        } else {
            drawn.push_str(&name(&token));
        }
        drawn.push_str(rest);
    }
    drawn
}

#[cfg(test)]
mod scenario_tests {
    use super::*;

    #[test]
    fn every_scenario_reads_and_faults_say_what_must_be_found() -> Result<()> {
        let book = Book::read()?;
        let mut faults = 0;
        for name in book.names() {
            let play = book.play(&name, 7)?;
            let scenario = &play.scenario;
            assert!(!scenario.about.is_empty(), "{name}");
            let causes = scenario.causes.len();
            assert!(causes == 0 || !scenario.failing.is_empty(), "{name}");
            faults += usize::from(!scenario.failing.is_empty());
        }
        assert!(faults >= 25, "only {faults} faults");
        assert!(book.names().len() - faults >= 4, "too few without a fault");
        Ok(())
    }

    #[test]
    fn names_follow_the_seed_and_tokens_differ() -> Result<()> {
        let book = Book::read()?;
        let names = book.names();
        let name = names.first().context("a scenario")?;
        let drawn = |seed, token: &str| book.play(name, seed).map(|play| play.named(token));
        assert_eq!(drawn(1, "$ns")?, drawn(1, "$ns")?);
        assert_ne!(drawn(1, "$ns")?, drawn(2, "$ns")?);
        assert_ne!(drawn(1, "$ns")?, drawn(1, "$other")?);
        Ok(())
    }

    #[test]
    fn tokens_end_at_the_first_mark() {
        let name = |token: &str| token.to_uppercase();
        assert_eq!(draw_text("a/$b-c $now", &name), "a/$B-c $now");
        assert_eq!(draw_text("none", &name), "none");
    }
}
