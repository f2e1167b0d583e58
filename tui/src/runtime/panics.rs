//! Owns panics of threads that work for the screen: they become words on it. Refuses to end the
//! program for them.

use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};

thread_local! {
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
    static WHERE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Does something; a panic in it becomes words.
pub(super) fn caught<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    IS_CAUGHT.set(true);
    let done = panic::catch_unwind(AssertUnwindSafe(run));
    IS_CAUGHT.set(false);
    done.map_err(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
        let place = WHERE.take();
        format!("a fault of kubereel: {}{place}", text.unwrap_or("a panic"))
    })
}

/// Takes note of a panic; tells whether it is caught, so that nobody else needs to hear of it.
pub(super) fn noted(info: &PanicHookInfo<'_>) -> bool {
    if !IS_CAUGHT.get() {
        return false;
    }
    let place = info.location();
    let place = place.map(|place| format!(" ({}:{})", place.file(), place.line()));
    WHERE.set(place.unwrap_or_default());
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_words() {
        assert_eq!(caught(|| 7), Ok(7));
        let text = "odd".to_owned();
        let said = caught(|| panic!("it is {text}")).expect_err("it panics");
        assert!(said.starts_with("a fault of kubereel: it is odd"), "{said}");
        let said = caught(|| panic!("plain")).expect_err("it panics");
        assert!(said.contains("plain"), "{said}");
        assert!(!IS_CAUGHT.get());
    }
}
