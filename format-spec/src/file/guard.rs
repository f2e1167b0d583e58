//! Owns the fence around the database: it may panic on a damaged file, also when it is closed, and a
//! panic becomes an error here. Refuses to let one through.

use std::cell::Cell;
use std::convert::Infallible;
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Tells whether a panic on this thread would be caught and become an error: a program's panic hook
/// can stay silent then.
pub fn panic_is_caught() -> bool {
    DEPTH.get() > 0
}

/// Runs something that uses the database, and gives its error, or its panic, in words.
pub(crate) fn fenced<T, E: std::fmt::Display>(
    what: impl FnOnce() -> Result<T, E>,
) -> Result<T, String> {
    DEPTH.set(DEPTH.get().saturating_add(1));
    let outcome = catch_unwind(AssertUnwindSafe(what));
    DEPTH.set(DEPTH.get().saturating_sub(1));
    match outcome {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(error.to_string()),
        Err(panic) => Err(panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .map_or_else(
                || "the database gave up".to_owned(),
                |text| format!("the database gave up: {text}"),
            )),
    }
}

/// Something whose end may panic: it ends inside the fence.
#[derive(Debug)]
pub(crate) struct Fenced<T>(Option<T>);

impl<T> Fenced<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Some(value))
    }
}

impl<T> Deref for Fenced<T> {
    type Target = T;

    #[expect(clippy::expect_used, reason = "only the end takes the value out")]
    fn deref(&self) -> &T {
        self.0.as_ref().expect("it has not ended")
    }
}

impl<T> DerefMut for Fenced<T> {
    #[expect(clippy::expect_used, reason = "only the end takes the value out")]
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().expect("it has not ended")
    }
}

impl<T> Drop for Fenced<T> {
    fn drop(&mut self) {
        if let Some(value) = self.0.take() {
            // What a database cannot tidy up at its end is read again, and repaired, at the next start.
            let _ended = fenced(|| {
                drop(value);
                Ok::<(), Infallible>(())
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Bad;

    impl Drop for Bad {
        fn drop(&mut self) {
            assert!(panic_is_caught());
            panic!("at the end");
        }
    }

    #[test]
    fn a_panic_becomes_words() {
        let told = fenced(|| -> Result<(), std::io::Error> { panic!("page {}", 7) });
        assert_eq!(told, Err("the database gave up: page 7".to_owned()));
        assert!(!panic_is_caught());
    }

    #[test]
    fn a_panic_at_the_end_stays_inside() {
        drop(Fenced::new(Bad));
    }
}
