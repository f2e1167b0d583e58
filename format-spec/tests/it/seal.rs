//! A sealed reel is the same recording: every event, note and text, in order and at random. A
//! failure leaves the old file unchanged.

use crate::life::{append, begin, check, life, path_in, stamp};
use kubereel_format::{
    Appender, BlobNote, Bounds, DocumentKind, FinishError, OpenError, RecoverError, Reel,
    SealDensity, SealError, SealedCopy, recover, remove_interrupted_copies, seal, unseal,
};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

fn demo_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/demo.reel")
}

fn names_in(folder: &Path) -> BTreeSet<String> {
    let files = std::fs::read_dir(folder).unwrap();
    files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect()
}

/// Compares two reels by every query.
fn assert_equal(old: &Reel, new: &Reel) {
    assert!(new.is_sealed());
    assert_same(old, new);
}

fn assert_same(old: &Reel, new: &Reel) {
    assert_eq!(new.damage(), []);
    assert_eq!(new.is_finished(), old.is_finished());
    assert_eq!(new.end(), old.end());
    assert_eq!(new.event_count(), old.event_count());
    assert!(new.objects().eq(old.objects()));
    let events: Vec<_> = old.scan().map(Result::unwrap).collect();
    let again: Vec<_> = new.scan().map(Result::unwrap).collect();
    assert!(events == again, "an event differs");
    // From the end, so that earlier decoding does not help.
    for event in events.iter().rev().step_by(7) {
        assert_eq!(new.body(event.head.seq).unwrap(), event.body);
    }
    assert_eq!(new.notes().len(), old.notes().len());
    for (old, new) in old.notes().iter().zip(new.notes()) {
        assert_eq!((new.seq, new.stamp), (old.seq, old.stamp));
    }
    // The digest compares the notes' words and texts.
    let digest = |reel: &Reel| reel.digest(|_| {}).unwrap();
    assert_eq!(digest(new), digest(old));
}

#[test]
fn a_sealed_demo_is_the_same_recording_in_fewer_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = path_in(&folder);
    let old = Reel::open(&demo_path()).unwrap();
    let mut last = 0;
    let stats = seal(&old, &path, SealDensity::Usual, |done| {
        assert!(done >= last && done <= 2 * old.end().0);
        last = done;
    })
    .unwrap();
    println!("demo: {stats:?}");
    let new = Reel::open(&path).unwrap();
    assert_equal(&old, &new);
    assert_eq!(stats.file_bytes, std::fs::metadata(&path).unwrap().len());
    assert_eq!(
        stats.bytes_before,
        std::fs::metadata(demo_path()).unwrap().len()
    );
    assert_eq!(stats.events, old.event_count());
    assert!(stats.file_bytes * 20 < stats.bytes_before * 19, "{stats:?}");
    // Sealing it again changes nothing.
    let again = folder.path().join("again.reel");
    let twice = seal(&new, &again, SealDensity::Usual, |_| {}).unwrap();
    assert_eq!(twice.file_bytes, stats.file_bytes);
    assert_equal(&old, &Reel::open(&again).unwrap());
    drop(new);
    assert_eq!(names_in(folder.path()).len(), 2);
}

#[test]
fn many_groups_checkpoints_and_documents_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = path_in(&folder);
    let written = life(140_000, 150);
    let mut appender = begin(&path);
    for (at, event) in (0i64..).zip(&written) {
        append(&mut appender, event, at);
    }
    let document: Vec<u8> = (0..200_000u32).flat_map(u32::to_le_bytes).collect();
    appender
        .append_blob_note(
            stamp(160_000),
            BlobNote::Document {
                kind: DocumentKind::Discovery,
                path: "/apis".to_owned(),
            },
            &document,
        )
        .unwrap();
    appender.finish().unwrap();
    let copy = folder.path().join("copy.reel");
    std::fs::copy(&path, &copy).unwrap();
    let reel = Reel::open(&path).unwrap();
    let stats = seal(&reel, &path, SealDensity::Usual, |_| {}).unwrap();
    drop(reel);
    println!("life: {stats:?}");
    let (old, new) = (Reel::open(&copy).unwrap(), Reel::open(&path).unwrap());
    assert_equal(&old, &new);
    assert!(new.blocks().len() > 16, "more than one group");
    check(&path, &written);
    drop(new);
    assert_eq!(names_in(folder.path()).len(), 2, "nothing is left behind");
    // The same with a model, in fewer bytes.
    let smallest = folder.path().join("smallest.reel");
    let smaller = seal(&old, &smallest, SealDensity::Smallest, |_| {}).unwrap();
    println!("life, smallest: {smaller:?}");
    assert!(smaller.file_bytes < stats.file_bytes, "{smaller:?}");
    assert_eq!(smaller.digest, stats.digest);
    check(&smallest, &written);
}

