//! The search for causes: which changes are candidates, and their scores.

use super::call_targets::CALLED;
use super::dependencies::{
    AUTOSCALERS, BEHIND, CONFIGURATION, Dependencies, MANAGING, OWN, PROVISIONER, QUOTA, ROOM,
    Relation, SELECTED_NAMESPACE, WRITER, names_one_another,
};
use super::effect::{ChangedField, effect, effect_on_callers, effect_on_volumes, room_taken};
use super::failure_words::is_unreachable;
use super::shared_objects::SharedObjects;
use crate::collect::Collected;
use crate::problem::{Cause, Problem, ProblemObject};
use crate::sign::SignKind;
use crate::span::is_creation;
use kubereel_cluster::{
    ClusterHistory, ClusterUpdate, HowRequestEnded, OperatorMove, RecordMark, UpdateRequest,
    is_being_configured, is_cordoned,
};
use kubereel_format::{EventType, Evidence, ObjectId, RecordedAt, ResourceInfo, Seq};
use kubereel_history::field::{items, number, text};
use kubereel_history::{Change, ChangeKind, CursorStep, RolloutState, SteppedOver, Timeline};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// How long before the first sign a change is looked for, in microseconds: 60 min.
const WINDOW: i64 = 3_600_000_000;
/// What was received shortly after the sign may have been written before it, in microseconds.
const TIE: i64 = 200_000;
/// A controller follows a change of what it manages within this time, in microseconds.
const FOLLOWS: i64 = 60_000_000;
/// A rollout whose Pods were all available this long before the first sign went well, in microseconds.
const RAN_WELL: i64 = 60_000_000;
/// An operator writes what its new version wants within this time, in microseconds.
const WROTE: i64 = 600_000_000;
/// What a new quota counts within this time was there before it, in seconds.
const AT_ONCE: i64 = 15;
/// More versions of one object in the window are not read, the oldest left out.
const MOST_VERSIONS: usize = 40;
/// What more versions changed is not kept from one problem to the next.
const MOST_CHANGES_KEPT: usize = 4_000;
/// More candidates are not shown.
const MOST_CAUSES: usize = 5;
/// A candidate that scores less is a guess.
const THRESHOLD: f64 = 30.0;
/// One that scores this much less than the best is noise beside it.
const SHARE_OF_BEST: f64 = 0.4;

/// Parts of the kinds whose new objects restrict others.
const RESTRICTIONS: [&str; 10] = [
    "Quota",
    "LimitRange",
    "Policy",
    "Budget",
    "Webhook",
    "PolicyBinding",
    // As long as nobody serves it.
    "APIService",
    // New configurations of Nodes are new objects.
    "MachineConfig",
    "KubeletConfig",
    "ContainerRuntimeConfig",
];

/// Resources that only show what others did.
fn is_reaction(info: &ResourceInfo) -> bool {
    let plural = info.plural.as_str();
    match info.group.as_str() {
        "" => [
            "events",
            "endpoints",
            "pods",
            "componentstatuses",
            "bindings",
        ]
        .contains(&plural),
        "apps" => ["replicasets", "controllerrevisions"].contains(&plural),
        "config.openshift.io" => plural == "clusteroperators",
        group => [
            "events.k8s.io",
            "coordination.k8s.io",
            "discovery.k8s.io",
            "metrics.k8s.io",
            "certificates.k8s.io",
        ]
        .contains(&group),
    }
}

/// A reel, and what the pass over it found.
#[derive(Clone, Copy)]
pub(crate) struct ExplainedReel<'a> {
    pub(crate) timeline: &'a Timeline,
    pub(crate) found: &'a Collected,
    /// The objects of the uids that controllers and endpoints name.
    pub(crate) by_uid: &'a BTreeMap<&'a str, ObjectId>,
    pub(crate) objects: &'a SharedObjects<'a>,
}

