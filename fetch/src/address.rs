//! The addresses of a reel, and the parts of them that may be shown.

use crate::error::FetchError;
use percent_encoding::percent_decode_str;
use std::fmt::{self, Debug, Display, Formatter};
use url::Url;

/// Hosts that serve the objects of Google's store under `/BUCKET/NAME`.
const STORES: [&str; 2] = ["storage.googleapis.com", "storage.cloud.google.com"];

/// The address of a reel.
#[derive(Clone, PartialEq, Eq)]
pub struct ReelAddress(Place);

#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// A file of any server.
    File(Url),
    /// An object of Google's store, or all objects below a name.
    Object(StoredObject),
}

/// A name in a bucket; neither is escaped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredObject {
    pub(crate) bucket: String,
    pub(crate) name: String,
}

impl ReelAddress {
    /// Returns whether a word is an address, not a path.
    pub fn is_address(word: &str) -> bool {
        let scheme = word.split_once("://").map(|(scheme, _)| scheme);
        scheme.is_some_and(|scheme| {
            ["http", "https", "gs"]
                .iter()
                .any(|known| scheme.eq_ignore_ascii_case(known))
        })
    }

    /// Parses an address.
    ///
    /// # Errors
    /// When it is not one.
    pub fn parse(word: &str) -> Result<Self, FetchError> {
        let wrong = |why: &str| FetchError::Address {
            why: why.to_owned(),
        };
        if let Some((scheme, rest)) = word.split_once("://")
            && scheme.eq_ignore_ascii_case("gs")
        {
            let (bucket, name) = rest.split_once('/').unwrap_or((rest, ""));
            return Self::object(bucket, name).ok_or_else(|| wrong("it has no bucket"));
        }
        // The text is not quoted: it may contain a password.
        let url = Url::parse(word).map_err(|error| wrong(&error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(wrong("expected http://, https:// or gs://"));
        }
        let object = object_path(&url).and_then(|path| {
            let path = percent_decode_str(path).decode_utf8_lossy();
            let (bucket, name) = path.split_once('/').unwrap_or((&path, ""));
            Self::object(bucket, name)
        });
        Ok(object.unwrap_or(Self(Place::File(url))))
    }

    fn object(bucket: &str, name: &str) -> Option<Self> {
        (!bucket.is_empty()).then(|| {
            Self(Place::Object(StoredObject {
                bucket: bucket.to_owned(),
                name: name.trim_end_matches('/').to_owned(),
            }))
        })
    }

    pub(crate) const fn place(&self) -> &Place {
        &self.0
    }
}

/// Finds `BUCKET/NAME` in an address that stands for objects of a bucket.
fn object_path(url: &Url) -> Option<&str> {
    let (host, path) = (url.host_str()?, url.path());
    // A results page of Prow, on any host; its query selects a view.
    for view in ["/view/gs/", "/view/gcs/"] {
        if let Some(path) = path.strip_prefix(view) {
            return Some(path);
        }
    }
    if host.starts_with("gcsweb") || host.starts_with("gcs.") {
        return path.strip_prefix("/gcs/");
    }
    // The query of a signed address carries the permission, so the address is used unchanged.
    let is_plain = url.query().is_none() && url.username().is_empty();
    (is_plain && STORES.contains(&host)).then(|| path.trim_start_matches('/'))
}

impl StoredObject {
    /// Returns the name of the object as the store's own tools write it.
    pub(crate) fn words(&self) -> String {
        format!("gs://{}/{}", self.bucket, self.name)
    }
}

/// Formats a URL without its credentials and its query, which may be a signature.
pub(crate) fn public_url(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let port = url.port().map_or(String::new(), |port| format!(":{port}"));
    let query = url.query().map_or("", |_hidden| "?…");
    format!("{}://{host}{port}{}{query}", url.scheme(), url.path())
}

impl Display for ReelAddress {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Place::File(url) => out.write_str(&public_url(url)),
            Place::Object(object) => out.write_str(&object.words()),
        }
    }
}

impl Debug for ReelAddress {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "ReelAddress({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_an_address_means_its_place() {
        let job = "gs://test-platform-results/logs/periodic-a/123";
        for (word, shown) in [
            (job, job),
            ("GS://b/x/", "gs://b/x"),
            ("gs://b", "gs://b/"),
            (
                "https://prow.ci.openshift.org/view/gs/test-platform-results/logs/periodic-a/123",
                job,
            ),
            (
                "https://prow.k8s.io/view/gs/kubernetes-ci-logs/logs/a/1?lens=x",
                "gs://kubernetes-ci-logs/logs/a/1",
            ),
            (
                "https://gcsweb-ci.apps.ci.l2s4.p1.openshiftapps.com/gcs/test-platform-results/logs/periodic-a/123/",
                job,
            ),
            (
                "https://gcs.ci.openshift.org/gcs/b/a%20b%2523",
                "gs://b/a b%23",
            ),
            (
                "https://storage.googleapis.com/b/logs/run.reel",
                "gs://b/logs/run.reel",
            ),
            (
                "https://storage.googleapis.com/b/run.reel?X-Goog-Signature=s3cret",
                "https://storage.googleapis.com/b/run.reel?…",
            ),
            (
                "https://user:s3cret@h.example:8443/a/run.reel?t=s3cret#s3cret",
                "https://h.example:8443/a/run.reel?…",
            ),
            ("http://h/gcs/b/x", "http://h/gcs/b/x"),
        ] {
            assert!(ReelAddress::is_address(word), "{word}");
            let address = ReelAddress::parse(word).expect(word);
            assert_eq!(address.to_string(), shown);
            assert!(!format!("{address:?}").contains("s3cret"));
        }
    }

    #[test]
    fn what_is_no_address_is_refused_without_its_secrets() {
        for word in [
            "gs://",
            "gs:///x",
            "https://",
            "http://u:s3cret@/x",
            "https://u:s3cret@[::/x",
        ] {
            let error = ReelAddress::parse(word).expect_err(word).to_string();
            assert!(!error.contains("s3cret"), "{error}");
        }
        for word in ["run.reel", "a://b", "/tmp/http://x", "C:\\x", "http:/x"] {
            assert!(!ReelAddress::is_address(word), "{word}");
        }
    }
}
