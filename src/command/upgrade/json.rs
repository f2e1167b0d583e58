//! The answer that programs read: one JSON object. docs/upgrade.md names its fields, and a test compares both.

use super::page::StoryContext;
use crate::command_error::CommandError;
use crate::field_text::{length_secs, secs};
use crate::screen::Console;
use kubereel_cluster::{
    ClusterRelease, ClusterUpdate, DrainHold, IllSpell, LeaderHandover, MarkSpan, NodeState,
    NodeUpdate, OperatorMove, PoolState, PoolUpdate, RecordMark, Retrieval, UpdateOrigin,
    UpdateStatus, Updates, UpgradeStory, VersionPod,
};
use kubereel_format::RecordedAt;
use kubereel_history::{Certainty, timetext};
use serde_json::{Value, json};

/// Prints a story.
pub(super) fn print(
    story: &UpgradeStory,
    context: &StoryContext,
    certainty: &Certainty,
    screen: &mut Console,
) -> Result<(), CommandError> {
    let now = story.now;
    let mut value = update(&story.update, Some(context.number), now);
    let parts = json!({
        "now": timetext::rfc3339(now),
        "over": mark(story.over),
        "is_known": certainty.is_known(),
        "is_imported": matches!(certainty, Certainty::Imported { .. }),
        "retrievals": all(&story.retrievals.attempts, retrieval),
        "retrievals_counted_only": story.retrievals.counted_only(),
        "precondition_warnings": all(&story.retrievals.warnings, |told| json!({
            "at": timetext::rfc3339(told.mark.at),
            "reason": told.reason,
            "message": told.message,
        })),
        "operators": all(&story.operators, |one| operator(one, now)),
        "spells": all(&story.spells, |one| spell(one, now)),
        "progress": all(&story.progress, |said| json!({
            "at": timetext::rfc3339(said.mark.at),
            "status": said.status,
            "reason": said.reason,
            "message": said.message,
        })),
        "leaders": all(&story.handovers, handover),
        "pools": all(&story.pools, |one| pool(one, now)),
        "nodes": all(&story.nodes, |one| node(one, now)),
        "joined": all(&story.joins, |join| json!({
            "node": join.node,
            "at": timetext::rfc3339(join.joined.at),
            "ready": mark(join.ready),
        })),
        "stalls": all(&story.stalls, |stall| json!({
            "from": timetext::rfc3339(stall.from.at),
            "to": mark(stall.to),
            "said": stall.said,
        })),
        "slowest": all(&story.slowest, |part| json!({
            "what": part.what.as_str(),
            "name": part.name,
            "from": timetext::rfc3339(part.from.at),
            "secs": length_secs(part.micros),
            "is_over": part.is_over,
        })),
        "not_seen": all(&story.not_seen, |one| json!({
            "resource": one.resource,
            "tells": one.tells,
            "from": one.unseen.as_ref().map(|unseen| timetext::rfc3339(unseen.from)),
            "to": one.unseen.as_ref().map(|unseen| timetext::rfc3339(unseen.to)),
            "why": one.why(),
        })),
        "status": context.status.as_ref().map(status),
    });
    if let (Value::Object(whole), Value::Object(parts)) = (&mut value, parts) {
        whole.extend(parts);
    }
    screen.line(value)
}

/// Prints a list.
pub(super) fn list(
    rows: &[(Option<usize>, &ClusterUpdate)],
    updates: &Updates,
    screen: &mut Console,
) -> Result<(), CommandError> {
    let items = rows
        .iter()
        .map(|(number, one)| update(one, *number, updates.now));
    let items: Vec<Value> = items.collect();
    screen.line(json!({
        "now": timetext::rfc3339(updates.now),
        "version": updates.version,
        "updates": items,
    }))
}

fn all<T>(items: &[T], one: impl Fn(&T) -> Value) -> Vec<Value> {
    items.iter().map(one).collect()
}

fn mark(mark: Option<RecordMark>) -> Option<String> {
    mark.map(|mark| timetext::rfc3339(mark.at))
}

fn release(release: &ClusterRelease) -> Value {
    json!({ "version": release.version, "image": release.image })
}

fn lasting(span: &MarkSpan, now: RecordedAt) -> Value {
    json!({
        "from": timetext::rfc3339(span.from.at),
        "to": mark(span.to),
        "secs": length_secs(span.micros(now)),
    })
}