/// Finds the causes of the first problems of a list.
pub(crate) fn explain(reel: ExplainedReel<'_>, problems: &mut [Problem], most: usize) {
    let timeline = reel.timeline;
    let candidates: Vec<CauseCandidate<'_>> = timeline
        .resources()
        .iter()
        .filter(|info| !is_reaction(info))
        .flat_map(|info| {
            let objects = timeline.objects_of(info.id).iter();
            objects.map(move |object| CauseCandidate::of(timeline, info, *object))
        })
        .collect();
    let explained = |problem: &Problem| {
        let is_outage = problem.kind == SignKind::ApiOutage;
        !problem.is_planned && !is_outage
    };
    let wanted = problems.iter().take(most).filter(|one| explained(one));
    let shared = SharedChanges::of(timeline, wanted);
    for problem in problems.iter_mut().take(most) {
        if !explained(problem) {
            continue;
        }
        let own = own_reactions(reel, problem);
        let all = candidates.iter().chain(&own);
        let causes = Search::new(reel, &shared, problem).run(all.copied());
        problem.causes = causes;
    }
    inherit(problems);
}

/// Returns namespaces and names of the Services that the containers of a problem call, if it is about a call.
pub(crate) fn called_services(
    reel: ExplainedReel<'_>,
    problem: &Problem,
) -> BTreeSet<(String, String)> {
    Dependencies::of(reel, problem).into_called_services()
}

/// Returns what only shows what others did, and was changed itself: the object of a problem that is stuck in its
/// deletion (who deleted it, who put the finalizer there), and the Pods that were behind a Service without endpoints
/// (who changed their labels).
fn own_reactions<'t>(reel: ExplainedReel<'t>, problem: &Problem) -> Vec<CauseCandidate<'t>> {
    let timeline = reel.timeline;
    let own = &problem.object;
    let objects: Vec<ObjectId> = match problem.kind {
        SignKind::NoEndpoints if own.kind == "Service" => {
            let pods = reel.found.services.pods_of(&own.namespace, &own.name);
            pods.filter_map(|uid| reel.by_uid.get(uid).copied())
                .collect()
        }
        kind if kind.is_deletion() => {
            let lives = own
                .resource
                .map(|resource| timeline.lives(resource, &own.namespace, &own.name));
            let lives = lives.into_iter().flatten();
            lives.map(|life| life.object).collect()
        }
        _ => return Vec::new(),
    };
    let candidates = objects.into_iter().filter_map(|object| {
        let resource = timeline.key_of(object)?.resource;
        let info = timeline.resources().get(resource);
        let info = info.filter(|info| is_reaction(info))?;
        Some(CauseCandidate::of(timeline, info, object))
    });
    candidates.collect()
}

/// An object whose changes may be causes, with what tells quickly that none of them is one of a problem.
#[derive(Clone, Copy)]
struct CauseCandidate<'t> {
    info: &'t ResourceInfo,
    object: ObjectId,
    first: Seq,
    /// The times of its earliest and latest version.
    between: (RecordedAt, RecordedAt),
    is_deleted: bool,
}

impl<'t> CauseCandidate<'t> {
    fn of(timeline: &Timeline, info: &'t ResourceInfo, object: ObjectId) -> Self {
        let reel = timeline.reel();
        let seqs = reel.versions(object).iter().copied();
        // Clocks step: the earliest version need not be the first.
        let times = seqs.clone().map(|seq| timeline.wall_of(seq));
        let none = RecordedAt::from_micros(0);
        let first = times.clone().min().unwrap_or(none);
        let last = times.max().unwrap_or(none);
        let mut kinds = seqs.clone().map(|seq| reel.kind_of(seq));
        Self {
            info,
            object,
            first: seqs.min().unwrap_or(reel.end()),
            between: (first, last),
            is_deleted: kinds.any(|kind| kind == Some(EventType::Deleted)),
        }
    }

    /// Returns whether any of its versions can be near enough to the first sign of a problem.
    fn is_near(&self, problem: &Problem) -> bool {
        let onset = problem.from;
        let (earliest, latest) = self.between;
        let has_begun = self.first < onset.seq || earliest.micros_since(onset.at) <= TIE;
        has_begun && (self.is_deleted || onset.at.micros_since(latest) <= WINDOW)
    }
}

