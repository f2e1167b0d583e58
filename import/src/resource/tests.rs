//! The names of resources, whoever tells them.

use super::known::{MAX_NAME, MAX_RESOURCES};
use super::{Asked, Definition, Resources};
use crate::broken::Problem;
use kubereel_format::ResourceId;

fn kind<'a>(api_version: &'a str, kind: &'a str) -> Asked<'a> {
    Asked {
        api_version,
        kind,
        namespaced: true,
        ..Asked::default()
    }
}

fn definition(group: &str, kind: &str, plural: &str) -> Definition {
    Definition {
        group: group.to_owned(),
        kind: kind.to_owned(),
        plural: plural.to_owned(),
        singular: kind.to_lowercase(),
        short_names: vec!["x".to_owned()],
        categories: Vec::new(),
        namespaced: false,
    }
}

#[test]
fn what_is_not_named_comes_from_the_object() {
    let mut resources = Resources::default();
    let pods = resources
        .find(&kind("v1", "Pod"))
        .expect("a resource")
        .clone();
    assert_eq!((pods.group.as_str(), pods.plural.as_str()), ("", "pods"));
    assert_eq!(pods.short_names, ["po"]);
    let named = Asked {
        group: Some(""),
        version: Some("v1"),
        plural: Some("pods"),
        ..Asked::default()
    };
    assert_eq!(resources.find(&named).expect("the same").id, pods.id);
    assert_eq!(resources.guessed().count(), 0);
    let roles = resources.find(&kind("g.io/v2", "Widget")).expect("another");
    assert_eq!(roles.qualified(), "widgets.g.io");
    assert_eq!(roles.version, "v2");
    assert!(roles.namespaced);
    let id = roles.id;
    assert_eq!(resources.guessed().count(), 0, "the reel has nothing of it");
    assert!(resources.take_news(id).is_some());
    assert_eq!(resources.guessed().count(), 1);
}

#[test]
fn a_definition_corrects_a_guess_and_stays_for_later() {
    let mut resources = Resources::default();
    let oxen = resources
        .find(&kind("g.io/v1", "Ox"))
        .expect("a guess")
        .clone();
    assert_eq!(oxen.plural, "oxs");
    assert_eq!(resources.take_news(oxen.id), Some(oxen.clone()));
    assert_eq!(resources.take_news(oxen.id), None);
    assert_eq!(resources.learn(definition("g.io", "Ox", "oxen")), [oxen.id]);
    let news = resources.take_news(oxen.id).expect("a new name");
    assert_eq!((news.plural.as_str(), news.namespaced), ("oxen", false));
    assert_eq!(resources.guessed().count(), 0);
    assert!(resources.learn(definition("g.io", "Ox", "oxen")).is_empty());
    let other = resources
        .find(&kind("g.io/v2", "Ox"))
        .expect("another version");
    assert_eq!((other.plural.as_str(), other.id), ("oxen", ResourceId(1)));
    assert_eq!(
        resources.find(&kind("g.io/v1", "Ox")).map(|info| info.id),
        Ok(oxen.id)
    );
}

#[test]
fn a_line_corrects_a_guess() {
    let mut resources = Resources::default();
    let guess = resources.find(&kind("g.io/v1", "Ox")).expect("a guess").id;
    let named = Asked {
        plural: Some("oxen"),
        ..kind("g.io/v1", "Ox")
    };
    let info = resources.find(&named).expect("named").clone();
    assert_eq!((info.id, info.plural.as_str()), (guess, "oxen"));
    assert_eq!(resources.guessed().count(), 0);
    assert_eq!(
        resources.find(&kind("g.io/v1", "Ox")).map(|info| info.id),
        Ok(guess)
    );
}

#[test]
fn a_kind_that_comes_late_is_taken() {
    let mut resources = Resources::default();
    let bare = Asked {
        group: Some("g.io"),
        version: Some("v1"),
        plural: Some("oxen"),
        ..Asked::default()
    };
    let id = resources.find(&bare).expect("named").id;
    assert!(resources.take_news(id).is_some());
    let whole = Asked {
        plural: Some("oxen"),
        ..kind("g.io/v1", "Ox")
    };
    assert_eq!(resources.find(&whole).map(|info| info.id), Ok(id));
    assert_eq!(
        resources.take_news(id).map(|info| info.kind).as_deref(),
        Some("Ox")
    );
}

#[test]
fn resources_without_end_are_refused_and_the_known_ones_stay() {
    let mut resources = Resources::default();
    for number in 0..MAX_RESOURCES {
        let name = format!("Kind{number}");
        assert!(resources.find(&kind("v1", &name)).is_ok());
    }
    let found = resources.find(&kind("v1", "More")).map(|info| info.id);
    assert_eq!(found, Err(Problem::TooManyResources));
    let found = resources.find(&kind("v1", "Kind0")).map(|info| info.id);
    assert_eq!(found, Ok(ResourceId(0)));
}

#[test]
fn without_names_there_is_no_resource() {
    let long = "x".repeat(MAX_NAME + 1);
    for (asked, problem) in [
        (kind("", "Pod"), Problem::NoResource),
        (kind("v1", ""), Problem::NoResource),
        (kind("v1", &long), Problem::LongName("resource's name")),
    ] {
        let found = Resources::default().find(&asked).map(|info| info.id);
        assert_eq!(found, Err(problem));
    }
}
