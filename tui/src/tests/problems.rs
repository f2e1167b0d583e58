//! The list of problems, and what the monitortests add to it.

use super::stage::{Stage, demo, gapped, is_demo, request};
use crate::effect::Effect;
use crate::findings::{FindingVerdict, Findings, JudgingState, ReportedFinding};
use crate::lane::Board;
use crate::model::{ActiveScreen, LanePass, List};
use crate::msg::{KeyAction, Msg};
use crate::problem::{ProblemKind, Problems, problems};
use crate::update::update;
use insta::assert_snapshot;
use kubereel_format::{RecordedAt, Seq};
use kubereel_history::{Timeline, harmless};
use kubereel_monitortests::{
    CaseOutcome as Outcome, CaseVerdict, ExceptionSet, RunOptions as Asked, RunReport, RunTrust,
    Selection, run_reel,
};
use kubereel_problems::monitor_tests;
use std::path::Path;
use std::sync::{Arc, OnceLock};

const WIDE: (u16, u16) = (120, 40);
const NARROW: (u16, u16) = (80, 24);
const SMALL: (u16, u16) = (40, 12);

fn after(keys: &str, size: (u16, u16)) -> String {
    let mut stage = Stage::open(request(&demo()), size);
    stage.keys(keys);
    stage.screen()
}

/// A stage on which the monitortests are so far; nothing that is asked for later is done.
fn so_far(judging: JudgingState, size: (u16, u16), keys: &str) -> String {
    let mut stage = Stage::open(request(&demo()), size);
    // They would have ended: the world is put back.
    if let crate::model::ReelState::Open(open) = &mut stage.model.reel {
        open.trouble.judging = JudgingState::Under(0);
    }
    let effects = update(&mut stage.model, Msg::Judging(judging));
    for effect in effects {
        if let Effect::List(timeline, board, found) = effect {
            let all = problems(&timeline, board.as_deref(), found.as_deref());
            stage.say(Msg::Listed(Arc::new(all)));
        }
    }
    stage.keys(keys);
    stage.screen()
}

#[test]
fn keys_of_views_go_to_the_chosen_problem() {
    for (keys, shown) in [
        ("p<Down><Down>H", "clusteroperator image-registry · history"),
        ("p<Down><Down>E", "clusteroperator image-registry · events"),
        ("p<Down><Down>y", "clusteroperator image-registry · yaml"),
        // The head of the panel has no room for more than the object and its state.
        ("p<Down><Down>e", "│clusteroperator image-registry:"),
        ("p<Down><Down>A", "TRANSITIONS "),
        ("p:", "GO TO A TIME"),
    ] {
        let screen = after(keys, WIDE);
        assert!(screen.contains(shown), "{keys}: {screen}");
    }
    for (keys, word) in [
        ("p<Down>!", "first problem "),
        (
            "p<Down><Down>Y",
            "clusteroperators.config.openshift.io/image-registry",
        ),
    ] {
        let mut stage = Stage::open(request(&demo()), WIDE);
        stage.keys(keys);
        let said = stage.model.word.clone().unwrap_or_default();
        assert!(said.contains(word), "{keys}: {said}");
        assert_eq!(stage.model.screen, ActiveScreen::Main, "{keys}");
    }
    // The screen stays the list where nothing else is opened.
    assert!(after("pU", WIDE).contains("PROBLEMS"));
    assert!(after("pc", WIDE).contains("PROBLEMS"));
}

#[test]
fn the_list_is_ranked_and_tells_all_of_the_chosen_one() {
    assert_snapshot!("list_wide", after("p", WIDE));
    assert_snapshot!("list_small", after("p<Down>", SMALL));
    assert_snapshot!("list_by_time_narrow", after("po", NARROW));
    assert_snapshot!(
        "last_narrow",
        after(&format!("p{}", "<Down>".repeat(90)), NARROW)
    );
}

#[test]
fn a_list_that_is_not_whole_says_so() {
    for (name, judging) in [
        ("under", JudgingState::Under(43)),
        ("stopped", JudgingState::Stopped),
        (
            "failed",
            JudgingState::Failed("the child died (signal: 9 (SIGKILL))".to_owned()),
        ),
    ] {
        for (size_name, size) in [("narrow", NARROW), ("small", SMALL)] {
            let screen = so_far(judging.clone(), size, "p");
            assert!(screen.contains("incomplete"), "{screen}");
            assert_snapshot!(format!("{name}_{size_name}"), screen);
        }
    }
}