fn update(update: &ClusterUpdate, number: Option<usize>, now: RecordedAt) -> Value {
    let end = update.end;
    let to = end.map_or(now, |end| end.mark.at);
    let took = u64::try_from(to.micros_since(update.first.at)).unwrap_or_default();
    json!({
        "kind": update.kind.as_str(),
        "nth": number,
        "from": update.from.as_ref().map(release),
        "is_from_partial": update.is_from_partial,
        "target": update.target.as_ref().map(release),
        "first": timetext::rfc3339(update.first.at),
        "is_older": update.is_older,
        "requests": all(&update.requests, |request| json!({
            "at": timetext::rfc3339(request.asked.at),
            "seq": request.asked.seq.0,
            "generation": request.generation,
            "version": request.release.version,
            "image": request.release.image,
            "is_forced": request.is_forced,
            "outcome": request.end.map(|end| end.how.as_str()),
            "ended": request.end.map(|end| timetext::rfc3339(end.mark.at)),
        })),
        "accepted": mark(update.accepted),
        "started_by_own_clock": update.started.map(timetext::rfc3339),
        "is_verified": update.is_verified,
        "accepted_risks": update.accepted_risks,
        "outcome": end.map(|end| end.how.as_str()),
        "ended": end.map(|end| timetext::rfc3339(end.mark.at)),
        "completed_by_own_clock": end.and_then(|end| end.completed).map(timetext::rfc3339),
        "took_secs": length_secs(took),
    })
}

fn retrieval(attempt: &Retrieval) -> Value {
    let end = attempt.end.as_ref();
    let failed_step = end.map(|end| end.failed_step.as_str());
    json!({
        "image": attempt.image,
        "began": mark(attempt.began),
        "ended": end.map(|end| timetext::rfc3339(end.mark.at)),
        "outcome": failed_step.map(|step| if step.is_empty() { "loaded" } else { "failed" }),
        "failed_step": failed_step.filter(|step| !step.is_empty()),
        "message": end.map(|end| end.message.as_str()),
        "pod": attempt.pod.as_ref().map(pod),
        "pod_events": all(&attempt.events, |event| json!({
            "at": timetext::rfc3339(event.mark.at),
            "type": event.severity,
            "reason": event.reason,
            "message": event.message,
            "count": event.count,
        })),
        "told_by_clusterversion": attempt.told.as_ref().map(|told| json!({
            "at": timetext::rfc3339(told.mark.at),
            "reason": told.reason,
            "message": told.message,
        })),
    })
}

fn pod(pod: &VersionPod) -> Value {
    json!({
        "name": pod.name,
        "image": pod.image,
        "created": timetext::rfc3339(pod.created.at),
        "over": mark(pod.over),
        "deleted": mark(pod.deleted),
        "states": all(&pod.states, |state| json!({
            "at": timetext::rfc3339(state.mark.at),
            "state": state.word,
            "message": state.message,
        })),
    })
}

fn operator(one: &OperatorMove, now: RecordedAt) -> Value {
    json!({
        "name": one.name,
        "is_of_payload": one.is_of_payload,
        "from_version": one.from_version,
        "had_version_before": one.was_there,
        "began": mark(one.began),
        "moved": mark(one.moved),
        "took_secs": one.took_micros(now).map(length_secs),
        "budget_secs": length_secs(one.budget_micros()),
        "is_over_budget": one.is_over_budget(now),
        "available": mark(one.available),
        "progressing": all(&one.progressing, |span| lasting(span, now)),
        "waited_for": all(&one.waited_for, |span| lasting(span, now)),
    })
}

fn spell(spell: &IllSpell, now: RecordedAt) -> Value {
    json!({
        "what": spell.ill.as_str(),
        "name": spell.name,
        "from": timetext::rfc3339(spell.from.at),
        "seq": spell.from.seq.0,
        "is_older": spell.is_older,
        "to": mark(spell.to),
        "secs": length_secs(spell.micros(now)),
        "oc": spell.level(now).as_str(),
        "has_gap": spell.has_gap,
        "texts": all(&spell.texts, |text| json!({
            "at": timetext::rfc3339(text.mark.at),
            "status": text.status,
            "reason": text.reason,
            "message": text.message,
        })),
    })
}

