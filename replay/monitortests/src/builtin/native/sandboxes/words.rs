//! Owns what the words of a failed sandbox mean: which case they belong to, and which are known.
//! Refuses anything but words.
//!
//! Source: openshift/origin, `pkg/monitortests/network/legacynetworkmonitortests/networking.go` at
//! 483b9b6f.

use crate::interval::Interval;

/// The kinds of failure, by a part of their words; the first that fits counts, the last always does.
pub(crate) const KINDS: [(&str, &str); 11] = [
    (
        "reading container",
        "error reading container (probably exited) json message: EOF",
    ),
    ("pinging container registry", "pinging container registry"),
    ("not timing out", "i/o timeout"),
    (
        "writing network status",
        "error setting the networks status",
    ),
    ("getting pod", " error waiting for pod: pod"),
    ("writing child", "write child: broken pipe"),
    (
        "ovn default network ready",
        "have you checked that your default network is ready? still waiting for readinessindicatorfile",
    ),
    ("adding pod to network", "failed (add)"),
    (
        "initializing docker source",
        "can't talk to a V1 container registry",
    ),
    ("binding hostport", "failed to add hostport"),
    ("other", ""),
];

/// Gives the kind of a failure.
pub(crate) fn kind_of(words: &str) -> &'static str {
    let kind = KINDS.iter().find(|(_, part)| words.contains(part));
    kind.map_or("other", |(kind, _)| *kind)
}

/// What known words mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// A test means it to happen, or does not mind.
    Ignored,
    /// It is known to happen, and why.
    Flake(&'static str),
}

/// Words that are known.
struct Entry {
    /// Parts of the namespace and of the Pod's name; empty fits any.
    namespace: &'static str,
    pod: &'static str,
    /// Parts of the words that must all be there.
    all: &'static [&'static str],
    /// Parts of which one must be there; none fits any.
    any: &'static [&'static str],
    /// The platform that it is known of; `None` for all.
    platform: Option<&'static str>,
    means: Known,
}

const ANY: Entry = Entry {
    namespace: "",
    pod: "",
    all: &[],
    any: &[],
    platform: None,
    means: Known::Ignored,
};

const ENTRIES: [Entry; 9] = [
    // The garbage collector's test deletes its Pods at once, without a grace period.
    Entry {
        pod: "simpletest-rc-to-be-deleted",
        any: &[
            "not found",
            "pod was already deleted",
            "failed to create pod network sandbox",
            "error adding container to network",
        ],
        ..ANY
    },
    Entry {
        namespace: "e2e-test-tuning-",
        all: &["IFNAME"],
        ..ANY
    },
    Entry {
        namespace: "e2e-test-ns-global",
        pod: "test-ipv6",
        ..ANY
    },
    Entry {
        all: &["Multus", "error getting pod"],
        any: &["connection refused", "i/o timeout"],
        means: Known::Flake(
            "Multus could not reach the API, https://bugzilla.redhat.com/show_bug.cgi?id=1927264",
        ),
        ..ANY
    },
    Entry {
        all: &["Multus", "error getting pod: Unauthorized"],
        means: Known::Flake(
            "Multus was not let in by the API, https://bugzilla.redhat.com/show_bug.cgi?id=1972490",
        ),
        ..ANY
    },
    Entry {
        all: &[
            "Multus",
            "have you checked that your default network is ready? still waiting for readinessindicatorfile",
        ],
        means: Known::Flake(
            "the node's ovnkube-node had not written its file, https://bugzilla.redhat.com/show_bug.cgi?id=20671320",
        ),
        ..ANY
    },
    // The whereabouts test fills its range of addresses.
    Entry {
        pod: "whereabouts-pod",
        all: &[
            "error adding container to network",
            "Error at storage engine: Could not allocate IP in range: ip: 192.168.2.225 / - 192.168.2.230 ",
        ],
        ..ANY
    },
    Entry {
        all: &["pinging container registry", "i/o timeout"],
        platform: Some("azure"),
        means: Known::Flake("registries often time out on azure"),
        ..ANY
    },
    // A test of StatefulSets takes the port away on purpose.
    Entry {
        all: &["cannot open hostport 21017"],
        ..ANY
    },
];

/// Tells what is known of a failure, if anything is.
pub(crate) fn known(event: &Interval, platform: Option<&str>) -> Option<Known> {
    let words = &event.message.human;
    let namespace = event.locator.get("namespace").unwrap_or_default();
    let pod = event.locator.get("pod").unwrap_or_default();
    let entry = ENTRIES.iter().find(|entry| {
        namespace.contains(entry.namespace)
            && pod.contains(entry.pod)
            && entry.all.iter().all(|part| words.contains(part))
            && (entry.any.is_empty() || entry.any.iter().any(|part| words.contains(part)))
            && (entry.platform.is_none() || entry.platform == platform)
    });
    entry.map(|entry| entry.means)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::{IntervalMessage, Locator};

    fn failure(namespace: &str, pod: &str, words: &str) -> Interval {
        Interval {
            locator: Locator::new("Kind", [("namespace", namespace), ("pod", pod)]),
            message: IntervalMessage::new(words).reason("FailedCreatePodSandBox"),
            ..Interval::default()
        }
    }

    #[test]
    fn the_first_kind_that_fits_counts() {
        assert_eq!(
            kind_of("pinging container registry x: i/o timeout"),
            "pinging container registry"
        );
        assert_eq!(kind_of("dial tcp: i/o timeout"), "not timing out");
        assert_eq!(kind_of(""), "other");
    }

    #[test]
    fn a_platform_must_be_told_to_count() {
        let words = "pinging container registry q: dial tcp: i/o timeout";
        let failure = failure("n", "p", words);
        assert!(matches!(
            known(&failure, Some("azure")),
            Some(Known::Flake(_))
        ));
        assert_eq!(known(&failure, Some("aws")), None);
        assert_eq!(known(&failure, None), None);
    }

    #[test]
    fn a_test_that_means_it_is_ignored() {
        let meant = failure("e2e-test-tuning-1", "p", "sysctl IFNAME");
        assert_eq!(known(&meant, None), Some(Known::Ignored));
        let other = failure("team-a", "p", "sysctl IFNAME");
        assert_eq!(known(&other, None), None);
    }
}