/// The moves of an operator through installations and upgrades.
type OperatorMoves = Vec<(ClusterUpdate, OperatorMove)>;

/// What a version changed that somebody can have meant.
#[derive(Debug)]
struct MeantChanges {
    /// `None` where there is no version before it that can be read.
    changes: Option<Vec<(String, Change)>>,
    /// Who wrote it.
    by: Vec<String>,
}

/// Changes without an effect, by version and field.
type UndoneChanges = BTreeSet<(Seq, String)>;

/// What is read once for all problems.
struct SharedChanges {
    /// How operators came to each release, by the operator.
    moves: BTreeMap<String, OperatorMoves>,
    /// `None` for versions that cannot be read.
    changes: RefCell<BTreeMap<Seq, Option<Rc<MeantChanges>>>>,
}

impl SharedChanges {
    fn of<'p>(timeline: &Timeline, problems: impl Iterator<Item = &'p Problem>) -> Self {
        let of_operators = problems.filter(|one| one.object.kind == "ClusterOperator");
        let operators = of_operators.map(|one| one.object.name.clone()).collect();
        let history = ClusterHistory::of(timeline);
        let moves = history.operator_moves(&operators, timeline.last_cut());
        Self {
            // A damaged reel does not tell.
            moves: moves.unwrap_or_default(),
            changes: RefCell::default(),
        }
    }

    /// Reads what a version changed against the one before it.
    fn changes(
        &self,
        timeline: &Timeline,
        step: &CursorStep,
        info: &ResourceInfo,
    ) -> Option<Rc<MeantChanges>> {
        if let Some(known) = self.changes.borrow().get(&step.seq) {
            return known.clone();
        }
        let read = SteppedOver::of(timeline, step, info).ok().map(|stepped| {
            let writers = stepped.authors.writers().iter();
            let by = writers.map(|writer| writer.manager.clone()).collect();
            let changes = stepped.changes.map(|changes| {
                let known = changes.into_iter();
                let known = known.filter(|one| one.kind != ChangeKind::Unknown);
                let named = known.map(|one| (one.path.to_string(), one));
                let meant = named.filter(|(path, one)| is_meant(path, one, &info.kind));
                meant.collect()
            });
            Rc::new(MeantChanges { changes, by })
        });
        let mut all = self.changes.borrow_mut();
        if all.len() >= MOST_CHANGES_KEPT {
            all.clear();
        }
        all.insert(step.seq, read.clone());
        read
    }
}

/// Returns a problem the causes of the problem that explains it, which comes before it.
fn inherit(problems: &mut [Problem]) {
    for at in 0..problems.len() {
        let by = problems.get(at).and_then(|problem| problem.consequence_of);
        let Some(root) = by.and_then(|by| problems.get(by)).cloned() else {
            continue;
        };
        let Some(problem) = problems.get_mut(at) else {
            continue;
        };
        // What explains the root explains this one better than what was changed beside it.
        for own in problem
            .causes
            .iter_mut()
            .filter(|_| !root.causes.is_empty())
        {
            own.score *= 0.7;
        }
        for mut cause in root.causes {
            cause.score *= 0.9;
            let mut own = problem.causes.iter_mut();
            if let Some(own) = own.find(|own| own.at.seq == cause.at.seq) {
                own.score = own.score.max(cause.score);
            } else {
                cause.chain.push(root.object.clone());
                problem.causes.push(cause);
            }
        }
        sort(&mut problem.causes);
    }
}

/// Ranks the change of what manages the object before the change that it made of it, and the owner's owner
/// before the owner: the first of them is what somebody did.
fn raise_managers(causes: &mut [Cause]) {
    let own = causes.iter().filter(|cause| cause.via == OWN);
    let Some((made, mut score)) = own.map(|cause| (cause.at, cause.score)).next() else {
        return;
    };
    let managing = causes
        .iter_mut()
        .filter(|cause| MANAGING.contains(&cause.via.as_str()));
    let mut before: Vec<&mut Cause> = managing
        .filter(|cause| (0..=FOLLOWS).contains(&made.at.micros_since(cause.at.at)))
        .collect();
    before.sort_by_key(|cause| std::cmp::Reverse(cause.at));
    for cause in before {
        score = cause.score.max(score * 1.05);
        cause.score = score;
    }
}

