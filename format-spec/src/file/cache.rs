//! A cache of decoded values, bounded in bytes: the less recently used half is dropped, a few
//! values at a time.

use std::collections::{HashMap, hash_map};
use std::hash::Hash;
use std::sync::Arc;

/// How many values are dropped with each insertion.
///
/// Dropping some thousand at once would delay one query by milliseconds.
const GOING: usize = 4;

/// A map bounded in bytes.
#[derive(Debug)]
pub(crate) struct Cache<K, V> {
    young: HashMap<K, Arc<V>>,
    old: HashMap<K, Arc<V>>,
    going: hash_map::IntoIter<K, Arc<V>>,
    young_bytes: usize,
    most: usize,
}

impl<K: Hash + Eq + Copy, V> Cache<K, V> {
    /// Creates a cache of at most `most` bytes, and half as many of values that are being dropped.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            young: HashMap::new(),
            old: HashMap::new(),
            going: HashMap::new().into_iter(),
            young_bytes: 0,
            most,
        }
    }

    /// Sets the limit to `most` bytes; the excess is dropped with the next insertions.
    pub(crate) fn bound(&mut self, most: usize) {
        self.most = most;
    }

    /// Returns the value of a key.
    pub(crate) fn get(&mut self, key: K, bytes: impl Fn(&V) -> usize) -> Option<Arc<V>> {
        if let Some(value) = self.young.get(&key) {
            return Some(Arc::clone(value));
        }
        let value = self.old.remove(&key)?;
        self.put(key, Arc::clone(&value), bytes(&value));
        Some(value)
    }

    /// Inserts a value of `bytes` bytes.
    pub(crate) fn put(&mut self, key: K, value: Arc<V>, bytes: usize) {
        if self.young_bytes.saturating_add(bytes) > self.most / 2 {
            let old = std::mem::replace(&mut self.old, std::mem::take(&mut self.young));
            self.going = old.into_iter();
            self.young_bytes = 0;
        }
        for value in self.going.by_ref().take(GOING) {
            drop(value);
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
            assert!(cache.going.len() <= 5);
        }
        assert_eq!(cache.get(50, |_| 10), None);
    }

    #[test]
    fn a_lower_bound_holds_soon() {
        let mut cache = Cache::new(1_000);
        for key in 0..100u32 {
            cache.put(key, Arc::new(key), 10);
        }
        cache.bound(100);
        for key in 100..200u32 {
            cache.put(key, Arc::new(key), 10);
        }
        assert!(cache.young.len() + cache.old.len() <= 11);
        assert_eq!(cache.going.len(), 0);
    }

    #[test]
    fn the_oldest_go_a_few_at_a_time() {
        let mut cache = Cache::new(2_000);
        let values: Vec<Arc<u32>> = (0..10_000).map(Arc::new).collect();
        let mut kept = 0;
        for value in &values {
            cache.put(**value, Arc::clone(value), 1);
            let now = values
                .iter()
                .filter(|value| Arc::strong_count(value) > 1)
                .count();
            assert!(now + GOING > kept && now <= 3_000, "{kept}, then {now}");
            kept = now;
        }
        assert!(kept >= 1_000);
    }
}
