//! Owns the whole name of a case in JUnit. Refuses names that change from run to run: rules make none.

/// Puts a case's name together: `[Monitor:…]`, `[Jira:"…"]` where a component is known, the rest.
///
/// Names of the OpenShift monitor that begin with their owner in brackets, such as `[sig-node] …` or
/// `[bz-etcd] …`, stay as they are: pass rates are counted by name, and those names are years old.
pub fn junit_name(monitor: &str, component: Option<&str>, rest: &str) -> String {
    let monitor = format!("[Monitor:{monitor}]");
    match component {
        _ if rest.starts_with('[') => format!("{monitor}{rest}"),
        Some(component) => format!("{monitor}[Jira:\"{component}\"] {rest}"),
        None => format!("{monitor} {rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_are_named_once() {
        let rest = "[sig-architecture] platform pods in ns/openshift-etcd should not restart";
        assert_eq!(
            junit_name("kubelet-container-restarts", Some("Etcd"), rest),
            format!("[Monitor:kubelet-container-restarts]{rest}")
        );
        assert_eq!(
            junit_name("ha", Some("Etcd"), "etcd has spread"),
            "[Monitor:ha][Jira:\"Etcd\"] etcd has spread"
        );
        assert_eq!(
            junit_name("ha", None, "x has spread"),
            "[Monitor:ha] x has spread"
        );
    }
}
