//! Requests: proxies, credentials, redirects, time limits.

use crate::address::public_url;
use crate::error::FetchError;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::Response;
use percent_encoding::percent_decode_str;
use std::sync::Arc;
use std::time::Duration;
use ureq::tls::{RootCerts, TlsConfig, TlsProvider};
use ureq::{Agent, Body, Proxy};
use url::Url;

/// The address of the store for `gs://`, unless the variable of the store's own clients names
/// another one.
const STORE: &str = "https://storage.googleapis.com";
const STORE_VARIABLE: &str = "STORAGE_EMULATOR_HOST";

/// The timeouts of a connection attempt, and of a silent server.
const SILENCE: Duration = Duration::from_mins(1);

/// The largest number of redirects.
const REDIRECTS: usize = 5;

/// Sends requests, over the proxies of the environment.
#[derive(Debug)]
pub struct FetchClient {
    http: Agent,
    https: Agent,
    store: Url,
}

impl FetchClient {
    /// Reads `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`, in either case, and the
    /// address of the object store from `STORAGE_EMULATOR_HOST`.
    ///
    /// # Errors
    /// When one of them cannot be read.
    pub fn new(variable: impl Fn(&str) -> Option<String>) -> Result<Self, FetchError> {
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
        let agent = |names: [&'static str; 4]| {
            let named = names
                .into_iter()
                .find_map(|name| Some((name, variable(name)?)));
            let exceptions = variable("no_proxy").or_else(|| variable("NO_PROXY"));
            let proxy = named.map(|(name, value)| proxy(name, &value, exceptions.as_deref()));
            Ok::<_, FetchError>(agent(proxy.transpose()?))
        };
        let store = match variable(STORE_VARIABLE) {
            Some(host) if host.contains("://") => host,
            Some(host) => format!("http://{host}"),
            None => STORE.to_owned(),
        };
        Ok(Self {
            http: agent(["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"])?,
            https: agent(["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])?,
            store: Url::parse(&store).map_err(|error| FetchError::Address {
                why: format!("${STORE_VARIABLE}: {error}"),
            })?,
        })
    }

    /// Returns the address of a path in the store.
    pub(crate) fn in_store<'a>(&self, path: impl IntoIterator<Item = &'a str>) -> Url {
        let mut url = self.store.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url
    }

    /// Requests a file, and follows redirects within the scheme.
    pub(crate) fn get(
        &self,
        asked: &Url,
        headers: &[(&'static str, String)],
    ) -> Result<Response<Body>, FetchError> {
        let address = public_url(asked);
        let mut url = asked.clone();
        for _redirect in 0..=REDIRECTS {
            let response = self
                .ask(&url, headers)
                .map_err(|source| FetchError::Connect {
                    address: address.clone(),
                    source: Box::new(source),
                })?;
            if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
                return Ok(response);
            }
            let location = response.headers().get("location");
            let next = location.and_then(|to| url.join(to.to_str().ok()?).ok());
            let nowhere = || FetchError::Redirect {
                address: address.clone(),
                why: "redirected to no address",
            };
            let next = next.ok_or_else(nowhere)?;
            if next.scheme() != url.scheme() {
                return Err(FetchError::OtherScheme {
                    address,
                    to: public_url(&next),
                });
            }
            // The user's credentials are for the host that the user named, and a redirect must not
            // add any.
            let is_same = next.host() == url.host()
                && next.port_or_known_default() == url.port_or_known_default();
            let (user, password) = if is_same {
                (url.username(), url.password())
            } else {
                ("", None)
            };
            url = with_credentials(next, user, password).ok_or_else(nowhere)?;
        }
        Err(FetchError::Redirect {
            address,
            why: "redirected again and again",
        })
    }

    fn ask(
        &self,
        url: &Url,
        headers: &[(&'static str, String)],
    ) -> Result<Response<Body>, ureq::Error> {
        let agent = if url.scheme() == "https" {
            &self.https
        } else {
            &self.http
        };
        let mut bare = url.clone();
        bare.set_fragment(None);
        let mut authorization = None;
        if !url.username().is_empty() || url.password().is_some() {
            let plain = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
            let (user, password) = (plain(url.username()), plain(url.password().unwrap_or("")));
            let both = BASE64_STANDARD.encode(format!("{user}:{password}"));
            authorization = Some(format!("Basic {both}"));
            // Credentials are removed, so that no error can quote them.
            let without = with_credentials(bare, "", None);
            bare = without.ok_or_else(|| ureq::Error::BadUri("no host".to_owned()))?;
        }
        let mut request = agent.get(bare.as_str());
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        if let Some(authorization) = authorization {
            request = request.header("authorization", authorization);
        }
        request.call()
    }
}

fn with_credentials(mut url: Url, user: &str, password: Option<&str>) -> Option<Url> {
    url.set_username(user).ok()?;
    url.set_password(password).ok()?;
    Some(url)
}

fn agent(proxy: Option<Proxy>) -> Agent {
    let provider = rustls::crypto::ring::default_provider();
    let tls = TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .root_certs(RootCerts::PlatformVerifier)
        .unversioned_rustls_crypto_provider(Arc::new(provider))
        .build();
    Agent::config_builder()
        .tls_config(tls)
        .proxy(proxy)
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_connect(Some(SILENCE))
        .timeout_recv_response(Some(SILENCE))
        .timeout_per_read(Some(SILENCE))
        .user_agent(concat!("kubereel/", env!("CARGO_PKG_VERSION")))
        .build()
        .new_agent()
}

/// Parses a proxy and the hosts that are reached without it.
fn proxy(
    variable: &'static str,
    value: &str,
    exceptions: Option<&str>,
) -> Result<Proxy, FetchError> {
    let failed = |error: ureq::Error| FetchError::Proxy {
        variable,
        why: error.to_string(),
    };
    let named = Proxy::new(value).map_err(failed)?;
    let mut builder = Proxy::builder(named.protocol())
        .host(named.host())
        .port(named.port());
    if let Some(user) = named.username() {
        builder = builder.username(user);
    }
    if let Some(password) = named.password() {
        builder = builder.password(password);
    }
    let exceptions = exceptions.unwrap_or_default().split(',');
    for host in exceptions.map(str::trim).filter(|host| !host.is_empty()) {
        // As in other programs, a name includes its subdomains.
        builder = builder.no_proxy(host);
        if host.starts_with(|first: char| first.is_ascii_alphanumeric()) {
            builder = builder.no_proxy(&format!(".{host}"));
        }
    }
    builder.build().map_err(failed)
}
