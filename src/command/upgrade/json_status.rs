//! Owns the JSON of the state at a moment.

use kubereel_cluster::{NodeState, PoolState, UpdateOrigin, UpdateStatus};
use kubereel_history::timetext;
use serde_json::{Value, json};

/// Gives the state that a program reads.
pub(super) fn value(status: &UpdateStatus) -> Value {
    let counts = &status.operators;
    let (previous, origin) = match &status.origin {
        UpdateOrigin::Nothing => (None, "install"),
        UpdateOrigin::Version(version) => (Some(version), "completed"),
        UpdateOrigin::Partial(version) => (Some(version), "partial"),
        UpdateOrigin::SameVersion => (None, "same version"),
    };
    let pools: Vec<Value> = status.pools.iter().map(pool).collect();
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
        "elapsed_secs": crate::field_text::secs(status.elapsed_micros),
        "estimate": status.estimate.map(|estimate| json!({
            "remaining_secs": estimate.remaining_secs,
            "total_secs": estimate.total_secs,
        })),
        "pools": pools,
        "insights": insights,
    })
}

fn pool(pool: &PoolState) -> Value {
    let nodes: Vec<Value> = pool.nodes.iter().map(node).collect();
    json!({
        "name": pool.name,
        "assessment": pool.assessment.as_str(),
        "is_paused": pool.is_paused,
        "updated": pool.updated(),
        "nodes": nodes,
    })
}

fn node(node: &NodeState) -> Value {
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