fn handover(one: &LeaderHandover) -> Value {
    json!({
        "from": one.from,
        "released": mark(one.released),
        "to": one.to,
        "taken": mark(one.taken),
    })
}

fn pool(one: &PoolUpdate, now: RecordedAt) -> Value {
    json!({
        "name": one.name,
        "began": timetext::rfc3339(one.began.at),
        "done": mark(one.done),
        "to_config": one.to_config,
        "machines": one.machines,
        "updated": one.updated,
        "paused": all(&one.paused, |span| lasting(span, now)),
        "degraded": all(&one.degraded, |span| lasting(span, now)),
    })
}

fn node(one: &NodeUpdate, now: RecordedAt) -> Value {
    let span = |span: Option<MarkSpan>| span.map(|span| lasting(&span, now));
    json!({
        "name": one.node,
        "pool": one.pool,
        "from_config": one.from_config,
        "to_config": one.to_config,
        "to_version": one.to_version,
        "began": timetext::rfc3339(one.began.at),
        "is_older": one.is_older,
        "cordoned": mark(one.cordoned),
        "drain": span(one.drain),
        "reboot": span(one.reboot),
        "not_ready": all(&one.not_ready, |span| lasting(span, now)),
        "ready": mark(one.ready),
        "done": mark(one.done),
        "uncordoned": mark(one.uncordoned),
        "took_secs": length_secs(one.micros(now)),
        "degraded": all(&one.degraded, |(span, why)| {
            json!({ "span": lasting(span, now), "reason": why })
        }),
        "held_by": all(&one.held_by, |hold| held(hold, now)),
        "warnings": all(&one.warnings, |warning| json!({
            "at": timetext::rfc3339(warning.mark.at),
            "reason": warning.reason,
            "message": warning.message,
        })),
    })
}

fn held(hold: &DrainHold, now: RecordedAt) -> Value {
    json!({
        "namespace": hold.namespace,
        "budget": hold.budget,
        "pod": hold.pod,
        "span": lasting(&hold.span, now),
    })
}

/// Gives the state that a program reads.
fn status(status: &UpdateStatus) -> Value {
    let counts = &status.operators;
    let (previous, origin) = match &status.origin {
        UpdateOrigin::Nothing => (None, "install"),
        UpdateOrigin::Version(version) => (Some(version), "completed"),
        UpdateOrigin::Partial(version) => (Some(version), "partial"),
        UpdateOrigin::SameVersion => (None, "same version"),
    };
    let pools: Vec<Value> = status.pools.iter().map(pool_status).collect();
    let insights: Vec<Value> = status
        .insights
        .iter()
        .map(|insight| {
            json!({
                "level": insight.level.as_str(),
                "impact": insight.impact.as_str(),
                "summary": insight.summary,
                "description": insight.description,
                "since": insight.since.map(timetext::rfc3339),
            })
        })
        .collect();
    json!({
        "at": timetext::rfc3339(status.now),
        "is_updating": status.is_updating,
        "target": status.target,
        "previous": previous,
        "origin": origin,
        "assessment": status.assessment.as_str(),
        "operators": {
            "total": counts.total,
            "updated": counts.updated,
            "updating": counts.updating,
            "waiting": counts.waiting,
            "unavailable": counts.unavailable,
            "degraded": counts.degraded,
        },
        "started_by_own_clock": status.started.map(timetext::rfc3339),
        "completed_by_own_clock": status.completed.map(timetext::rfc3339),
        "elapsed_secs": secs(status.elapsed_micros),
        "estimate": status.estimate.map(|estimate| json!({
            "remaining_secs": estimate.remaining_secs,
            "total_secs": estimate.total_secs,
        })),
        "pools": pools,
        "insights": insights,
    })
}

fn pool_status(pool: &PoolState) -> Value {
    let nodes: Vec<Value> = pool.nodes.iter().map(node_status).collect();
    json!({
        "name": pool.name,
        "assessment": pool.assessment.as_str(),
        "is_paused": pool.is_paused,
        "updated": pool.updated(),
        "nodes": nodes,
    })
}

fn node_status(node: &NodeState) -> Value {
    json!({
        "name": node.name,
        "assessment": node.assessment.as_str(),
        "phase": node.phase.as_str(),
        "version": node.version,
        "message": node.message,
        "is_available": node.is_available,
        "is_degraded": node.is_degraded,
    })
}
