//! Odd lives come back, and damage is an error, never other bytes.

use super::life::{Told, append, begin, check, life, path_in};
use kubereel_format::{Appender, EventType, ReadAllowance, Reel, Seq};
use proptest::prelude::*;
use std::path::Path;

/// Damage anywhere gives an error, or the right bytes: never others, never a panic.
fn survives(path: &Path, told: &[Told]) {
    let Ok(reel) = Reel::open(path) else {
        return;
    };
    for event in reel.scan(Seq(0)).flatten() {
        let place = usize::try_from(event.head.seq.0).unwrap() - 3;
        assert_eq!(
            &event.body[..],
            &told[place].body[..],
            "wrong bytes by scanning"
        );
    }
    for place in (0..told.len()).rev().step_by(7) {
        let seq = Seq(u64::try_from(place).unwrap() + 3);
        let mut little = ReadAllowance {
            frames: 1,
            body_bytes: 500,
        };
        let behind = Seq(seq.0 + 1);
        let ahead = reel.read_ahead(seq, behind, &mut little);
        let asked = reel.body_at(seq, behind);
        if let Err(error) = ahead {
            let told = asked.as_ref().unwrap_err();
            assert_eq!(told.to_string(), error.to_string());
        }
        for body in [asked, reel.body(seq)].into_iter().flatten() {
            assert_eq!(&body[..], &told[place].body[..], "wrong bytes by asking");
        }
    }
}

#[test]
fn damage_is_an_error_and_never_other_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = path_in(&folder);
    let told = life(2_600, 50);
    let mut appender = begin(&path);
    for (at, event) in (0i64..).zip(&told) {
        append(&mut appender, event, at);
        if at % 200 == 0 {
            appender.commit().unwrap();
        }
    }
    appender.commit().unwrap();
    let whole = std::fs::read(&path).unwrap();
    let hurt = folder.path().join("hurt.reel");
    for at in (0..whole.len()).step_by(967) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        std::fs::write(&hurt, &bytes).unwrap();
        survives(&hurt, &told);
        bytes[at..whole.len().min(at + 300)].fill(b'X');
        std::fs::write(&hurt, &bytes).unwrap();
        survives(&hurt, &told);
        if at % 5 == 0 {
            std::fs::write(&hurt, &whole[..at]).unwrap();
            survives(&hurt, &told);
        }
    }
}

fn odd_life() -> impl Strategy<Value = Vec<(Told, bool)>> {
    let kind = prop_oneof![
        Just(EventType::Added),
        Just(EventType::Modified),
        Just(EventType::Modified),
        Just(EventType::Deleted)
    ];
    let body = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        "[a-c,{}]{0,60}".prop_map(String::into_bytes),
        Just(vec![b'z'; 400]),
    ];
    let told = (0u32..3, 0usize..4, kind, "[0-9]{0,22}", body).prop_map(
        |(resource, object, kind, rv, body)| Told {
            resource,
            name: ["a", "etcd-operator", "", "ä-1"][object].to_owned(),
            uid: ["", "u", "11111111-2222-3333-4444-555555555555", "x y"][object].to_owned(),
            kind,
            rv,
            body,
        },
    );
    prop::collection::vec((told, prop::bool::weighted(0.1)), 1..200)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_life_comes_back(life in odd_life()) {
        let folder = tempfile::tempdir().unwrap();
        let path = path_in(&folder);
        let mut appender = begin(&path);
        for (at, (event, stop)) in (0i64..).zip(&life) {
            append(&mut appender, event, at);
            if *stop {
                appender.commit().unwrap();
                drop(appender);
                appender = Appender::resume(&path).unwrap();
            }
        }
        appender.commit().unwrap();
        drop(appender);
        let told: Vec<_> = life.into_iter().map(|(told, _)| told).collect();
        check(&path, &told);
    }
}
