//! Owns short texts that are shared: a million intervals repeat a few thousand words. Refuses texts
//! that occur once, which gain nothing.

use std::collections::BTreeSet;
use std::sync::Arc;

/// Texts, each kept once.
#[derive(Debug, Default)]
pub(crate) struct Words(BTreeSet<Arc<str>>);

impl Words {
    /// Gives the kept text that equals another.
    pub(crate) fn kept(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.0.get(text) {
            return Arc::clone(known);
        }
        let new: Arc<str> = Arc::from(text);
        self.0.insert(Arc::clone(&new));
        new
    }
}