/// Ranks the change of an operator before what the operator then wrote into the object.
fn raise_writers(causes: &mut [Cause]) {
    let own = causes.iter().find(|cause| cause.via == OWN).cloned();
    let Some(own) = own else {
        return;
    };
    for cause in causes.iter_mut().filter(|cause| cause.via == WRITER) {
        let is_writer = own
            .by
            .iter()
            .any(|by| names_one_another(by, &cause.object.name));
        if is_writer && (0..=WROTE).contains(&own.at.at.micros_since(cause.at.at)) {
            cause.score = cause.score.max(own.score * 1.02);
        }
    }
}

/// Ranks the change of an autoscaler before the number of Pods that it set.
fn raise_autoscalers(causes: &mut [Cause]) {
    let scaled: Vec<Cause> = causes
        .iter()
        .filter(|cause| cause.field == "spec.replicas")
        .cloned()
        .collect();
    let is_autoscaler = |cause: &&mut Cause| AUTOSCALERS.contains(&cause.object.kind.as_str());
    for autoscaler in causes.iter_mut().filter(is_autoscaler) {
        let set = scaled
            .iter()
            .filter(|cause| (0..=FOLLOWS).contains(&cause.at.at.micros_since(autoscaler.at.at)));
        let best = set.map(|cause| cause.score).fold(0.0, f64::max);
        autoscaler.score = autoscaler.score.max(best * 1.05);
    }
}

/// Ranks the change of an owner before the change of what it owns: a controller made that of the owner's.
fn raise_owners(objects: &SharedObjects<'_>, causes: &mut [Cause]) {
    let owned: Vec<(Cause, Rc<Value>)> = causes
        .iter()
        .filter_map(|cause| Some((cause.clone(), objects.body(cause.at.seq)?)))
        .collect();
    for (made, body) in owned {
        for owner in items(&body, "/metadata/ownerReferences") {
            let named = (text(owner, "/kind"), text(owner, "/name"));
            let of_owner = causes.iter_mut().filter(|cause| {
                (cause.object.kind.as_str(), cause.object.name.as_str()) == named
                    && (0..=FOLLOWS).contains(&made.at.at.micros_since(cause.at.at))
            });
            for cause in of_owner {
                cause.score = cause.score.max(made.score * 1.05);
            }
        }
    }
}

fn sort(causes: &mut Vec<Cause>) {
    causes.sort_by(|one, other| {
        let by_score = other.score.total_cmp(&one.score);
        by_score.then(other.at.cmp(&one.at))
    });
    let best = causes.first().map_or(0.0, |cause| cause.score);
    causes.retain(|cause| cause.score >= THRESHOLD && cause.score >= best * SHARE_OF_BEST);
    causes.truncate(MOST_CAUSES);
}

struct Search<'a> {
    timeline: &'a Timeline,
    problem: &'a Problem,
    dependencies: Dependencies<'a>,
    shared: &'a SharedChanges,
    objects: &'a SharedObjects<'a>,
    /// How the operator of the problem came to each release.
    moves: &'a [(ClusterUpdate, OperatorMove)],
}

impl<'a> Search<'a> {
    fn new(reel: ExplainedReel<'a>, shared: &'a SharedChanges, problem: &'a Problem) -> Self {
        let is_operator = problem.object.kind == "ClusterOperator";
        let moves = shared.moves.get(&problem.object.name);
        Self {
            timeline: reel.timeline,
            problem,
            dependencies: Dependencies::of(reel, problem),
            shared,
            objects: reel.objects,
            moves: moves.filter(|_| is_operator).map_or(&[], Vec::as_slice),
        }
    }

