//! What an answer costs: few frames for a state, small parts when read ahead.

use super::life::{Told, append, begin, life, path_in, resource, stamp};
use kubereel_format::{Appender, Note, ReadAllowance, Reel, Seq};
use proptest::prelude::*;
use std::sync::LazyLock;

#[test]
fn the_state_at_a_moment_comes_from_few_frames() {
    let folder = tempfile::tempdir().unwrap();
    let path = path_in(&folder);
    let told = life(200_000, 300);
    let mut appender = begin(&path);
    let mut events = resource(3);
    events.plural = "events".to_owned();
    appender
        .append_note(stamp(0), Note::Resource(events))
        .unwrap();
    for (at, event) in (0i64..).zip(&told) {
        append(&mut appender, event, at);
        if at == 150_000 {
            appender.commit().unwrap();
            drop(appender);
            appender = Appender::resume(&path).unwrap();
        }
    }
    appender.finish().unwrap();
    let reel = Reel::open(&path).unwrap();
    for cut in [70_000u64, 131_500, 199_000] {
        let fresh = Reel::open(&path).unwrap();
        let mut asked = 0u64;
        for object in fresh.objects() {
            let versions = fresh.versions(object.id);
            let count = versions.partition_point(|seq| seq.0 < cut);
            let Some(seq) = count.checked_sub(1).map(|place| versions[place]) else {
                continue;
            };
            let body = fresh.body_at(seq, Seq(cut)).unwrap();
            assert_eq!(body, reel.body(seq).unwrap(), "{seq} at {cut}");
            // An older version is given as what it is, whatever the caller says.
            if let Some(older) = count.checked_sub(2).map(|place| versions[place]) {
                assert_eq!(
                    fresh.body_at(older, Seq(cut)).unwrap(),
                    reel.body(older).unwrap()
                );
            }
            asked += 1;
        }
        assert!(asked >= 300, "{asked}");
    }
    let fresh = Reel::open(&path).unwrap();
    let cut = 131_072 + 5_000;
    for object in fresh.objects() {
        let versions = fresh.versions(object.id);
        let count = versions.partition_point(|seq| seq.0 < cut);
        if let Some(seq) = count.checked_sub(1).map(|place| versions[place]) {
            fresh.body_at(seq, Seq(cut)).unwrap();
        }
    }
    let frames = fresh.counts().frames;
    assert!(frames < 60, "{frames} frames for one state");
}
/// A reel with a checkpoint, and what it must hold behind three notes.
static LONG: LazyLock<(tempfile::TempDir, Vec<Told>)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let told = life(70_000, 300);
    let mut appender = begin(&path_in(&folder));
    for (at, event) in (0i64..).zip(&told) {
        append(&mut appender, event, at);
    }
    appender.finish().unwrap();
    (folder, told)
});

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn what_is_read_ahead_comes_in_small_parts(
        asked in prop::collection::vec((prop_oneof![3..70_003u64, 65_000..67_000u64], 1..4u32, 1..20_000u64), 1..40)
    ) {
        let (folder, told) = &*LONG;
        let reel = Reel::open(&path_in(folder)).unwrap();
        for (seq, frames, body_bytes) in asked {
            let (seq, behind) = (Seq(seq), Seq(seq + 1));
            let body = &told[usize::try_from(seq.0).unwrap() - 3].body;
            let mut rounds = 0;
            loop {
                let before = reel.counts();
                let mut left = ReadAllowance { frames, body_bytes };
                let is_done = reel.read_ahead(seq, behind, &mut left).unwrap();
                let after = reel.counts();
                prop_assert_eq!(after.frames - before.frames, u64::from(frames - left.frames));
                prop_assert!(left.body_bytes < body_bytes || after.bodies == before.bodies);
                if is_done {
                    break;
                }
                prop_assert!(left.frames == 0 || left.body_bytes == 0, "{:?}", left);
                prop_assert!(after != before, "no progress");
                rounds += 1;
                prop_assert!(rounds < 200);
            }
            let before = reel.counts();
            prop_assert_eq!(&reel.body_at(seq, behind).unwrap()[..], &body[..]);
            prop_assert_eq!(reel.counts(), before);
        }
    }
}
