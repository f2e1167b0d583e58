//! A reel that is being written is copied again and again, and every copy is of one commit.

use super::life::{append, begin, life};
use kubereel_format::{OpenError, Reel, Seq, copy_in_use, is_in_use};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

#[test]
fn a_copy_of_a_reel_that_is_being_written_is_whole_and_has_all_that_was_committed_before() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (
        folder.path().join("x.reel"),
        folder.path().join("copy.reel"),
    );
    let told = life(6000, 40);
    let mut appender = begin(&path);
    appender.commit().unwrap();
    let (committed, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            for (told, at) in told.iter().zip(1..) {
                append(&mut appender, told, at);
                if at % 5 == 0 {
                    appender.commit().unwrap();
                    committed.store(at.unsigned_abs(), Ordering::SeqCst);
                }
            }
            is_over.store(true, Ordering::SeqCst);
        });
        let mut copies = 0;
        while !is_over.load(Ordering::SeqCst) || copies == 0 {
            assert!(is_in_use(&path));
            let before = committed.load(Ordering::SeqCst);
            copy_in_use(&path, &copy).unwrap();
            let reel = Reel::open(&copy).unwrap();
            assert_eq!(reel.damage(), []);
            assert!(reel.event_count() >= before);
            for (event, told) in reel.scan(Seq(0)).zip(&told) {
                assert_eq!(event.unwrap().body[..], told.body[..]);
            }
            copies += 1;
        }
    });
    drop(appender);
    assert!(!is_in_use(&path));
}

#[test]
fn what_cannot_be_copied_says_which_file() {
    let folder = tempfile::tempdir().unwrap();
    let (none, copy) = (folder.path().join("none"), folder.path().join("copy"));
    assert!(!is_in_use(&none));
    for (from, to, named) in [
        (&none, &copy, &none),
        (&copy, &folder.path().to_owned(), &folder.path().to_owned()),
    ] {
        let error = copy_in_use(from, to).unwrap_err();
        let OpenError::Io { path, .. } = &error else {
            panic!("{error}");
        };
        assert_eq!(path, named);
        std::fs::write(&copy, "x").unwrap();
    }
}