#[test]
fn a_list_of_problems_alone_says_how_many_are_not_listed() {
    let mut stage = Stage::open(request(&demo()), WIDE);
    stage.keys("p");
    let trouble = &stage.model.open().expect("open").trouble;
    let all = trouble.problems.as_ref().expect("listed");
    let mut all = Problems::clone(all);
    all.rest = 7;
    all.listed = all.entries.len() + all.rest;
    stage.say(Msg::Listed(Arc::new(all)));
    let screen = stage.screen();
    assert!(screen.contains(", 7 not listed"), "{screen}");
}

#[test]
fn nothing_is_called_right_before_all_was_looked_at() {
    let mut stage = Stage::open(request(&demo()), NARROW);
    let nothing = |judging: JudgingState, pass: Option<LanePass>, stage: &mut Stage| {
        let crate::model::ReelState::Open(open) = &mut stage.model.reel else {
            panic!("it opens");
        };
        open.trouble.judging = judging;
        open.trouble.problems = Some(Arc::default());
        if let LanePass::Done(board) = &open.pass {
            // Nothing was found in what was read.
            let mut board = Board::clone(board);
            if let Some(story) = &mut board.story {
                Arc::make_mut(story).list.problems.clear();
            }
            open.pass = LanePass::Done(Arc::new(board));
        }
        if let Some(pass) = pass {
            open.pass = pass;
        }
        stage.screen()
    };
    let judged = JudgingState::Done(Arc::new(Findings::default()));
    stage.keys("p");
    let sound = nothing(judged.clone(), None, &mut stage);
    assert!(sound.contains("no problem found · checked "), "{sound}");
    assert!(sound.contains("no rule failed"), "{sound}");
    assert!(!sound.contains("incomplete"), "{sound}");
    assert_snapshot!("nothing_narrow", sound);
    for judging in [JudgingState::Under(7), JudgingState::Stopped] {
        let screen = nothing(judging, None, &mut stage);
        assert!(!screen.contains("no rule failed"), "{screen}");
        assert!(screen.contains("incomplete"), "{screen}");
    }
    for pass in [LanePass::Stopped, LanePass::Failed("odd".to_owned())] {
        let screen = nothing(judged.clone(), Some(pass), &mut stage);
        assert!(!screen.contains("no problem found"), "{screen}");
        assert!(screen.contains("incomplete"), "{screen}");
    }
}

#[test]
fn what_was_stopped_or_failed_begins_again() {
    let mut stage = Stage::open(request(&demo()), NARROW);
    let effects = |stage: &mut Stage, judging: JudgingState, pass: LanePass| {
        let crate::model::ReelState::Open(open) = &mut stage.model.reel else {
            panic!("it opens");
        };
        open.trouble.judging = judging;
        open.pass = pass;
        update(&mut stage.model, Msg::Act(KeyAction::Again))
    };
    stage.keys("p");
    let failed = || JudgingState::Failed("it died".to_owned());
    let both = effects(&mut stage, failed(), LanePass::Stopped);
    let is_begun = |effects: &[Effect]| {
        let gathers = effects.iter().any(|one| matches!(one, Effect::Gather(_)));
        let judges = effects.iter().any(|one| matches!(one, Effect::Judge(_)));
        (gathers, judges)
    };
    assert_eq!(is_begun(&both), (true, true));
    let pass = LanePass::Failed("odd".to_owned());
    let one = effects(&mut stage, JudgingState::Under(3), pass);
    assert_eq!(is_begun(&one), (true, false));
    // A pass that panicked says so on the screen, and enter reads again.
    stage.keys("<Esc>");
    stage.say(Msg::NotGathered("internal error: odd".to_owned()));
    assert!(stage.screen().contains("internal error: odd"));
    stage.keys("<Enter>");
    assert!(stage.model.open().expect("open").board().is_some());
}

