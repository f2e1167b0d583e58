//! Owns the summary as a small page that Spyglass shows. Refuses scripts and links.

use super::Report;
use super::summary;
use super::words::escaped;

/// Writes the page.
pub(in crate::observer) fn page(report: &Report) -> String {
    let outcome = report.outcome();
    let text = escaped(&summary(report));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>kubereel: {outcome}</title>\n<meta name=\"description\" content=\"What the flight recorder of this job's cluster says of its own recording.\">\n</head>\n<body>\n<pre>{text}</pre>\n</body>\n</html>\n"
    )
}