#[test]
fn a_killed_recorders_reel_is_sealed_and_stays_unfinished() {
    let folder = tempfile::tempdir().unwrap();
    let path = path_in(&folder);
    let written = life(3_000, 90);
    let mut appender = begin(&path);
    for (at, event) in (0i64..).zip(&written) {
        append(&mut appender, event, at);
        if at % 61 == 0 {
            appender.commit().unwrap();
        }
    }
    appender.commit().unwrap();
    drop(appender);
    let to = folder.path().join("sealed.reel");
    let old = Reel::open(&path).unwrap();
    seal(&old, &to, SealDensity::Usual, |_| {}).unwrap();
    assert!(!old.is_finished());
    assert_equal(&old, &Reel::open(&to).unwrap());
    check(&to, &written);
    // The end is known, although the recorder did not record it.
    let bytes = std::fs::read(&to).unwrap();
    std::fs::write(&to, &bytes[..bytes.len() / 2]).unwrap();
    assert!(Reel::open(&to).unwrap().has_losses());
}

#[test]
fn an_empty_reel_is_sealed() {
    let folder = tempfile::tempdir().unwrap();
    let path = path_in(&folder);
    Appender::create(&path).unwrap().finish().unwrap();
    let to = folder.path().join("sealed.reel");
    let old = Reel::open(&path).unwrap();
    seal(&old, &to, SealDensity::Usual, |_| {}).unwrap();
    assert_equal(&old, &Reel::open(&to).unwrap());
}

#[test]
fn nothing_is_appended_to_a_sealed_reel() {
    let folder = tempfile::tempdir().unwrap();
    let path = path_in(&folder);
    seal(
        &Reel::open(&demo_path()).unwrap(),
        &path,
        SealDensity::Usual,
        |_| {},
    )
    .unwrap();
    let before = std::fs::read(&path).unwrap();
    let refused = Appender::resume(&path).unwrap_err();
    assert!(matches!(refused, OpenError::Sealed { .. }), "{refused}");
    assert!(std::fs::read(&path).unwrap() == before, "the file changed");
}

#[test]
fn what_cannot_be_sealed_stays_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = path_in(&folder);
    recover(&Reel::open(&demo_path()).unwrap(), &path, |_| {}).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    // A damaged reel.
    let middle = bytes.len() / 2;
    bytes[middle..middle + 40_960].fill(0);
    std::fs::write(&path, &bytes).unwrap();
    let reel = Reel::open(&path).unwrap();
    let refused = seal(&reel, &path, SealDensity::Usual, |_| {}).unwrap_err();
    assert!(matches!(refused, SealError::Damaged { .. }), "{refused}");
    assert!(std::fs::read(&path).unwrap() == bytes, "the file changed");
    // Another file's name.
    let whole = Reel::open(&demo_path()).unwrap();
    let refused = seal(&whole, &path, SealDensity::Usual, |_| {}).unwrap_err();
    assert!(matches!(refused, SealError::Exists { .. }), "{refused}");
    // A sealed reel is not worse than another.
    let sealed = folder.path().join("sealed.reel");
    seal(&whole, &sealed, SealDensity::Usual, |_| {}).unwrap();
    let mut small = std::fs::read(&sealed).unwrap();
    small[9_999] ^= 1;
    std::fs::write(&sealed, &small).unwrap();
    let hurt = Reel::open(&sealed).unwrap();
    assert!(!hurt.has_losses() && !hurt.is_sealed());
    let refused = seal(&hurt, &sealed, SealDensity::Usual, |_| {}).unwrap_err();
    assert!(matches!(refused, SealError::Damaged { .. }), "{refused}");
    drop(hurt);
    std::fs::remove_file(&sealed).unwrap();
    assert!(std::fs::read(&path).unwrap() == bytes, "the file changed");
    assert_eq!(names_in(folder.path()).len(), 1);
}

