//! Access control of the status page.
//!
//! * `Host` must be an address, `localhost`, or a name that the user gave. A page in a browser
//!   reaches this server only through a name that its author controls (DNS rebinding), and browsers
//!   always send `Host`.
//! * With a token, counters and marks need it, from every caller. Without one, counters are open,
//!   and marks are accepted from loopback only.
//! * Probes (`/healthz`, `/readyz`) never need a token: a kubelet has none.

use http::header::{AUTHORIZATION, HOST, ORIGIN, REFERER};
use http::uri::Authority;
use http::{HeaderMap, StatusCode, Uri};
use ring::digest::{SHA256, digest};
use std::fmt;
use std::net::IpAddr;
use thiserror::Error;

/// The shortest token, in letters: a shorter one can be guessed.
const TOKEN_MIN_LETTERS: usize = 16;

/// The longest token, in letters: it has to fit in a header.
const TOKEN_MAX_LETTERS: usize = 1024;

/// The bearer token of a status page.
#[derive(Clone, PartialEq, Eq)]
pub struct StatusToken(String);

/// A token cannot be used. The message does not repeat it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a token consists of {TOKEN_MIN_LETTERS} to {TOKEN_MAX_LETTERS} visible ASCII characters")]
pub struct StatusTokenError;

impl StatusToken {
    /// Reads a token from the text of a file; surrounding spaces and line ends are ignored.
    ///
    /// # Errors
    ///
    /// If it is too short, too long, or contains anything but visible ASCII letters.
    pub fn parse(text: &str) -> Result<Self, StatusTokenError> {
        let token = text.trim();
        let is_fit = (TOKEN_MIN_LETTERS..=TOKEN_MAX_LETTERS).contains(&token.len())
            && token.bytes().all(|byte| byte.is_ascii_graphic());
        is_fit
            .then(|| Self(token.to_owned()))
            .ok_or(StatusTokenError)
    }

    /// Returns the value of the `Authorization` header.
    pub(crate) fn header(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// Compares digests, so that the duration of the comparison reveals nothing about the token.
    fn is_in(&self, headers: &HeaderMap) -> bool {
        let sent = headers.get(AUTHORIZATION);
        let sent = sent.and_then(|value| value.to_str().ok()?.split_once(' '));
        let digest = |token: &str| digest(&SHA256, token.as_bytes());
        // The name of the scheme is case-insensitive (RFC 9110).
        sent.is_some_and(|(scheme, token)| {
            scheme.eq_ignore_ascii_case("Bearer")
                && digest(token.trim_start()).as_ref() == digest(&self.0).as_ref()
        })
    }
}

impl fmt::Debug for StatusToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StatusToken")
    }
}

/// The access rules of the status page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatusAccess {
    /// Required for counters and marks, if there is one.
    pub token: Option<StatusToken>,
    /// Host names by which the page may be requested, besides addresses and `localhost`.
    pub hosts: Vec<String>,
}