#[test]
fn one_key_goes_to_what_went_wrong_first() {
    let mut stage = Stage::open(request(&demo()), NARROW);
    stage.keys("!");
    let open = stage.model.open().expect("open");
    let problems = open.trouble.problems.as_ref().expect("listed");
    let first = problems.first.expect("the demo has faults");
    let entry = &problems.entries[first.entry];
    assert!(!entry.is_young, "{entry:#?}");
    assert_eq!(open.place, entry.spots[0].place);
    assert_eq!(open.selected, entry.subject);
    // Nothing of that weight came earlier, but for what was being installed.
    for other in &problems.entries {
        let is_counted = !other.is_young
            && !other.is_minor()
            && !matches!(
                other.kind,
                ProblemKind::Gap | ProblemKind::Damage | ProblemKind::Written
            );
        assert!(
            !is_counted || other.spots[0].from >= entry.spots[0].from,
            "{other:#?}"
        );
    }
    assert_snapshot!("first_narrow", stage.screen());
}

#[test]
fn steps_pass_every_time_forward_and_back() {
    let mut stage = Stage::open(request(&demo()), NARROW);
    let all = stage.model.open().expect("open").trouble.problems.clone();
    let all = all.expect("listed");
    let mut keys: Vec<(RecordedAt, Seq)> = all.steps.iter().map(|step| step.key).collect();
    keys.dedup();
    let here = |stage: &Stage| {
        let place = stage.model.open().expect("open").place;
        (place.at, place.below)
    };
    let begin = here(&stage);
    let mut passed = Vec::new();
    for _ in 0..keys.len() {
        stage.keys("n");
        passed.push(here(&stage));
    }
    let later: Vec<_> = keys.iter().copied().filter(|key| *key > begin).collect();
    passed.dedup();
    assert_eq!(passed, later);
    stage.keys("GN");
    assert!(here(&stage) >= *keys.last().expect("some"));
}

fn finding(rule: &str, resource: &str, name: &str, at: RecordedAt, seq: u64) -> ReportedFinding {
    ReportedFinding {
        rule: rule.into(),
        test: format!("{rule} should hold").into(),
        verdict: FindingVerdict::Fail,
        from: at,
        to: Some(at),
        reason: String::new(),
        message: ["it is so".to_owned()].into(),
        resource: resource.to_owned(),
        namespace: String::new(),
        name: name.to_owned(),
        seq: Some(Seq(seq)),
    }
}

#[test]
fn a_rule_and_a_lane_that_say_the_same_are_one() {
    let stage = Stage::open(request(&demo()), NARROW);
    let open = stage.model.open().expect("open");
    let all = open.trouble.problems.clone().expect("listed");
    let about = |name: &str| {
        let own = all.entries.iter().filter(move |entry| {
            entry.kind == ProblemKind::Operator
                && !entry.is_young
                && entry.subject.as_ref().is_some_and(|one| one.name == name)
        });
        own.collect::<Vec<_>>()
    };
    for (name, rule) in [
        ("console", "operator-available"),
        ("image-registry", "operator-degraded"),
    ] {
        let [entry] = about(name)[..] else {
            panic!("{:#?}", about(name));
        };
        assert!(entry.is_seen && &*entry.said[0].rule == rule, "{entry:#?}");
        assert!(entry.listed.is_some() && !entry.said[0].lines.is_empty());
    }
}

#[test]
fn findings_about_what_the_reel_does_not_have_are_told_all_the_same() {
    let timeline = Timeline::open(&demo()).expect("the demo");
    let at = timeline.end();
    let far = RecordedAt::from_micros(i64::MAX);
    let hostile = "\u{1b}[2J\u{202e}x";
    let findings = Findings {
        all: vec![
            finding("odd-rule", "pods", "no-such-pod", at, u64::MAX),
            finding("odd-rule", hostile, hostile, far, 3),
            finding("odd-rule", "", "", RecordedAt::from_micros(i64::MIN), 0),
        ],
        ..Findings::default()
    };
    let all = problems(&timeline, None, Some(&findings));
    let odd: Vec<_> = all
        .entries
        .iter()
        .filter(|entry| entry.kind == ProblemKind::Rule)
        .collect();
    assert_eq!(odd.len(), 3, "{odd:#?}");
    for entry in odd {
        assert_eq!(entry.subject, None);
        assert!(!entry.about.contains('\u{1b}'), "{entry:#?}");
        let at = entry.spots[0].place.at;
        assert!(at >= timeline.start() && at <= timeline.end());
    }
}

