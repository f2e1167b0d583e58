//! Owns what a reader keeps of what it decoded: bounded in bytes, the least lately used half goes
//! first. Refuses to decode.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

/// A map bounded in bytes.
#[derive(Debug)]
pub(crate) struct Cache<K, V> {
    young: HashMap<K, Arc<V>>,
    old: HashMap<K, Arc<V>>,
    young_bytes: usize,
    most: usize,
}

impl<K: Hash + Eq + Copy, V> Cache<K, V> {
    /// Makes a cache of at most `most` bytes.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            young: HashMap::new(),
            old: HashMap::new(),
            young_bytes: 0,
            most,
        }
    }

    /// Gives what is kept under a key.
    pub(crate) fn get(&mut self, key: K, bytes: impl Fn(&V) -> usize) -> Option<Arc<V>> {
        if let Some(value) = self.young.get(&key) {
            return Some(Arc::clone(value));
        }
        let value = self.old.remove(&key)?;
        self.put(key, Arc::clone(&value), bytes(&value));
        Some(value)
    }

    /// Keeps a value of so many bytes.
    pub(crate) fn put(&mut self, key: K, value: Arc<V>, bytes: usize) {
        if self.young_bytes.saturating_add(bytes) > self.most / 2 {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        if self.young.insert(key, value).is_none() {
            self.young_bytes = self.young_bytes.saturating_add(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_stays_and_the_rest_goes() {
        let mut cache = Cache::new(100);
        for key in 0..100u32 {
            cache.put(key, Arc::new(key), 10);
            assert_eq!(cache.get(0, |_| 10).as_deref(), Some(&0), "{key}");
            assert!(cache.young.len() + cache.old.len() <= 11);
        }
        assert_eq!(cache.get(50, |_| 10), None);
    }
}