/// Why a request is refused.
pub(crate) type AccessRefusal = (StatusCode, &'static str);

impl StatusAccess {
    /// Refuses a host name that an attacker could control. A request without one does not come from
    /// a browser.
    pub(crate) fn check_host(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), AccessRefusal> {
        const REFUSED: AccessRefusal = (
            StatusCode::MISDIRECTED_REQUEST,
            "unknown host name: use an address, localhost or a --status-host NAME\n",
        );
        let sent = headers.get_all(HOST).iter();
        let sent = sent.map(|value| Authority::try_from(value.as_bytes()).ok());
        let targets = uri.authority().cloned().map(Some).into_iter().chain(sent);
        for authority in targets {
            let authority = authority.ok_or(REFUSED)?;
            if authority.as_str().contains('@') || !self.is_known(authority.host()) {
                return Err(REFUSED);
            }
        }
        Ok(())
    }

    fn is_known(&self, host: &str) -> bool {
        let bare = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        if bare.unwrap_or(host).parse::<IpAddr>().is_ok() {
            return true;
        }
        let host = host.strip_suffix('.').unwrap_or(host);
        host.eq_ignore_ascii_case("localhost")
            || self
                .hosts
                .iter()
                .any(|name| name.eq_ignore_ascii_case(host))
    }

    /// Refuses to show counters to a caller without the token, if one is required.
    pub(crate) fn check_metrics(&self, headers: &HeaderMap) -> Result<(), AccessRefusal> {
        match &self.token {
            Some(token) if !token.is_in(headers) => Err((
                StatusCode::UNAUTHORIZED,
                "the bearer token of --status-token-file is required\n",
            )),
            _ => Ok(()),
        }
    }

    /// Refuses a mark of a browser, and of a caller that is not on loopback and has no token.
    pub(crate) fn check_mark(
        &self,
        caller: IpAddr,
        headers: &HeaderMap,
    ) -> Result<(), AccessRefusal> {
        // A page in a browser may post here without a preflight request; `Origin` or `Referer`
        // reveal it.
        if headers.contains_key(ORIGIN) || headers.contains_key(REFERER) {
            return Err((StatusCode::FORBIDDEN, "marks from browsers are refused\n"));
        }
        if self.token.is_none() && !caller.to_canonical().is_loopback() {
            return Err((
                StatusCode::FORBIDDEN,
                "marks are accepted from this machine only, unless --status-token-file is set\n",
            ));
        }
        self.check_metrics(headers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn headers(rows: &[(http::HeaderName, &'static str)]) -> HeaderMap {
        let rows = rows.iter().cloned();
        rows.map(|(name, value)| (name, HeaderValue::from_static(value)))
            .collect()
    }

    #[test]
    fn a_host_is_an_address_or_a_known_name() {
        let access = StatusAccess {
            hosts: vec!["kubereel.kubereel.svc".to_owned()],
            ..StatusAccess::default()
        };
        let ask =
            |host| access.check_host(&Uri::from_static("/metrics"), &headers(&[(HOST, host)]));
        for host in [
            "127.0.0.1:9090",
            "10.128.0.7:9090",
            "[::1]:9090",
            "[fd00::7]",
            "localhost",
            "LOCALHOST:9090",
            "localhost.:9090",
            "kubereel.kubereel.svc:9090",
        ] {
            assert_eq!(ask(host), Ok(()), "{host}");
        }
        for host in [
            "",
            "evil.example:9090",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "user@127.0.0.1",
            "127.0.0.1/x",
            "a b",
        ] {
            assert!(ask(host).is_err(), "{host}");
        }
        let none = HeaderMap::new();
        assert_eq!(
            access.check_host(&Uri::from_static("/metrics"), &none),
            Ok(())
        );
        let absolute = Uri::from_static("http://evil.example/metrics");
        assert!(access.check_host(&absolute, &none).is_err());
    }

    #[test]
    fn a_token_is_needed_where_there_is_one() {
        const SENT: &str = "Bearer 0123456789abcdef";
        let token = StatusToken::parse(" 0123456789abcdef\n").expect("a token");
        let with = StatusAccess {
            token: Some(token),
            ..StatusAccess::default()
        };
        let without = StatusAccess::default();
        let here: IpAddr = [127, 0, 0, 1].into();
        let there: IpAddr = [10, 0, 0, 1].into();
        let sent = headers(&[(AUTHORIZATION, SENT)]);
        let wrong = headers(&[(AUTHORIZATION, "Bearer 0123456789abcdeX")]);
        let none = HeaderMap::new();
        assert_eq!(without.check_metrics(&none), Ok(()));
        assert_eq!(without.check_mark(here, &none), Ok(()));
        assert!(without.check_mark(there, &none).is_err());
        assert!(without.check_mark(there, &sent).is_err());
        for caller in [here, there] {
            assert_eq!(with.check_mark(caller, &sent), Ok(()));
            assert!(with.check_mark(caller, &wrong).is_err());
            assert!(with.check_mark(caller, &none).is_err());
        }
        assert_eq!(with.check_metrics(&sent), Ok(()));
        let lower = headers(&[(AUTHORIZATION, "bearer 0123456789abcdef")]);
        assert_eq!(with.check_metrics(&lower), Ok(()));
        let basic = headers(&[(AUTHORIZATION, "Basic 0123456789abcdef")]);
        assert!(with.check_metrics(&basic).is_err());
        assert!(with.check_metrics(&wrong).is_err());
        let browser = headers(&[(AUTHORIZATION, SENT), (ORIGIN, "null")]);
        assert!(with.check_mark(here, &browser).is_err());
        assert!(!format!("{with:?}").contains("0123"));
    }

    #[test]
    fn a_token_that_could_be_guessed_or_forged_is_refused() {
        for text in [
            "",
            "short",
            "0123456789abcde",
            "0123456789 abcdef",
            "0123456789\nabcdef",
        ] {
            assert_eq!(StatusToken::parse(text), Err(StatusTokenError), "{text:?}");
        }
        assert!(StatusToken::parse(&"x".repeat(TOKEN_MAX_LETTERS + 1)).is_err());
    }
}
