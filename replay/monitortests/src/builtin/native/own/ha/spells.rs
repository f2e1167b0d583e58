//! Owns for how long something was wrong with something. Refuses to know what.

use crate::verdict::Subject;
use kubereel_format::{RecordedAt, Seq};
use std::collections::BTreeMap;

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    /// A word for programs.
    pub(super) reason: &'static str,
    /// For people, without times.
    pub(super) message: String,
}

/// Something that was wrong for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spell {
    pub(super) subject: Subject,
    pub(super) wrong: Wrong,
    pub(super) from: RecordedAt,
    /// `None` while it lasts.
    pub(super) to: Option<RecordedAt>,
    pub(super) seq: Seq,
}

/// The spells of many subjects, at most one at a time of each.
#[derive(Debug, Default)]
pub(super) struct Spells {
    running: BTreeMap<Subject, Spell>,
    over: Vec<Spell>,
}

impl Spells {
    /// Says how a subject is now.
    pub(super) fn say(
        &mut self,
        subject: &Subject,
        at: RecordedAt,
        seq: Seq,
        wrong: Option<Wrong>,
    ) {
        match (self.running.get_mut(subject), wrong) {
            // It stays wrong; what is wrong may change, and the first word stands.
            (Some(_), Some(_)) | (None, None) => {}
            (None, Some(wrong)) => {
                let spell = Spell {
                    subject: subject.clone(),
                    wrong,
                    from: at,
                    to: None,
                    seq,
                };
                self.running.insert(subject.clone(), spell);
            }
            (Some(_), None) => self.end(subject, at),
        }
    }

    /// Says that a subject is no more.
    pub(super) fn end(&mut self, subject: &Subject, at: RecordedAt) {
        if let Some(mut spell) = self.running.remove(subject) {
            spell.to = Some(at);
            self.over.push(spell);
        }
    }

    /// Adds what was wrong at one moment only.
    pub(super) fn instant(&mut self, subject: Subject, at: RecordedAt, seq: Seq, wrong: Wrong) {
        self.over.push(Spell {
            subject,
            wrong,
            from: at,
            to: Some(at),
            seq,
        });
    }

    /// Takes all spells, by their begin.
    pub(super) fn take(&mut self) -> Vec<Spell> {
        let mut all = std::mem::take(&mut self.over);
        all.extend(std::mem::take(&mut self.running).into_values());
        all.sort_by(|one, other| {
            (one.from, one.seq, &one.subject).cmp(&(other.from, other.seq, &other.subject))
        });
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spell_lasts_from_the_first_word_to_the_last() {
        let at = RecordedAt::from_micros;
        let wrong = |message: &str| {
            Some(Wrong {
                reason: "R",
                message: message.to_owned(),
            })
        };
        let subject = Subject::default();
        let mut spells = Spells::default();
        spells.say(&subject, at(1), Seq(1), None);
        spells.say(&subject, at(2), Seq(2), wrong("a"));
        spells.say(&subject, at(3), Seq(3), wrong("b"));
        spells.say(&subject, at(4), Seq(4), None);
        spells.say(&subject, at(5), Seq(5), wrong("c"));
        let all = spells.take();
        let times: Vec<_> = all.iter().map(|spell| (spell.from, spell.to)).collect();
        assert_eq!(times, [(at(2), Some(at(4))), (at(5), None)]);
        assert_eq!(
            all.first().map(|spell| spell.wrong.message.as_str()),
            Some("a")
        );
    }
}
