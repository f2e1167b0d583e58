//! Owns the Prometheus text of the counters. Refuses labels that could grow without bound.

use super::counters::Status;

/// Writes the counters in the Prometheus text format.
pub(super) fn metrics(status: &Status) -> String {
    let mut lines = Vec::new();
    let mut family = |name: &str, kind: &str, help: &str, rows: &[(&str, f64)]| {
        lines.push(format!("# HELP kubereel_{name} {help}"));
        lines.push(format!("# TYPE kubereel_{name} {kind}"));
        for (labels, value) in rows {
            lines.push(format!("kubereel_{name}{labels} {value}"));
        }
    };
    family(
        "events_total",
        "counter",
        "Events appended to the reel by this run.",
        &[
            ("{type=\"ADDED\"}", float(status.added)),
            ("{type=\"MODIFIED\"}", float(status.modified)),
            ("{type=\"DELETED\"}", float(status.deleted)),
        ],
    );
    for (name, help, value) in counters(status) {
        family(name, "counter", help, &[("", float(value))]);
    }
    for (name, help, value) in gauges(status) {
        family(name, "gauge", help, &[("", value)]);
    }
    if let Some(micros) = status.probed_ago_micros {
        let help = "Time since the API last answered a probe.";
        family(
            "probe_age_seconds",
            "gauge",
            help,
            &[("", float(micros) / 1e6)],
        );
    }
    family(
        "resources",
        "gauge",
        "Resources by how they are recorded.",
        &[
            ("{state=\"complete\"}", float(status.resources_complete)),
            (
                "{state=\"behind\"}",
                float(status.resources.saturating_sub(status.resources_complete)),
            ),
            (
                "{state=\"not_covered\"}",
                float(status.resources_not_covered),
            ),
        ],
    );
    lines.push(String::new());
    lines.join("\n")
}

fn counters(status: &Status) -> [(&'static str, &'static str, u64); 7] {
    [
        ("gaps_total", "Gaps recorded by this run.", status.gaps),
        (
            "odd_lines_total",
            "Lines that were no events, kept by this run.",
            status.odd_lines,
        ),
        (
            "connections_total",
            "List and watch requests answered in this run.",
            status.connections,
        ),
        (
            "expired_total",
            "Answers of this run by which a server had lost the history.",
            status.expired,
        ),
        (
            "outages_total",
            "Outages of the API seen by this run.",
            status.outages,
        ),
        (
            "budget_steps_total",
            "Steps taken in this run to keep the reel below its size: each leaves something out.",
            status.budget_steps,
        ),
        (
            "budget_dropped_total",
            "Records that were not written in this run because of these steps.",
            status.budget_dropped,
        ),
    ]
}

fn gauges(status: &Status) -> [(&'static str, &'static str, f64); 7] {
    [
        ("file_bytes", "Size of the reel.", float(status.file_bytes)),
        (
            "max_bytes",
            "How large the reel may become; 0 without a limit.",
            float(status.max_bytes),
        ),
        (
            "queued_bytes",
            "Bytes received and not yet durable.",
            float(status.queued_bytes),
        ),
        (
            "lag_seconds",
            "Age of the oldest record that is not yet durable.",
            float(status.lag_micros) / 1e6,
        ),
        (
            "up",
            "Whether the cluster answers.",
            f64::from(u8::from(status.is_reachable)),
        ),
        (
            "api_out",
            "Whether probes of the API fail at the moment.",
            f64::from(u8::from(status.is_out)),
        ),
        (
            "writable",
            "Whether the reel can be written.",
            f64::from(u8::from(status.write_trouble.is_empty())),
        ),
    ]
}

#[expect(
    clippy::cast_precision_loss,
    clippy::as_conversions,
    reason = "the text format knows only floats; 53 bits are enough for a counter"
)]
fn float(value: u64) -> f64 {
    value as f64
}

/// Tells whether the recorder works at all: it writes, and is not far behind.
pub(super) fn is_healthy(status: &Status) -> bool {
    status.write_trouble.is_empty() && status.lag_micros < MAX_LAG_MICROS
}

/// A recorder this far behind is not well.
const MAX_LAG_MICROS: u64 = 30_000_000;

/// Tells whether the recording is complete up to the present.
pub(super) fn is_ready(status: &Status) -> bool {
    is_healthy(status)
        && status.is_reachable
        && status.resources > 0
        && status.resources_complete == status.resources
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_has_help_type_and_rows() {
        let status = Status {
            added: 3,
            lag_micros: 250_000,
            outages: 2,
            probed_ago_micros: Some(1_500_000),
            resources: 7,
            resources_complete: 5,
            ..Status::default()
        };
        let text = metrics(&status);
        assert!(text.contains("kubereel_events_total{type=\"ADDED\"} 3\n"));
        assert!(text.contains("kubereel_lag_seconds 0.25\n"));
        assert!(text.contains("kubereel_resources{state=\"behind\"} 2\n"));
        assert!(text.contains("kubereel_outages_total 2\n"));
        assert!(text.contains("kubereel_probe_age_seconds 1.5\n"));
        let families = text
            .lines()
            .filter(|line| line.starts_with("# TYPE "))
            .count();
        let helps = text
            .lines()
            .filter(|line| line.starts_with("# HELP "))
            .count();
        assert_eq!(families, helps);
        assert_eq!(families, 17);
    }

    #[test]
    fn ready_means_complete_and_written() {
        let mut status = Status {
            resources: 2,
            resources_complete: 2,
            is_reachable: true,
            ..Status::default()
        };
        assert!(is_ready(&status));
        status.resources_complete = 1;
        assert!(!is_ready(&status) && is_healthy(&status));
        status.write_trouble = "disk full".into();
        assert!(!is_healthy(&status));
    }
}
