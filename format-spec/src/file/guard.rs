//! Owns the fence around the database: it may panic on a damaged file, and a panic becomes an error
//! here. Refuses to let one through.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs something that reads the database, and gives its error, or its panic, in words.
pub(crate) fn fenced<T, E: std::fmt::Display>(
    what: impl FnOnce() -> Result<T, E>,
) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(what)) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_words() {
        let told = fenced(|| -> Result<(), std::io::Error> { panic!("page {}", 7) });
        assert_eq!(told, Err("the database gave up: page 7".to_owned()));
    }
}
