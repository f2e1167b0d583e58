//! Secrets of every documented class, planted with random values in every kind of place and encoding: a real
//! observer records them, and everything that it leaves is searched, also decoded, inflated and exported.
//!
//! `just planted-secrets` prints the table.

mod classes;
mod places;
mod search;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use kubereel_format::{Note, Reel, Seq};
use kubereel_tests::recording::{Observed, program, settle};
use kubereel_tests::scripted::Kubeconfig;

use crate::observing::{Job, SURE};
use classes::Random;
use search::Needles;

/// Enough that each class is tried in each place.
const OBJECTS_LEAST: usize = 600;

/// One planted secret.
struct Planted {
    class: &'static str,
    /// Whether redaction.md says that it is hidden.
    is_documented: bool,
    place: &'static str,
    resource: &'static str,
    metadata: String,
    members: String,
    /// The random parts, none of which may be found anywhere.
    secrets: Vec<String>,
}

fn planted() -> Vec<Planted> {
    let mut random = Random::new(15);
    let mut all = classes::by_name(&mut random);
    for form in classes::FORMS {
        for place in places::PLACES {
            let (text, secret) = form.text(&mut random);
            all.push(place.plant(form.class, true, &text, secret));
        }
    }
    for form in classes::NOT_HIDDEN {
        for place in places::PLACES.iter().take(3) {
            let (text, secret) = form.text(&mut random);
            all.push(place.plant(form.class, false, &text, secret));
        }
    }
    all.extend(classes::by_name_inside(&mut random));
    all
}

/// Everything that the observer left, in every form in which a reader meets it.
fn outputs(observed: &Observed) -> Result<Vec<(String, Vec<u8>)>> {
    let mut all = vec![("the log".to_owned(), observed.log.clone().into_bytes())];
    for path in observed.files()? {
        all.push((path.display().to_string(), std::fs::read(&path)?));
    }
    let path = observed.file("artifacts", ".reel")?;
    let reel = Reel::open(&path)?;
    for event in reel.scan(Seq(0)) {
        let event = event?;
        all.push((format!("event {}", event.head.seq.0), event.body.to_vec()));
    }
    for entry in reel.notes() {
        let name = format!("note {}", entry.seq.0);
        all.push((name.clone(), format!("{:?}", entry.note).into_bytes()));
        let (Note::OddLine { blobs, .. } | Note::Document { blobs, .. }) = &entry.note else {
            continue;
        };
        for blob in blobs {
            all.push((name.clone(), reel.blob(*blob)?.to_vec()));
        }
    }
    for object in reel.objects() {
        all.push(("names".to_owned(), format!("{:?}", object.key).into_bytes()));
    }
    for arguments in [&["export"][..], &["info"], &["info", "-o", "json"]] {
        let (command, more) = arguments.split_first().context("a command")?;
        let output = Command::new(program()?)
            .arg(command)
            .arg(&path)
            .args(more)
            .output()?;
        ensure!(output.status.success(), "{arguments:?}: {output:?}");
        all.push((arguments.join(" "), output.stdout));
        all.push((arguments.join(" "), output.stderr));
    }
    Ok(all)
}

#[derive(Default)]
struct Row {
    planted: usize,
    leaked: usize,
    is_documented: bool,
}

#[test]
fn no_planted_secret_of_a_documented_class_is_in_anything_that_an_observer_leaves() -> Result<()> {
    let all = planted();
    ensure!(all.len() >= OBJECTS_LEAST, "only {} objects", all.len());
    let job = Job::new()?;
    for (number, one) in all.iter().enumerate() {
        let name = format!("planted-{number:04}");
        let (resource, metadata) = (one.resource, &one.metadata);
        job.cluster
            .put_with_metadata(resource, "default", &name, metadata, &one.members)
            .with_context(|| format!("{} in {}: {}", one.class, one.place, one.members))?;
    }
    job.deliver(&job.full(), &Kubeconfig::Good)?;
    let observing = job.observe(&[])?;
    for storage in ["pods", "events", "configmaps", "secrets"] {
        settle(&job.cluster, storage, SURE).with_context(|| observing.log())?;
    }
    let observed = observing.end(SURE)?;
    ensure!(observed.status.success(), "{}", observed.log);

    let mut needles = Needles::default();
    for (number, one) in all.iter().enumerate() {
        for secret in &one.secrets {
            needles.add(number, secret);
        }
    }
    let mut found = BTreeMap::<usize, String>::new();
    let mut events = 0;
    for (name, bytes) in outputs(&observed)? {
        events += usize::from(name.starts_with("event "));
        for number in needles.find(&bytes) {
            found.entry(number).or_insert_with(|| name.clone());
        }
    }
    ensure!(events >= all.len(), "only {events} events were recorded");

    let mut rows = BTreeMap::<&str, Row>::new();
    let mut leaks = String::new();
    for (number, one) in all.iter().enumerate() {
        let row = rows.entry(one.class).or_default();
        row.planted += 1;
        row.is_documented = one.is_documented;
        if let Some(output) = found.get(&number) {
            row.leaked += 1;
            if one.is_documented {
                let Planted {
                    class,
                    place,
                    members,
                    ..
                } = one;
                writeln!(leaks, "{class} in {place}: {output}: planted as {members}")?;
            }
        }
    }
    println!(
        "{:40} {:>8} {:>8} {:>11}",
        "class", "planted", "hidden", "not hidden"
    );
    for (class, row) in &rows {
        let hidden = row.planted - row.leaked;
        let note = if row.is_documented {
            ""
        } else {
            "  documented as not hidden"
        };
        println!(
            "{class:40} {:>8} {hidden:>8} {:>11}{note}",
            row.planted, row.leaked
        );
    }
    println!("{} objects, {} outputs searched", all.len(), events);
    ensure!(leaks.is_empty(), "{leaks}");
    // What is said not to be hidden is really found: the search can fail.
    let open = rows.values().filter(|row| !row.is_documented);
    ensure!(
        open.map(|row| row.leaked).sum::<usize>() > 0,
        "the search finds nothing at all"
    );
    Ok(())
}
