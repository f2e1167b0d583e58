//! The output for programs: one JSON object. docs/upgrade.md names its fields, and a test compares both.

use super::page::StoryContext;
use crate::field_text::{length_secs, secs};
use crate::outputs::outputs;
use kubereel_cluster::{
    ClusterRelease, ClusterUpdate, DrainHold, Estimate, Insight, LeaderHandover, MarkSpan,
    MarkedCondition, MarkedMessage, NodeJoin, NodeState, NodeUpdate, OperatorCounts, OperatorMove,
    PodEvent, PodState, PoolState, PoolUpdate, RecordMark, Retrieval, Stall, UnhealthySpell,
    UnobservedSource, UpdateOrigin, UpdatePart, UpdateRequest, UpdateStatus, Updates, UpgradeStory,
    VersionPod,
};
use kubereel_format::RecordedAt;
use kubereel_history::{Certainty, UnobservedSpan, timetext};

outputs! {
/// An installation or an upgrade; docs/upgrade.md describes each field.
struct StoryOutput(story: &UpgradeStory, context: &StoryContext, certainty: &Certainty) {
    #[serde(flatten)]
    update: UpdateOutput = UpdateOutput::of(&story.update, Some(context.number), story.until("clusterversions", "version")),
    now: String = timetext::rfc3339(story.now),
    over: Option<String> = mark(story.over),
    is_end_known: bool = story.is_end_known,
    is_known: bool = certainty.is_known() && context.is_known,
    is_imported: bool = matches!(certainty, Certainty::Imported { .. }),
    retrievals: Vec<RetrievalOutput> = all(&story.retrievals.attempts, RetrievalOutput::of),
    retrievals_counted_only: u64 = story.retrievals.counted_only(),
    precondition_warnings: Vec<StoryMessageOutput> = all(&story.retrievals.warnings, StoryMessageOutput::of),
    operators: Vec<OperatorOutput> = all(&story.operators, |one| OperatorOutput::of(one, story.until("clusteroperators", &one.name))),
    periods: Vec<SpellOutput> = all(&story.spells, |one| SpellOutput::of(one, story.until(one.ill.plural(), &one.name))),
    progress: Vec<StoryConditionOutput> = all(&story.progress, StoryConditionOutput::of),
    leaders: Vec<LeaderOutput> = all(&story.handovers, LeaderOutput::of),
    pools: Vec<PoolUpdateOutput> = all(&story.pools, |one| PoolUpdateOutput::of(one, story.until("machineconfigpools", &one.name))),
    nodes: Vec<NodeUpdateOutput> = all(&story.nodes, |one| NodeUpdateOutput::of(one, story.until("nodes", &one.node))),
    joined: Vec<NodeJoinOutput> = all(&story.joins, NodeJoinOutput::of),
    stalls: Vec<StallOutput> = all(&story.stalls, StallOutput::of),
    slowest: Vec<UpdatePartOutput> = all(&story.slowest, UpdatePartOutput::of),
    not_seen: Vec<UnobservedOutput> = all(&story.not_seen, UnobservedOutput::of),
    status: Option<UpgradeStatusOutput> = context.status.as_ref().map(UpgradeStatusOutput::of),
}

/// The installation and all upgrades.
struct UpdateListOutput(rows: &[(Option<usize>, &ClusterUpdate)], updates: &Updates) {
    now: String = timetext::rfc3339(updates.now),
    version: String = updates.version.clone(),
    is_end_known: bool = updates.is_end_known,
    updates: Vec<UpdateOutput> = all(rows, |(number, one)| UpdateOutput::of(one, *number, updates.until)),
}

struct UpdateOutput(update: &ClusterUpdate, number: Option<usize>, now: RecordedAt) {
    kind: &'static str = update.kind.as_str(),
    nth: Option<usize> = number,
    from: Option<ReleaseOutput> = update.from.as_ref().map(ReleaseOutput::of),
    is_from_partial: bool = update.is_from_partial,
    target: Option<ReleaseOutput> = update.target.as_ref().map(ReleaseOutput::of),
    first: String = timetext::rfc3339(update.first.at),
    is_older: bool = update.is_older,
    requests: Vec<RequestOutput> = all(&update.requests, RequestOutput::of),
    accepted: Option<String> = mark(update.accepted),
    started_by_own_clock: Option<String> = update.started.map(timetext::rfc3339),
    is_verified: Option<bool> = update.is_verified,
    accepted_risks: String = update.accepted_risks.clone(),
    outcome: Option<&'static str> = update.end.map(|end| end.how.as_str()),
    ended: Option<String> = mark(update.end.map(|end| end.mark)),
    completed_by_own_clock: Option<String> =
        update.end.and_then(|end| end.completed).map(timetext::rfc3339),
    took_secs: f64 = length_secs(update.micros(now)),
}

struct ReleaseOutput(release: &ClusterRelease) {
    version: String = release.version.clone(),
    image: String = release.image.clone(),
}

struct RequestOutput(request: &UpdateRequest) {
    at: String = timetext::rfc3339(request.asked.at),
    seq: u64 = request.asked.seq.0,
    generation: u64 = request.generation,
    version: String = request.release.version.clone(),
    image: String = request.release.image.clone(),
    is_forced: bool = request.is_forced,
    outcome: Option<&'static str> = request.end.map(|end| end.how.as_str()),
    ended: Option<String> = mark(request.end.map(|end| end.mark)),
}

struct RetrievalOutput(attempt: &Retrieval) {
    image: String = attempt.image.clone(),
    began: Option<String> = mark(attempt.began),
    ended: Option<String> = mark(attempt.end.as_ref().map(|end| end.mark)),
    outcome: Option<&'static str> =
        attempt.end.as_ref().map(|_| if attempt.has_failed() { "failed" } else { "loaded" }),
    failed_step: Option<String> =
        attempt.end.as_ref().filter(|_| attempt.has_failed()).map(|end| end.failed_step.clone()),
    message: Option<String> = attempt.end.as_ref().map(|end| end.message.clone()),
    pod: Option<VersionPodOutput> = attempt.pod.as_ref().map(VersionPodOutput::of),
    pod_events: Vec<PodEventOutput> = all(&attempt.events, PodEventOutput::of),
    reported_by_clusterversion: Option<StoryMessageOutput> = attempt.reported.as_ref().map(StoryMessageOutput::of),
}

struct StoryMessageOutput(one: &MarkedMessage) {
    at: String = timetext::rfc3339(one.mark.at),
    reason: String = one.reason.clone(),
    message: String = one.message.clone(),
}

struct VersionPodOutput(pod: &VersionPod) {
    name: String = pod.name.clone(),
    image: String = pod.image.clone(),
    created: String = timetext::rfc3339(pod.created.at),
    over: Option<String> = mark(pod.over),
    deleted: Option<String> = mark(pod.deleted),
    states: Vec<PodStateOutput> = all(&pod.states, PodStateOutput::of),
}

struct PodStateOutput(state: &PodState) {
    at: String = timetext::rfc3339(state.mark.at),
    state: String = state.word.clone(),
    message: String = state.message.clone(),
}

struct PodEventOutput(event: &PodEvent) {
    at: String = timetext::rfc3339(event.mark.at),
    r#type: String = event.severity.clone(),
    reason: String = event.reason.clone(),
    message: String = event.message.clone(),
    count: u64 = event.count,
}

struct OperatorOutput(one: &OperatorMove, now: RecordedAt) {
    name: String = one.name.clone(),
    is_of_payload: bool = one.is_of_payload,
    from_version: String = one.from_version.clone(),
    had_version_before: bool = one.was_there,
    began: Option<String> = mark(one.began),
    /// Whether it was Progressing already when it was first observed: it began then or earlier.
    is_older: bool = one.is_older,
    moved: Option<String> = mark(one.moved),
    took_secs: Option<f64> = one.took_micros(now).map(length_secs),
    budget_secs: f64 = length_secs(one.budget_micros()),
    is_over_budget: bool = one.is_over_budget(now),
    available: Option<String> = mark(one.available),
    progressing: Vec<StorySpanOutput> = StorySpanOutput::all(&one.progressing, now),
    waited_for: Vec<StorySpanOutput> = StorySpanOutput::all(&one.waited_for, now),
}

struct StorySpanOutput(span: &MarkSpan, now: RecordedAt) {
    from: String = timetext::rfc3339(span.from.at),
    to: Option<String> = mark(span.to),
    secs: f64 = length_secs(span.micros(now)),
}

struct SpellOutput(spell: &UnhealthySpell, now: RecordedAt) {
    state: &'static str = spell.ill.as_str(),
    name: String = spell.name.clone(),
    from: String = timetext::rfc3339(spell.from.at),
    seq: u64 = spell.from.seq.0,
    is_older: bool = spell.is_older,
    to: Option<String> = mark(spell.to),
    secs: f64 = length_secs(spell.micros(now)),
    oc: &'static str = spell.level(now).as_str(),
    has_gap: bool = spell.has_gap,
    texts: Vec<StoryConditionOutput> = all(&spell.texts, StoryConditionOutput::of),
}

struct StoryConditionOutput(text: &MarkedCondition) {
    at: String = timetext::rfc3339(text.mark.at),
    status: String = text.status.clone(),
    reason: String = text.reason.clone(),
    message: String = text.message.clone(),
}

struct LeaderOutput(one: &LeaderHandover) {
    from: String = one.from.clone(),
    released: Option<String> = mark(one.released),
    to: String = one.to.clone(),
    taken: Option<String> = mark(one.taken),
}

struct PoolUpdateOutput(one: &PoolUpdate, now: RecordedAt) {
    name: String = one.name.clone(),
    began: String = timetext::rfc3339(one.began.at),
    done: Option<String> = mark(one.done),
    deleted: Option<String> = mark(one.deleted),
    to_config: String = one.to_config.clone(),
    machines: u64 = one.machines,
    updated: u64 = one.updated,
    paused: Vec<StorySpanOutput> = StorySpanOutput::all(&one.paused, now),
    degraded: Vec<StorySpanOutput> = StorySpanOutput::all(&one.degraded, now),
}

struct NodeUpdateOutput(one: &NodeUpdate, now: RecordedAt) {
    name: String = one.node.clone(),
    pool: String = one.pool.clone(),
    from_config: String = one.from_config.clone(),
    to_config: String = one.to_config.clone(),
    to_version: String = one.to_version.clone(),
    began: String = timetext::rfc3339(one.began.at),
    is_older: bool = one.is_older,
    cordoned: Option<String> = mark(one.cordoned),
    drain: Option<StorySpanOutput> = one.drain.map(|span| StorySpanOutput::of(&span, now)),
    reboot: Option<StorySpanOutput> = one.reboot.map(|span| StorySpanOutput::of(&span, now)),
    not_ready: Vec<StorySpanOutput> = StorySpanOutput::all(&one.not_ready, now),
    ready: Option<String> = mark(one.ready),
    done: Option<String> = mark(one.done),
    uncordoned: Option<String> = mark(one.uncordoned),
    deleted: Option<String> = mark(one.deleted),
    took_secs: f64 = length_secs(one.micros(now)),
    degraded: Vec<NodeDegradedOutput> = all(&one.degraded, |(span, why)| NodeDegradedOutput::of(span, why, now)),
    blocked_by: Vec<DrainHoldOutput> = all(&one.blocked_by, |hold| DrainHoldOutput::of(hold, now)),
    warnings: Vec<StoryMessageOutput> = all(&one.warnings, StoryMessageOutput::of),
}

struct NodeDegradedOutput(span: &MarkSpan, why: &str, now: RecordedAt) {
    span: StorySpanOutput = StorySpanOutput::of(span, now),
    reason: String = why.to_owned(),
}

struct DrainHoldOutput(hold: &DrainHold, now: RecordedAt) {
    namespace: String = hold.namespace.clone(),
    budget: String = hold.budget.clone(),
    pod: String = hold.pod.clone(),
    span: StorySpanOutput = StorySpanOutput::of(&hold.span, now),
}

struct NodeJoinOutput(join: &NodeJoin) {
    node: String = join.node.clone(),
    at: String = timetext::rfc3339(join.joined.at),
    ready: Option<String> = mark(join.ready),
}

struct StallOutput(stall: &Stall) {
    from: String = timetext::rfc3339(stall.from.at),
    to: Option<String> = mark(stall.to),
    message: String = stall.last_message.clone(),
}

struct UpdatePartOutput(part: &UpdatePart) {
    kind: &'static str = part.what.as_str(),
    name: String = part.name.clone(),
    from: String = timetext::rfc3339(part.from.at),
    secs: f64 = length_secs(part.micros),
    is_over: bool = part.is_over,
}

struct UnobservedOutput(one: &UnobservedSource) {
    resource: String = one.resource.clone(),
    reports: &'static str = one.reports,
    from: Option<String> = one.unseen.as_ref().and_then(UnobservedSpan::known_from).map(timetext::rfc3339),
    to: Option<String> = one.unseen.as_ref().and_then(UnobservedSpan::known_to).map(timetext::rfc3339),
    reason: String = one.reason(),
}

/// The state at a moment, by the rules of `oc adm upgrade status`.
struct UpgradeStatusOutput(status: &UpdateStatus) {
    at: String = timetext::rfc3339(status.now),
    is_updating: bool = status.is_updating,
    target: String = status.target.clone(),
    previous: Option<String> = match &status.origin {
        UpdateOrigin::Version(version) | UpdateOrigin::Partial(version) => Some(version.clone()),
        UpdateOrigin::Nothing | UpdateOrigin::SameVersion => None,
    },
    origin: &'static str = match &status.origin {
        UpdateOrigin::Nothing => "install",
        UpdateOrigin::Version(_) => "completed",
        UpdateOrigin::Partial(_) => "partial",
        UpdateOrigin::SameVersion => "same version",
    },
    assessment: &'static str = status.assessment.as_str(),
    operators: OperatorCountsOutput = OperatorCountsOutput::of(&status.operators),
    started_by_own_clock: Option<String> = status.started.map(timetext::rfc3339),
    completed_by_own_clock: Option<String> = status.completed.map(timetext::rfc3339),
    elapsed_secs: f64 = secs(status.elapsed_micros),
    estimate: Option<EstimateOutput> = status.estimate.map(EstimateOutput::of),
    pools: Vec<PoolStatusOutput> = all(&status.pools, PoolStatusOutput::of),
    insights: Vec<InsightOutput> = all(&status.insights, InsightOutput::of),
}

