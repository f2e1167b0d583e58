//! Owns the rule by which a plural is made of a kind where nobody names it: that of Kubernetes' own
//! clients. Refuses to be taken for knowledge: what it makes is noted as guessed.

/// Makes a plural of a kind.
pub(crate) fn guess(kind: &str) -> String {
    let singular = kind.to_lowercase();
    if singular.ends_with("endpoints") {
        singular
    } else if singular.ends_with('s') {
        singular + "es"
    } else if let Some(stem) = singular.strip_suffix('y') {
        format!("{stem}ies")
    } else {
        singular + "s"
    }
}

#[cfg(test)]
mod tests {
    use super::guess;

    #[test]
    fn plurals_are_those_of_kubernetes() {
        for (kind, plural) in [
            ("Pod", "pods"),
            ("NetworkPolicy", "networkpolicies"),
            ("StorageClass", "storageclasses"),
            ("Endpoints", "endpoints"),
            ("Gateway", "gatewaies"),
            ("DNS", "dnses"),
        ] {
            assert_eq!(guess(kind), plural);
        }
    }
}