#[test]
fn an_object_without_a_lane_is_shown_in_its_table() {
    let mut stage = Stage::open(request(&demo()), NARROW);
    let open = stage.model.open().expect("open");
    let resources = open.timeline.resources();
    let info = resources.find("leases").expect("the demo has some");
    let (id, name) = (info.id, info.qualified());
    let object = *open.timeline.objects_of(id).first().expect("one");
    let key = open.timeline.key_of(object).expect("known").to_key();
    let mut found = finding("odd-rule", &name, &key.name, open.timeline.end(), 0);
    found.namespace.clone_from(&key.namespace);
    found.seq = open.timeline.reel().versions(object).last().copied();
    let findings = Findings {
        all: vec![found],
        ..Findings::default()
    };
    let all = problems(&open.timeline, None, Some(&findings));
    let row = all
        .entries
        .iter()
        .position(|entry| entry.kind == ProblemKind::Rule)
        .expect("listed");
    stage.say(Msg::Listed(Arc::new(all)));
    stage.keys(&format!("p{}<Enter>", "<Down>".repeat(row)));
    let open = stage.model.open().expect("open");
    assert_eq!(open.list, List::Objects(id));
    let selected = open.selected.as_ref().expect("one");
    assert_eq!(selected.name, key.name);
    assert!(open.table.is_some(), "its table is read");
}

#[test]
fn gaps_are_problems_and_resources_share_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let stage = Stage::open(request(&gapped(folder.path())), NARROW);
    let all = stage.model.open().expect("open").trouble.problems.clone();
    let all = all.expect("listed");
    let gaps = all
        .entries
        .iter()
        .filter(|entry| entry.kind == ProblemKind::Gap);
    assert_eq!(gaps.count(), 1);
}

/// Judges a reel; the demo, and a copy of it, once for all tests.
pub(super) fn judged(path: &Path) -> JudgingState {
    static DEMO: OnceLock<JudgingState> = OnceLock::new();
    if is_demo(path) {
        DEMO.get_or_init(|| judging(path)).clone()
    } else {
        judging(path)
    }
}

fn judging(path: &Path) -> JudgingState {
    match Timeline::open(path) {
        Ok(timeline) => JudgingState::Done(Arc::new(findings(&timeline))),
        Err(error) => JudgingState::Failed(error.to_string()),
    }
}

fn findings(timeline: &Timeline) -> Findings {
    let exceptions = ExceptionSet::builtin().expect("they come along");
    let asked = Asked {
        selection: &Selection::default(),
        exceptions: &exceptions,
        now: None,
    };
    let report = run_reel(timeline, monitor_tests(), &asked, |_| {});
    let count = |wanted: &[CaseVerdict]| wanted.iter().map(|one| report.count(*one)).sum();
    Findings {
        all: report.outcomes.iter().flat_map(of_case).collect(),
        rest: 0,
        judged: count(&CaseVerdict::ALL),
        failed: count(&[CaseVerdict::Fail]),
        flaked: count(&[
            CaseVerdict::Flake,
            CaseVerdict::FlakeJira,
            CaseVerdict::FlakePermanent,
        ]),
        unknown: count(&[CaseVerdict::Unknown, CaseVerdict::Error]),
        skipped: count(&[CaseVerdict::Skipped]),
        is_damaged: is_damaged(&report),
    }
}

fn is_damaged(report: &RunReport) -> bool {
    report.trust == RunTrust::Damaged
}

fn of_case(outcome: &Outcome) -> impl Iterator<Item = ReportedFinding> + '_ {
    outcome.findings.iter().map(|judged| {
        let found = &judged.finding;
        ReportedFinding {
            rule: outcome.about.id.as_str().into(),
            test: outcome.name.as_str().into(),
            verdict: if judged.is_failure() {
                FindingVerdict::Fail
            } else {
                FindingVerdict::Flake
            },
            from: found.from,
            to: found.to,
            reason: found.reason.clone(),
            // As the report of the child process is read.
            message: found
                .message
                .lines()
                .map(|line| harmless(line).into_owned())
                .collect(),
            resource: found.subject.resource.clone(),
            namespace: found.subject.namespace.clone(),
            name: found.subject.name.clone(),
            seq: found.seq,
        }
    })
}