struct OperatorCountsOutput(counts: &OperatorCounts) {
    total: u32 = counts.total,
    updated: u32 = counts.updated,
    updating: Vec<String> = counts.updating.clone(),
    waiting: Vec<String> = counts.waiting.clone(),
    unavailable: Vec<String> = counts.unavailable.clone(),
    degraded: Vec<String> = counts.degraded.clone(),
}

struct EstimateOutput(estimate: Estimate) {
    remaining_secs: i64 = estimate.remaining_secs,
    total_secs: i64 = estimate.total_secs,
}

struct PoolStatusOutput(pool: &PoolState) {
    name: String = pool.name.clone(),
    assessment: &'static str = pool.assessment.as_str(),
    is_paused: bool = pool.is_paused,
    updated: usize = pool.updated(),
    nodes: Vec<NodeStatusOutput> = all(&pool.nodes, NodeStatusOutput::of),
}

struct NodeStatusOutput(node: &NodeState) {
    name: String = node.name.clone(),
    assessment: &'static str = node.assessment.as_str(),
    phase: &'static str = node.phase.as_str(),
    version: String = node.version.clone(),
    message: String = node.message.clone(),
    is_available: bool = node.is_available,
    is_degraded: bool = node.is_degraded,
}

struct InsightOutput(insight: &Insight) {
    level: &'static str = insight.level.as_str(),
    impact: &'static str = insight.impact.as_str(),
    summary: String = insight.summary.clone(),
    description: String = insight.description.clone(),
    since: Option<String> = insight.since.map(timetext::rfc3339),
}
}

impl StorySpanOutput {
    fn all(spans: &[MarkSpan], now: RecordedAt) -> Vec<Self> {
        all(spans, |span| Self::of(span, now))
    }
}

fn all<'a, T, O>(items: &'a [T], one: impl Fn(&'a T) -> O) -> Vec<O> {
    items.iter().map(one).collect()
}

fn mark(mark: Option<RecordMark>) -> Option<String> {
    mark.map(|mark| timetext::rfc3339(mark.at))
}
