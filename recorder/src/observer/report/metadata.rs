//! Owns `metadata.json`: one flat object of texts, which Prow puts into the job's own. Refuses depth, and
//! names that could be somebody else's.

use super::words::time;
use super::{Report, Stage};
use std::collections::BTreeMap;

/// Writes the file.
pub(in crate::observer) fn metadata(report: &Report) -> String {
    let account = &report.account;
    let mut rows: BTreeMap<&str, String> = BTreeMap::new();
    rows.insert("kubereel-version", env!("CARGO_PKG_VERSION").to_owned());
    rows.insert("kubereel-outcome", report.outcome().to_owned());
    rows.insert("kubereel-reel", report.reel.clone());
    rows.insert("kubereel-reel-bytes", report.reel_bytes.to_string());
    rows.insert("kubereel-reached-cluster", account.is_reached.to_string());
    rows.insert("kubereel-events", report.standing.events().to_string());
    rows.insert("kubereel-gaps", account.gaps.all.to_string());
    rows.insert("kubereel-outages", account.outages.all.to_string());
    rows.insert("kubereel-marks", account.marks.to_string());
    if let Some(began) = account.began {
        rows.insert("kubereel-began", time(began));
    }
    match &report.stage {
        Stage::Running => {}
        Stage::Ended(by) => {
            rows.insert("kubereel-ended", time(report.at));
            rows.insert("kubereel-ended-by", by.clone());
        }
        Stage::NotBegun(why) | Stage::Failed(why) => {
            rows.insert("kubereel-error", why.clone());
        }
    }
    // Texts under texts can always be written.
    serde_json::to_string_pretty(&rows).map_or_else(|_| "{}\n".to_owned(), |text| text + "\n")
}