#[test]
fn a_seal_that_ends_at_any_step_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = path_in(&folder);
    std::fs::copy(demo_path(), &path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let end = Reel::open(&path).unwrap().end().0;
    for step in [0, end / 2, end - 1, end + end / 2] {
        // The panic acts as a kill: no code of the seal runs after it.
        let killed = std::panic::catch_unwind(|| {
            let reel = Reel::open(&path).unwrap();
            seal(&reel, &path, SealDensity::Usual, |done| {
                assert!(done < step, "killed");
            })
        });
        assert!(killed.is_err(), "{step} was never reached");
        assert!(
            std::fs::read(&path).unwrap() == bytes,
            "{step}: the file changed"
        );
        assert_eq!(Reel::open(&path).unwrap().damage(), []);
        for name in names_in(folder.path()) {
            if Path::new(&name) != path.file_name().unwrap() {
                std::fs::remove_file(folder.path().join(name)).unwrap();
            }
        }
    }
    let reel = Reel::open(&path).unwrap();
    seal(&reel, &path, SealDensity::Usual, |_| {}).unwrap();
    drop(reel);
    assert!(Reel::open(&path).unwrap().is_sealed());
}

/// A sealed reel of a finished or a killed recorder in a folder of its own, and a copy of the reel that it was.
fn sealed_life(is_finished: bool) -> (tempfile::TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = path_in(&folder);
    let told = life(3_000, 90);
    let mut appender = begin(&path);
    for (at, event) in (0i64..).zip(&told) {
        append(&mut appender, event, at);
    }
    let document: Vec<u8> = (0..50_000u32).flat_map(u32::to_le_bytes).collect();
    let note = BlobNote::Document {
        kind: DocumentKind::Discovery,
        path: "/apis".to_owned(),
    };
    appender
        .append_blob_note(stamp(4_000), note, &document)
        .unwrap();
    appender.commit().unwrap();
    if is_finished {
        appender.finish().unwrap();
    } else {
        drop(appender);
    }
    let copy = folder.path().join("copy.reel");
    std::fs::copy(&path, &copy).unwrap();
    let reel = Reel::open(&path).unwrap();
    seal(&reel, &path, SealDensity::Usual, |_| {}).unwrap();
    drop(reel);
    (folder, path, copy)
}

#[test]
fn an_unsealed_reel_is_the_same_recording_and_takes_more_records() {
    for is_finished in [true, false] {
        let (folder, path, copy) = sealed_life(is_finished);
        let sealed = Reel::open(&path).unwrap();
        let mut done = 0;
        let stats = unseal(&sealed, Bounds::default(), |at| done = at).unwrap();
        assert_eq!(done + 1, sealed.end().0);
        drop(sealed);
        let new = Reel::open(&path).unwrap();
        assert!(!new.is_sealed());
        assert_same(&Reel::open(&copy).unwrap(), &new);
        assert_eq!(stats.file_bytes, std::fs::metadata(&path).unwrap().len());
        let end = new.end();
        drop(new);
        let mut appender = Appender::resume(&path).unwrap();
        append(&mut appender, &life(1, 90)[0], 5_000);
        appender.finish().unwrap();
        assert!(Reel::open(&path).unwrap().end() > end);
        assert_eq!(names_in(folder.path()).len(), 2, "nothing is left behind");
    }
}

#[test]
fn a_sealed_reel_that_cannot_be_unsealed_stays_as_it_was() {
    let (folder, path, copy) = sealed_life(true);
    let bytes = std::fs::read(&path).unwrap();
    let small = Bounds {
        file_bytes: Some(std::fs::metadata(&copy).unwrap().len() * 2 - 1),
        ..Bounds::default()
    };
    let refused = unseal(&Reel::open(&path).unwrap(), small, |_| {}).unwrap_err();
    // Where it is noticed depends on how the database grows.
    assert!(
        matches!(
            refused,
            RecoverError::Append(_) | RecoverError::Finish(_) | RecoverError::Create(_)
        ),
        "{refused}"
    );
    assert!(std::fs::read(&path).unwrap() == bytes, "the file changed");
    let mut hurt = bytes.clone();
    let middle = hurt.len() / 2;
    hurt[middle] ^= 1;
    std::fs::write(&path, &hurt).unwrap();
    let refused = unseal(&Reel::open(&path).unwrap(), Bounds::default(), |_| {}).unwrap_err();
    assert!(matches!(refused, RecoverError::Damaged { .. }), "{refused}");
    assert!(std::fs::read(&path).unwrap() == hurt, "the file changed");
    assert_eq!(names_in(folder.path()).len(), 2, "nothing is left behind");
}