    fn run<'i>(&self, candidates: impl Iterator<Item = CauseCandidate<'i>>) -> Vec<Cause> {
        let mut causes = Vec::new();
        for candidate in candidates.filter(|one| one.is_near(self.problem)) {
            let (info, object) = (candidate.info, candidate.object);
            let seqs = self.changed(object);
            let Some(&last) = seqs.last() else {
                continue;
            };
            let Some(key) = self.timeline.key_of(object) else {
                continue;
            };
            let body = |back: usize| self.living_body(object, last, back);
            let related = self
                .dependencies
                .relation(info, key.namespace, key.name, &body);
            let Some(relation) = related else {
                continue;
            };
            let named = ProblemObject {
                kind: info.kind.clone(),
                namespace: key.namespace.to_owned(),
                name: key.name.to_owned(),
                resource: Some(info.id),
            };
            let undone = self.undone(info, object, &seqs);
            for seq in seqs {
                causes.extend(self.cause(info, object, seq, (&named, &relation), &undone));
            }
        }
        // What another object was made with did not hurt before it was changed.
        let is_creation =
            |cause: &Cause| cause.field.is_empty() && cause.change == ChangeKind::Added;
        let changed: BTreeSet<ProblemObject> = causes
            .iter()
            .filter(|cause: &&Cause| !is_creation(cause))
            .map(|cause| cause.object.clone())
            .collect();
        causes.retain(|cause| {
            cause.via == OWN || !is_creation(cause) || !changed.contains(&cause.object)
        });
        // Of several changes of one object, the best one stands for it, and one Pod for those beside it.
        causes.sort_by(|one: &Cause, other| other.score.total_cmp(&one.score));
        let mut best: Vec<Cause> = Vec::new();
        for cause in causes {
            let is_alike = |own: &Cause| own.via == BEHIND && cause.via == BEHIND;
            if !best
                .iter()
                .any(|own| own.object == cause.object || is_alike(own))
            {
                best.push(cause);
            }
        }
        raise_managers(&mut best);
        raise_writers(&mut best);
        raise_autoscalers(&mut best);
        raise_owners(self.objects, &mut best);
        sort(&mut best);
        best
    }

    /// Returns the versions of an object that may have caused the problem.
    fn changed(&self, object: ObjectId) -> Vec<Seq> {
        let onset = self.problem.from.at;
        let reel = self.timeline.reel();
        let versions = reel.versions(object);
        let end = versions.partition_point(|seq| {
            *seq < self.problem.from.seq || self.timeline.wall_of(*seq).micros_since(onset) <= TIE
        });
        let before = versions.get(..end).unwrap_or(versions);
        let mut seqs: Vec<Seq> = before
            .iter()
            .rev()
            .copied()
            .take_while(|seq| {
                // A deletion has its effect when somebody needs the object again.
                let is_deletion = reel.kind_of(*seq) == Some(EventType::Deleted);
                is_deletion || onset.micros_since(self.timeline.wall_of(*seq)) <= WINDOW
            })
            .take(MOST_VERSIONS)
            .collect();
        seqs.reverse();
        seqs
    }

    /// Returns the body of an object's last version that has one, or of one `back` before it.
    fn living_body(&self, object: ObjectId, last: Seq, back: usize) -> Option<Rc<Value>> {
        let reel = self.timeline.reel();
        let versions = reel.versions(object).iter().rev();
        let mut living =
            versions.filter(|seq| **seq <= last && reel.kind_of(**seq) != Some(EventType::Deleted));
        let found = living.nth(back).copied();
        self.objects.body(found.or((back == 0).then_some(last))?)
    }

    /// Returns a version and the one before it.
    fn step(&self, object: ObjectId, seq: Seq) -> Option<CursorStep> {
        let reel = self.timeline.reel();
        let versions = reel.versions(object);
        let before = versions.partition_point(|other| *other < seq);
        let before = before.checked_sub(1).and_then(|at| versions.get(at));
        Some(CursorStep {
            seq,
            at: self.timeline.wall_of(seq),
            object,
            kind: reel.kind_of(seq)?,
            before: before.copied(),
        })
    }

    /// Returns the changes of fields that were undone long enough before the first sign to have no effect at it, and
    /// those that undid them.
    fn undone(&self, info: &ResourceInfo, object: ObjectId, seqs: &[Seq]) -> UndoneChanges {
        let mut undone = UndoneChanges::new();
        if seqs.len() < 2 {
            return undone;
        }
        let onset = self.problem.from.at;
        let is_old = |seq: &&Seq| onset.micros_since(self.timeline.wall_of(**seq)) >= FOLLOWS;
        let steps = seqs.iter().filter(is_old);
        let read = steps.filter_map(|seq| {
            let step = self.step(object, *seq)?;
            let meant = self.shared.changes(self.timeline, &step, info)?;
            Some((*seq, meant))
        });
        let read: Vec<(Seq, Rc<MeantChanges>)> = read.collect();
        let all = read.iter().flat_map(|(seq, meant)| {
            let changes = meant.changes.iter().flatten();
            changes.map(|(path, change)| (*seq, path, change))
        });
        // By field: what it was before, and the last change of it.
        let mut fields: BTreeMap<&String, (&Change, Seq, &Change)> = BTreeMap::new();
        for (seq, path, change) in all.clone() {
            let field = fields.entry(path).or_insert((change, seq, change));
            (field.1, field.2) = (seq, change);
        }
        for (seq, path, change) in all {
            let Some((first, last_seq, last)) = fields.get(path) else {
                continue;
            };
            // A workload that is changed back makes new Pods.
            let is_restart = path.starts_with("spec.template") || path.contains("replicas");
            let is_undone = seq < *last_seq && change.old == last.new;
            let is_undoing =
                seq == *last_seq && !std::ptr::eq(*first, *last) && first.old == last.new;
            if is_undone || is_undoing && !is_restart {
                undone.insert((seq, path.clone()));
            }
        }
        undone
    }

    /// Judges what one version changed.
    fn cause(
        &self,
        info: &ResourceInfo,
        object: ObjectId,
        seq: Seq,
        (named, relation): (&ProblemObject, &Relation),
        undone: &UndoneChanges,
    ) -> Option<Cause> {
        let evidence = self.timeline.reel().evidence_of(seq)?;
        let step = self.step(object, seq)?;
        let at = RecordMark { seq, at: step.at };
        let whole = |change| Cause {
            object: named.clone(),
            at,
            change,
            field: String::new(),
            old: None,
            new: None,
            by: Vec::new(),
            via: relation.via.clone(),
            chain: Vec::new(),
            score: 0.0,
        };
        let mut best: Option<Cause> = None;
        if step.kind == EventType::Deleted {
            best = Some(self.scored(whole(ChangeKind::Removed), relation));
        } else {
            // What was there at the beginning did not change then.
            let is_new = match evidence {
                Evidence::Live => true,
                Evidence::Imported => is_creation(self.timeline, seq),
                _ => false,
            };
            if step.before.is_none() && !is_new {
                return None;
            }
            let meant = self.shared.changes(self.timeline, &step, info)?;
            match &meant.changes {
                None => best = Some(self.scored(whole(ChangeKind::Added), relation)),
                Some(changes) => {
                    let is_undone = |path: &String| undone.contains(&(seq, path.clone()));
                    for (path, change) in changes.iter().filter(|(path, _)| !is_undone(path)) {
                        let mut cause = whole(change.kind);
                        cause.field.clone_from(path);
                        cause.old.clone_from(&change.old);
                        cause.new.clone_from(&change.new);
                        let cause = self.scored(cause, relation);
                        if best.as_ref().is_none_or(|best| cause.score > best.score) {
                            best = Some(cause);
                        }
                    }
                }
            }
            if let Some(best) = &mut best {
                best.by.clone_from(&meant.by);
            }
        }
        let mut best = best?;
        best.score *= self.doubt(&best, info, object, relation);
        (best.score >= THRESHOLD).then_some(best)
    }

    /// Returns the factor by which a cause counts less: what a controller wrote, or what its object ran well with.
    fn doubt(
        &self,
        best: &Cause,
        info: &ResourceInfo,
        object: ObjectId,
        relation: &Relation,
    ) -> f64 {
        let (seq, mut factor) = (best.at.seq, 1.0);
        // What a controller of the cluster wrote is seldom what somebody did.
        let is_controller = |name: &String| {
            matches!(
                name.as_str(),
                "kube-controller-manager" | "kubelet" | "kube-scheduler" | "kube-apiserver"
            )
        };
        if !best.by.is_empty() && best.by.iter().all(is_controller) {
            factor *= 0.4;
        }
        if relation.via == OWN
            && best.field.starts_with("spec.template")
            && is_seen_at_start(self.problem.kind)
            && self.ran_well(info, object, seq)
        {
            factor *= 0.5;
        }
        if relation.via == OWN
            && best.field.contains("desiredConfig")
            && self.was_configured(object, seq)
        {
            factor *= 0.3;
        }
        factor
    }

    /// Returns whether all Pods of a workload's version were available long enough before the first sign.
    fn ran_well(&self, info: &ResourceInfo, object: ObjectId, changed: Seq) -> bool {
        self.was_so(object, changed, |body| is_rolled_out(info, body))
    }

    /// Returns whether a Node had its configuration, and took Pods, long enough before the first sign.
    fn was_configured(&self, node: ObjectId, changed: Seq) -> bool {
        self.was_so(node, changed, |body| {
            !is_being_configured(body) && !is_cordoned(body)
        })
    }

    /// Returns whether a version after a change was as a function wants it long enough before the first sign.
    fn was_so(&self, object: ObjectId, changed: Seq, is_so: impl Fn(&Value) -> bool) -> bool {
        let onset = self.problem.from;
        let versions = self.timeline.reel().versions(object).iter().copied();
        let mut between = versions.filter(|seq| *seq > changed && *seq < onset.seq);
        between.any(|seq| {
            let is_before = onset.at.micros_since(self.timeline.wall_of(seq)) >= RAN_WELL;
            is_before && self.objects.body(seq).is_some_and(|body| is_so(&body))
        })
    }

    fn scored(&self, mut cause: Cause, relation: &Relation) -> Cause {
        let field = ChangedField {
            kind: &cause.object.kind,
            path: &cause.field,
            change: cause.change,
            old: cause.old.as_ref(),
            new: cause.new.as_ref(),
        };
        let mut effect = effect(self.problem.kind, self.dependencies.words().text(), field);
        // A new object may never have worked itself; another one's trouble it explains if it restricts.
        if cause.field.is_empty() && cause.change == ChangeKind::Added && relation.distance > 0 {
            let kind = cause.object.kind.as_str();
            let is_restriction = RESTRICTIONS.iter().any(|part| kind.contains(part));
            effect *= if is_restriction { 1.0 } else { 0.4 };
        }
        let secs = self.problem.from.at.micros_since(cause.at.at) / 1_000_000;
        // That it was made says less than a change of anything else; but a quota may be used up at once.
        let is_at_once = self.problem.kind == SignKind::QuotaExceeded && secs <= AT_ONCE;
        if relation.via == OWN
            && cause.field.is_empty()
            && cause.change == ChangeKind::Added
            && !is_at_once
        {
            effect = effect.min(0.45);
        }
        if relation.via == ROOM {
            // A workload that took room earlier had left enough of it.
            effect = if secs <= 300 { room_taken(field) } else { 0.0 };
        }
        if relation.via == QUOTA {
            effect = room_taken(field);
        }
        if relation.via == PROVISIONER {
            effect = effect_on_volumes(field);
        }
        if relation.via == CALLED {
            effect = effect_on_callers(self.dependencies.words().text(), field);
        }
        let is_unreachable = is_unreachable(self.dependencies.words().text());
        if is_unreachable && cause.object.kind == "Namespace" {
            let is_meant = self.dependencies.is_policy_label(field.path);
            effect = if is_meant { 1.3 } else { 0.0 };
        }
        if relation.via == BEHIND {
            let is_meant = self.dependencies.is_label_of_service(field.path);
            effect = if is_meant { 1.4 } else { 0.0 };
        }
        if relation.via == SELECTED_NAMESPACE {
            let is_meant = self.dependencies.is_selecting_label(field.path);
            effect = if is_meant { 1.2 } else { 0.0 };
        }
        let closeness = 1.0 / (1.0 + 0.3 * f64::from(relation.distance));
        // Nobody configures an operator that is well without meaning something.
        if relation.via == CONFIGURATION && cause.field.starts_with("spec") {
            effect *= 1.3;
        }
        let in_time = match secs {
            // A request has its effect when its turn comes.
            _ if self.is_rolled_out(&cause) => 1.0,
            ..=15 => 1.0,
            16..=60 => 0.95,
            61..=300 => 0.85,
            301..=900 => 0.7,
            901..=3_600 => 0.5,
            _ => 0.35,
        };
        let mut named = 1.0;
        if relation.is_named && relation.distance > 0 {
            named *= 1.3;
        }
        let holds_value = self.dependencies.words().hold_value(cause.new.as_ref());
        if self.dependencies.words().name_field(&cause.field) || holds_value {
            named *= 1.3;
        }
        if self.dependencies.words().hint_at(&cause.field) {
            named *= 1.15;
        }
        if self
            .dependencies
            .words()
            .is_of_other_container(&cause.field)
        {
            named *= 0.5;
        }
        cause.score = 100.0 * effect * closeness * in_time * named;
        cause
    }
}

