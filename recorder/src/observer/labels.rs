//! Owns which properties of a job go into a reel: a list of public ones. Refuses everything else of the
//! environment, which holds credentials.

/// The variables that are copied, in this order.
pub const LABELS: [&str; 11] = [
    "JOB_NAME",
    "JOB_NAME_SAFE",
    "JOB_TYPE",
    "BUILD_ID",
    "PROW_JOB_ID",
    "REPO_OWNER",
    "REPO_NAME",
    "PULL_NUMBER",
    "PULL_BASE_REF",
    "PULL_BASE_SHA",
    "PULL_PULL_SHA",
];

/// The longest value, in bytes. What is longer is none of these properties.
const VALUE_BYTES: usize = 256;

/// Reads the labels of the job, by `variable`.
///
/// A value that is empty, long, or holds anything but visible ASCII is left out.
pub fn job_labels(variable: impl Fn(&str) -> Option<String>) -> Vec<(String, String)> {
    let known = LABELS.iter().filter_map(|name| {
        let value = variable(name)?;
        let is_fit = !value.is_empty()
            && value.len() <= VALUE_BYTES
            && value.bytes().all(|byte| byte.is_ascii_graphic());
        is_fit.then(|| ((*name).to_owned(), value))
    });
    known.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_listed_and_fit_is_read() {
        let labels = job_labels(|name| match name {
            "JOB_NAME" => Some("periodic-e2e".to_owned()),
            "BUILD_ID" => Some(String::new()),
            "JOB_TYPE" => Some("two\nlines".to_owned()),
            "PULL_NUMBER" => Some("7".repeat(257)),
            "REPO_NAME" => Some("a b".to_owned()),
            "PULL_BASE_REF" | "AWS_SECRET_ACCESS_KEY" | "KUBECONFIG" => Some("main".to_owned()),
            _ => None,
        });
        let expected = [("JOB_NAME", "periodic-e2e"), ("PULL_BASE_REF", "main")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(labels, expected);
    }
}
