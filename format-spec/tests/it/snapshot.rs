//! A reel that is being written is copied again and again, and every copy is of one commit.

use super::life::{append, begin, life};
use kubereel_format::{Appender, GrowingReel, OpenError, Reel, ReelGrowth, copy_in_use, is_in_use};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

#[test]
fn a_copy_of_a_reel_that_is_being_written_is_whole_and_has_all_that_was_committed_before() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (
        folder.path().join("x.reel"),
        folder.path().join("copy.reel"),
    );
    let written = life(6000, 40);
    let mut appender = begin(&path);
    appender.commit().unwrap();
    let (committed, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            for (written, at) in written.iter().zip(1..) {
                append(&mut appender, written, at);
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
            for (event, written) in reel.scan().zip(&written) {
                assert_eq!(event.unwrap().body[..], written.body[..]);
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

#[test]
fn a_growing_reel_is_read_again_while_it_is_being_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.reel");
    let written = life(6000, 40);
    let mut appender = begin(&path);
    appender.commit().unwrap();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for (written, at) in written.iter().zip(1..) {
                append(&mut appender, written, at);
                if at % 5 == 0 {
                    appender.commit().unwrap();
                }
            }
            appender.commit().unwrap();
            is_over.store(true, Ordering::SeqCst);
        });
        let mut growing = GrowingReel::new(&path, folder.path());
        let mut last = None;
        loop {
            let was_over = is_over.load(Ordering::SeqCst);
            match growing.read().unwrap() {
                ReelGrowth::Grown(reel) => {
                    assert_eq!(reel.damage(), []);
                    let before = last.as_ref().map_or(0, Reel::event_count);
                    assert!(reel.event_count() >= before);
                    // The one before is still read: its copy is not the one that was written to.
                    for reel in last.iter().chain([&reel]) {
                        for (event, written) in reel.scan().zip(&written) {
                            assert_eq!(event.unwrap().body[..], written.body[..]);
                        }
                    }
                    last = Some(reel);
                }
                ReelGrowth::Unchanged if was_over => break,
                ReelGrowth::Unchanged => {}
                ReelGrowth::Ended(_) => panic!("it is being written"),
            }
        }
        assert_eq!(last.map(|reel| reel.event_count()), Some(6000));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    });
    appender.finish().unwrap();
    let ended = GrowingReel::new(&path, folder.path()).read().unwrap();
    assert!(matches!(ended, ReelGrowth::Ended(reel) if reel.is_finished()));
}

#[test]
fn a_reader_keeps_no_writer_out_and_sees_it_go_and_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.reel");
    let written = life(20, 4);
    let mut appender = begin(&path);
    append(&mut appender, &written[0], 1);
    appender.commit().unwrap();
    let mut growing = GrowingReel::new(&path, folder.path());
    let ReelGrowth::Grown(first) = growing.read().unwrap() else {
        panic!("it is being written");
    };
    drop(appender);
    let ReelGrowth::Ended(left) = growing.read().unwrap() else {
        panic!("nobody writes it");
    };
    assert!(!left.is_finished());
    assert_eq!(left.end(), first.end());
    assert!(matches!(growing.read().unwrap(), ReelGrowth::Unchanged));
    // Both are still read, and the next writer can begin.
    let mut appender = Appender::resume(&path).unwrap();
    append(&mut appender, &written[1], 2);
    appender.commit().unwrap();
    let ReelGrowth::Grown(next) = growing.read().unwrap() else {
        panic!("it is being written again");
    };
    assert_eq!(next.event_count(), left.event_count() + 1);
    appender.finish().unwrap();
    assert!(matches!(growing.read().unwrap(), ReelGrowth::Ended(reel) if reel.is_finished()));
}
