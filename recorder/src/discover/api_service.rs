//! Owns what the recorder reads of an API service: which group version another server answers for,
//! and whether it does. Discovery itself tells of it only a minute later. Refuses the rest.

use serde::Deserialize;

/// A group version that another server answers for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ApiService {
    /// The API group.
    pub(crate) group: String,
    /// The version.
    pub(crate) version: String,
    /// Whether the other server answers.
    pub(crate) is_available: bool,
}

#[derive(Deserialize)]
struct Raw {
    spec: RawSpec,
    #[serde(default)]
    status: RawStatus,
}

#[derive(Deserialize)]
struct RawSpec {
    #[serde(default)]
    group: String,
    version: String,
    #[serde(default)]
    service: Option<serde::de::IgnoredAny>,
}

#[derive(Default, Deserialize)]
struct RawStatus {
    #[serde(default)]
    conditions: Option<Vec<RawCondition>>,
}

#[derive(Deserialize)]
struct RawCondition {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    status: String,
}

/// Reads an API service; `None` if no other server is behind it, or it cannot be read.
pub(crate) fn api_service(object: &[u8]) -> Option<ApiService> {
    let raw: Raw = serde_json::from_slice(object).ok()?;
    raw.spec.service?;
    let conditions = raw.status.conditions.unwrap_or_default();
    Some(ApiService {
        group: raw.spec.group,
        version: raw.spec.version,
        is_available: conditions
            .iter()
            .any(|condition| condition.kind == "Available" && condition.status == "True"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_other_servers_count() {
        let text = |service: &str, available: &str| {
            format!(
                r#"{{"spec":{{"group":"g.io","version":"v1","service":{service}}},"status":{{"conditions":[{{"type":"Available","status":"{available}"}}]}}}}"#
            )
        };
        let read = |service, available| api_service(text(service, available).as_bytes());
        assert_eq!(read("null", "True"), None);
        let other = read(r#"{"name":"s","namespace":"n"}"#, "True").expect("one");
        assert_eq!(
            (other.group.as_str(), other.version.as_str()),
            ("g.io", "v1")
        );
        assert!(other.is_available);
        assert!(!read(r#"{"name":"s"}"#, "False").expect("one").is_available);
        assert_eq!(api_service(b"[]"), None);
    }
}