#[test]
fn a_seal_that_its_caller_ends_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = path_in(&folder);
    std::fs::copy(demo_path(), &path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let reel = Reel::open(&path).unwrap();
    let end = reel.end().0;
    for step in [0, end / 2, end + end / 2] {
        let ended = SealedCopy::write(&reel, |done| {
            if done < step {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
        assert!(matches!(ended, Err(SealError::Interrupted)), "{ended:?}");
        assert_eq!(names_in(folder.path()).len(), 1);
    }
    // One that is complete and not wanted is removed, too.
    let copy = SealedCopy::write(&reel, |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(names_in(folder.path()).len(), 2);
    assert!(copy.stats().file_bytes < copy.stats().bytes_before);
    drop(copy);
    assert_eq!(names_in(folder.path()).len(), 1);
    assert!(std::fs::read(&path).unwrap() == bytes, "the file changed");
}

#[test]
fn only_interrupted_copies_of_the_reel_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = path_in(&folder);
    std::fs::copy(demo_path(), &path).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    let kept = [
        format!("{name}.part"),
        format!("{name}.0123456789abcdeg.part"),
        format!("{name}.0123456789abcdef.part.gz"),
        format!("other-{name}.0123456789abcdef.part"),
        format!("{name}.123.part"),
    ];
    for other in &kept {
        std::fs::write(folder.path().join(other), "x").unwrap();
    }
    let left = folder.path().join(format!("{name}.0123456789abcdef.part"));
    std::fs::write(&left, "x").unwrap();
    remove_interrupted_copies(&path);
    assert!(!left.exists());
    assert_eq!(names_in(folder.path()).len(), kept.len() + 1);
}

#[test]
fn a_file_that_took_the_name_of_a_reel_is_replaced_by_no_seal() {
    let folder = tempfile::tempdir().unwrap();
    let (path, moved) = (path_in(&folder), folder.path().join("moved"));
    let other = std::fs::read(demo_path()).unwrap();
    for is_taken in [true, false] {
        std::fs::copy(demo_path(), &path).unwrap();
        let reel = Reel::open(&path).unwrap();
        let copy = SealedCopy::write(&reel, |_| ControlFlow::Continue(())).unwrap();
        std::fs::rename(&path, &moved).unwrap();
        if is_taken {
            std::fs::write(&path, &other).unwrap();
        }
        let refused = copy.replace(&reel).unwrap_err();
        assert!(matches!(refused, SealError::Moved { .. }), "{refused}");
        assert_eq!(std::fs::read(&path).ok(), is_taken.then(|| other.clone()));
        assert!(std::fs::read(&moved).unwrap() == other, "the reel changed");
        drop(reel);
        let left = names_in(folder.path()).len();
        assert_eq!(left, 1 + usize::from(is_taken), "the copy is left");
        drop(std::fs::remove_file(&path));
    }
}

#[test]
fn a_file_that_took_the_name_of_a_recording_is_replaced_by_no_end() {
    let folder = tempfile::tempdir().unwrap();
    let (path, moved) = (path_in(&folder), folder.path().join("moved"));
    let told = life(500, 20);
    for is_taken in [true, false] {
        let mut appender = begin(&path);
        for (at, event) in (0i64..).zip(&told) {
            append(&mut appender, event, at);
        }
        std::fs::rename(&path, &moved).unwrap();
        if is_taken {
            std::fs::copy(demo_path(), &path).unwrap();
        }
        let refused = appender.finish().unwrap_err();
        assert!(matches!(refused, FinishError::Moved { .. }), "{refused}");
        let demo = std::fs::read(demo_path()).unwrap();
        assert_eq!(std::fs::read(&path).ok(), is_taken.then_some(demo));
        let left = names_in(folder.path()).len();
        assert_eq!(left, 1 + usize::from(is_taken), "the copy is left");
        check(&moved, &told);
        assert!(Reel::open(&moved).unwrap().is_finished());
        drop(std::fs::remove_file(&path));
        std::fs::remove_file(&moved).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn a_recording_that_was_deleted_does_not_end_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = path_in(&folder);
    let mut appender = begin(&path);
    for (at, event) in (0i64..).zip(&life(50, 20)) {
        append(&mut appender, event, at);
    }
    assert!(!appender.commit().unwrap().is_deleted);
    std::fs::remove_file(&path).unwrap();
    append(&mut appender, &life(1, 20)[0], 51);
    assert!(appender.commit().unwrap().is_deleted);
    let refused = appender.end().unwrap().check_kept().unwrap_err();
    assert!(matches!(refused, FinishError::Deleted { .. }), "{refused}");
    assert_eq!(names_in(folder.path()).len(), 0);
}

#[cfg(unix)]
#[test]
fn a_new_file_that_takes_the_place_of_a_reel_can_be_read_by_nobody_else() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = path_in(&folder);
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let mut appender = begin(&path);
    append(&mut appender, &life(1, 20)[0], 1);
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
    appender.finish().unwrap();
    assert_eq!(mode(&path), 0o640);
    let to = folder.path().join("recovered.reel");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    recover(&Reel::open(&path).unwrap(), &to, |_| {}).unwrap();
    assert_eq!(mode(&to), 0o600);
}