impl Search<'_> {
    /// Returns whether a change asked for the release that the operator of the problem was going to
    /// when it was first not well: a request that was replaced or withdrawn moved nothing.
    fn is_rolled_out(&self, cause: &Cause) -> bool {
        let is_accepted = |request: &UpdateRequest| {
            let end = request.end;
            end.is_some_and(|end| end.how == HowRequestEnded::Accepted)
        };
        let mut moves = self.moves.iter();
        cause.object.kind == "ClusterVersion"
            && moves.any(|(update, found)| {
                let mut asked = update.requests.iter();
                asked.any(|request| request.asked.seq == cause.at.seq && is_accepted(request))
                    && found.is_under_way(self.problem.from)
            })
    }
}

/// Returns whether what a template breaks is seen when its Pods start.
const fn is_seen_at_start(sign: SignKind) -> bool {
    matches!(
        sign,
        SignKind::ImagePull
            | SignKind::ContainerConfig
            | SignKind::ContainerStart
            | SignKind::ContainerExit
            | SignKind::VolumeMount
            | SignKind::CreateFailed
    )
}

/// Returns whether a workload says that it has Pods, and that all of them are of its present template and available.
fn is_rolled_out(info: &ResourceInfo, workload: &Value) -> bool {
    let counts = ["/spec/replicas", "/status/desiredNumberScheduled"];
    let mut wanted = counts.iter().filter_map(|count| number(workload, count));
    wanted.any(|wanted| wanted > 0)
        && matches!(
            RolloutState::of(info, workload),
            Some(RolloutState::Complete(_))
        )
}

/// Returns whether a change is one that somebody meant: a status and its bookkeeping follow from it.
fn is_meant(path: &str, change: &Change, kind: &str) -> bool {
    if path.starts_with("metadata") {
        return match kind {
            "Node" => path.starts_with("metadata.labels") || path.contains("desiredConfig"),
            "Namespace" | "ClusterRole" | "Pod" if path.starts_with("metadata.labels") => true,
            "StorageClass" if path.contains("is-default-class") => true,
            _ => path.contains("finalizers") || path.contains("deletionTimestamp"),
        };
    }
    // The API server keeps the older name of the same field.
    if path.ends_with("spec.serviceAccount") {
        return false;
    }
    if kind == "Node" && path.starts_with("spec.taints") {
        // The node controller writes these when it has seen the trouble.
        let is_reaction = |value: &Option<Value>| {
            let text = value.as_ref().map(Value::to_string).unwrap_or_default();
            text.contains("node.kubernetes.io/")
        };
        return !(is_reaction(&change.new)
            || is_reaction(&change.old)
            || path.contains("node.kubernetes.io/"));
    }
    kind == "Node" && path.starts_with("status.allocatable") || !path.starts_with("status")
}
