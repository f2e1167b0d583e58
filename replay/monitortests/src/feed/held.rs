//! What is held of each live object from one event to the next. It does not hold much of those that
//! rest: most objects of a cluster do, and a tree of values takes many times its text.

use kubereel_format::ObjectId;
use serde_json::Value;
use std::collections::BTreeMap;

/// How many objects that changed lately are held as values, twice over.
const AWAKE_OBJECTS: usize = 512;

/// The fields of live objects.
#[derive(Debug, Default)]
pub(super) struct LiveObjects {
    /// Those that changed last.
    awake: BTreeMap<ObjectId, Value>,
    /// Those that changed before them.
    drowsy: BTreeMap<ObjectId, Value>,
    /// All others, as text.
    asleep: BTreeMap<ObjectId, Box<[u8]>>,
}

impl LiveObjects {
    /// Takes out what is held of an object.
    pub(super) fn take(&mut self, object: ObjectId) -> Option<Value> {
        if let Some(value) = self.awake.remove(&object) {
            return Some(value);
        }
        if let Some(value) = self.drowsy.remove(&object) {
            return Some(value);
        }
        let text = self.asleep.remove(&object)?;
        // It was written here, from a value.
        serde_json::from_slice(&text).ok()
    }

    /// Lets go of an object, without reading what is held of it.
    pub(super) fn forget(&mut self, object: ObjectId) {
        if self.awake.remove(&object).is_none() && self.drowsy.remove(&object).is_none() {
            self.asleep.remove(&object);
        }
    }

    /// Holds an object.
    pub(super) fn put(&mut self, object: ObjectId, value: Value) {
        if self.awake.len() >= AWAKE_OBJECTS {
            let awake = std::mem::take(&mut self.awake);
            for (object, value) in std::mem::replace(&mut self.drowsy, awake) {
                match serde_json::to_vec(&value) {
                    Ok(text) => drop(self.asleep.insert(object, text.into_boxed_slice())),
                    // What cannot be written stays a value.
                    Err(_) => drop(self.drowsy.insert(object, value)),
                }
            }
        }
        self.awake.insert(object, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_slept_long_is_what_it_was() {
        let value = |number: u32| {
            json!({
                "number": number,
                "odd": [0.1, -0.0, 1e300, u64::MAX, i64::MIN, null, "\u{1}é\"", {}, []],
            })
        };
        let mut held = LiveObjects::default();
        let count = u32::try_from(AWAKE_OBJECTS * 5).expect("a small number");
        for number in 0..count {
            held.put(ObjectId(number), value(number));
        }
        assert!(!held.asleep.is_empty());
        assert!(held.awake.len() + held.drowsy.len() <= 2 * AWAKE_OBJECTS);
        for number in (0..count).step_by(7) {
            held.forget(ObjectId(number));
            assert_eq!(held.take(ObjectId(number)), None);
        }
        for number in (0..count).filter(|number| number % 7 != 0) {
            assert_eq!(held.take(ObjectId(number)), Some(value(number)));
            assert_eq!(held.take(ObjectId(number)), None);
        }
    }
}
