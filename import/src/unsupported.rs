//! Recognizes formats that contain the state of a cluster but cannot be imported, by their first
//! bytes, and says what to do instead.

/// A known format that is not supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnsupportedFormat {
    /// The format, with its article.
    pub(crate) what: &'static str,
    /// What to do instead.
    pub(crate) instead: &'static str,
}

/// Offset, bytes, format, what to do instead.
const FORMATS: [(usize, &[u8], &str, &str); 14] = [
    (
        16,
        b"\xed\xda\x0c\xed",
        "an etcd snapshot",
        "restore it with etcdutl snapshot restore, start etcd and kube-apiserver on it, then: kubereel record",
    ),
    (
        0,
        b"SQLite format 3\0",
        "an SQLite database, such as the state of k3s",
        "start the cluster on it, then: kubereel record",
    ),
    (
        0,
        b"k8s\0",
        "a Kubernetes object in protobuf",
        "read it from the API server as JSON: kubectl get RESOURCE -A -o json",
    ),
    (
        0,
        b"PAR1",
        "a Parquet file",
        "give the recording that it was made from",
    ),
    (
        0,
        b"PACK",
        "a git pack file",
        "give the folder of the git repository, or a bundle: git bundle create FILE --all",
    ),
    (
        0,
        b"\xfftOc",
        "the index of a git pack file",
        "give the folder of the git repository, or a bundle: git bundle create FILE --all",
    ),
    (
        0,
        b"\x7fELF",
        "a program",
        "give a recording, a must-gather or lists of objects",
    ),
    (
        0,
        b"%PDF",
        "a PDF file",
        "give a recording, a must-gather or lists of objects",
    ),
    (
        0,
        b"\x89PNG",
        "a picture",
        "give a recording, a must-gather or lists of objects",
    ),
    (
        0,
        b"\xd4\xc3\xb2\xa1",
        "a capture of network packets",
        "give a recording, a must-gather or lists of objects",
    ),
    (
        0,
        b"<!DOCTYPE",
        "an HTML page",
        "download the file itself: the page only shows it or links to it",
    ),
    (
        0,
        b"<?xml",
        "an XML file",
        "test results are not a recording: give the reel, the events or the objects of the run",
    ),
    (
        0,
        b"<testsuite",
        "a JUnit file",
        "test results are not a recording: give the reel, the events or the objects of the run",
    ),
    (
        0,
        b"<html",
        "an HTML page",
        "download the file itself: the page only shows it or links to it",
    ),
];

/// Recognizes a format that is not supported.
pub(crate) fn unsupported(start: &[u8]) -> Option<UnsupportedFormat> {
    let text = start.trim_ascii_start();
    let found = FORMATS.iter().find(|(offset, magic, ..)| {
        start
            .get(*offset..)
            .is_some_and(|rest| rest.starts_with(magic))
            || (magic.starts_with(b"<")
                && text
                    .get(..magic.len())
                    .is_some_and(|word| word.eq_ignore_ascii_case(magic)))
    });
    let (_, _, what, instead) = found?;
    Some(UnsupportedFormat { what, instead })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_named_by_its_first_bytes() {
        let mut etcd = vec![0; 64];
        etcd[16..20].copy_from_slice(&0xED0C_DAED_u32.to_le_bytes());
        for (start, what) in [
            (etcd.as_slice(), Some("an etcd snapshot")),
            (b"\n  <!doctype html><html>", Some("an HTML page")),
            (b"<testsuites>", Some("a JUnit file")),
            (b"k8s\0\n", Some("a Kubernetes object in protobuf")),
            (b"{\"kind\":\"Pod\"}", None),
            (b"", None),
        ] {
            assert_eq!(unsupported(start).map(|found| found.what), what);
        }
    }
}
