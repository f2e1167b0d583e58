//! Builds a kube client from a configuration: TCP keepalive, no connection reuse, no retries, no
//! compression.
//!
//! Errors of the client library may quote a credential: a line of a key, the address of a proxy
//! with its password, the output of a credential plugin. Every error type of the library that
//! results from a kubeconfig, from the files it names or from a plugin has a row here; its own text
//! is never used where it shows a value.

use super::token_file::TokenFile;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue, Request, Response};
use hyper_util::client::legacy::Builder;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use kube::client::middleware::AuthLayer;
use kube::client::{AuthError, Body, ClientBuilder, ConfigExt as _, RustlsTlsError};
use kube::config::{InClusterError, KubeconfigError, LoadDataError};
use kube::{Client, Config};
use kubereel_redact::{KnownCredentials, YamlMistake};
use std::error::Error;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tower_service::Service;

/// The timeout for a TCP connection.
const CONNECT_SECS: u64 = 10;

/// After how long a silent connection is probed, and how often.
const KEEPALIVE_SECS: u64 = 20;

/// A connection ends when sent bytes stay unacknowledged for this long.
#[cfg(target_os = "linux")]
const USER_TIMEOUT_SECS: u64 = 30;

/// Builds a client.
///
/// Behind a proxy kube's own connector is used: it supports proxies, but not keepalive.
pub(crate) fn client(mut config: Config) -> Result<Client, kube::Error> {
    // A hidden retry hides an outage, and a compressed stream may lose its last events.
    config.default_retry = false;
    config.disable_compression = true;
    config.connect_timeout = Some(Duration::from_secs(CONNECT_SECS));
    if let Some(proxy) = &config.proxy_url {
        KnownCredentials::of_process().remember_url(&proxy.to_string());
        return proxied(config);
    }
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_connect_timeout(Some(Duration::from_secs(CONNECT_SECS)));
    http.set_keepalive(Some(Duration::from_secs(KEEPALIVE_SECS)));
    http.set_keepalive_interval(Some(Duration::from_secs(KEEPALIVE_SECS / 2)));
    #[cfg(target_os = "linux")]
    http.set_tcp_user_timeout(Some(Duration::from_secs(USER_TIMEOUT_SECS)));
    let token = token_file(&mut config)?;
    let https = config.rustls_https_connector_with_connector(http)?;
    let transport = Builder::new(TokioExecutor::new())
        // A new connection may reach another server behind the address, an old one cannot.
        .pool_max_idle_per_host(0)
        .build::<_, Body>(https);
    let transport = Sender {
        inner: transport,
        token,
    };
    let builder = ClientBuilder::new(transport, config.default_namespace.clone())
        .with_layer(&config.extra_headers_layer()?);
    Ok(match auth_layer(&config)? {
        Some(auth) => builder
            .with_layer(&auth)
            .with_layer(&config.base_uri_layer())
            .build(),
        None => builder.with_layer(&config.base_uri_layer()).build(),
    })
}

/// Builds a client behind a proxy. Authorisation wraps kube's own stack, so that its headers are
/// visible as without a proxy.
fn proxied(mut config: Config) -> Result<Client, kube::Error> {
    let token = token_file(&mut config)?;
    let namespace = config.default_namespace.clone();
    let auth = auth_layer(&config)?;
    if token.is_none() && auth.is_none() {
        // A certificate, which a plugin may provide, or nothing.
        return Client::try_from(config);
    }
    let user = &mut config.auth_info;
    (user.token, user.token_file, user.password) = (None, None, None);
    (user.exec, user.auth_provider) = (None, None);
    let inner = Sender {
        inner: Inner(Client::try_from(config)?),
        token,
    };
    let builder = ClientBuilder::new(inner, namespace);
    Ok(match auth {
        Some(auth) => builder.with_layer(&auth).build(),
        None => builder.build(),
    })
}

/// Takes the file of the token from a configuration, if nothing else has precedence, and reads it once.
fn token_file(config: &mut Config) -> Result<Option<Arc<TokenFile>>, kube::Error> {
    let user = &mut config.auth_info;
    let has_password = user.username.is_some() && user.password.is_some();
    let has_other = user.token.is_some() || user.auth_provider.is_some() || has_password;
    let Some(path) = user.token_file.take_if(|_| !has_other) else {
        return Ok(None);
    };
    let file = TokenFile::new(path.into());
    file.header().map_err(kube::Error::Auth)?;
    Ok(Some(Arc::new(file)))
}

/// Builds the authorisation of requests. The library panics on a token that no header can contain,
/// as a damaged file or a plugin may provide it; the panic would end the task that follows the
/// kubeconfig.
fn auth_layer(config: &Config) -> Result<Option<AuthLayer>, kube::Error> {
    let made = catch_unwind(AssertUnwindSafe(|| config.auth_layer()));
    made.unwrap_or_else(|_panic| match HeaderValue::from_bytes(b"\0") {
        Err(error) => Err(kube::Error::Auth(AuthError::InvalidBearerToken(error))),
        Ok(_) => Ok(None),
    })
}

type BoxError = Box<dyn Error + Send + Sync>;

/// A client as a service.
#[derive(Clone)]
struct Inner(Client);

impl Service<Request<Body>> for Inner {
    type Response = Response<Body>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, BoxError>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let client = self.0.clone();
        Box::pin(async move {
            client.send(request).await.map_err(|error| match error {
                kube::Error::Service(inner) => inner,
                other => other.into(),
            })
        })
    }
}

/// Remembers the authorisation of each request: the token may come from a plugin, from a file that
/// is read again, or from the pod's service account.
fn remember(headers: &HeaderMap) {
    let value = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes);
    if let Some(value) = value {
        let credential = value.splitn(2, |byte| *byte == b' ').last();
        KnownCredentials::of_process().remember(credential.unwrap_or(value));
    }
}

/// Wraps a service with the error type that the authorisation layer requires, adds the token of a file, and
/// remembers the headers.
#[derive(Clone, Debug)]
struct Sender<S> {
    inner: S,
    token: Option<Arc<TokenFile>>,
}

impl<S> Service<Request<Body>> for Sender<S>
where
    S: Service<Request<Body>>,
    S::Error: Into<BoxError>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        if let Some(token) = &self.token {
            match token.header() {
                Ok(header) => drop(request.headers_mut().insert(AUTHORIZATION, header)),
                Err(error) => return Box::pin(async move { Err(error.into()) }),
            }
        }
        remember(request.headers());
        let answer = self.inner.call(request);
        Box::pin(async move { answer.await.map_err(Into::into) })
    }
}

/// Returns a text for an error that may quote; `None` if its own text does not.
pub(super) fn unquoted(error: &(dyn Error + 'static)) -> Option<String> {
    if let Some(error) = error.downcast_ref::<kube::Error>() {
        return of_client(error);
    }
    if let Some(error) = error.downcast_ref::<AuthError>() {
        return Some(of_auth(error));
    }
    if let Some(error) = error.downcast_ref::<KubeconfigError>() {
        return Some(of_kubeconfig(error));
    }
    if let Some(InClusterError::ParseCertificates(_)) = error.downcast_ref() {
        return Some("the CA of the pod's service account is not PEM".to_owned());
    }
    if let Some(error) = error.downcast_ref::<RustlsTlsError>() {
        return of_tls(error);
    }
    None
}

/// Returns whether credentials could not be obtained.
pub(super) fn is_about_credentials(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if error.is::<AuthError>() || matches!(error.downcast_ref(), Some(kube::Error::Auth(_))) {
            return true;
        }
        next = error.source();
    }
    false
}

fn of_client(error: &kube::Error) -> Option<String> {
    match error {
        kube::Error::ProxyProtocolUnsupported { .. }
        | kube::Error::ProxyProtocolDisabled { .. } => Some(
            "the proxy's URL has an unsupported scheme: http, https and socks5 are known"
                .to_owned(),
        ),
        kube::Error::Auth(error) => Some(format!("auth error: {}", of_auth(error))),
        kube::Error::InferKubeconfig(error) => Some(of_kubeconfig(error)),
        kube::Error::RustlsTls(error) => {
            of_tls(error).map(|words| format!("rustls tls error: {words}"))
        }
        _ => None,
    }
}

fn of_kubeconfig(error: &KubeconfigError) -> String {
    match error {
        KubeconfigError::Parse(error) => format!("cannot parse: {}", YamlMistake::of(error)),
        KubeconfigError::ReadConfig(error, _) => format!("cannot read: {}", of_system(error)),
        KubeconfigError::LoadCertificateAuthority(error) => of_data("certificate-authority", error),
        KubeconfigError::LoadClientCertificate(error) => of_data("client-certificate", error),
        KubeconfigError::LoadClientKey(error) => of_data("client-key", error),
        KubeconfigError::ParseCertificates(_) => "certificate-authority is not PEM".to_owned(),
        KubeconfigError::ParseClusterUrl(_) => "the cluster's server is not a URL".to_owned(),
        KubeconfigError::ParseProxyUrl(_) => "the proxy is not a URL".to_owned(),
        KubeconfigError::ParseNoProxy(_) => "NO_PROXY cannot be parsed".to_owned(),
        // These name a context, a cluster or nothing.
        error => error.to_string(),
    }
}

fn of_data(field: &str, error: &LoadDataError) -> String {
    match error {
        LoadDataError::DecodeBase64(_) => format!("{field}-data is not base64"),
        LoadDataError::ReadFile(error, _) => {
            format!(
                "cannot read the file that {field} names: {}",
                of_system(error)
            )
        }
        LoadDataError::NoBase64DataOrFile => format!("{field} and {field}-data are missing"),
    }
}

fn of_tls(error: &RustlsTlsError) -> Option<String> {
    match error {
        RustlsTlsError::InvalidIdentityPem(_) => {
            Some("client-certificate or client-key is not PEM".to_owned())
        }
        _ => None,
    }
}

fn of_auth(error: &AuthError) -> String {
    match error {
        AuthError::InvalidBasicAuth(_) => "the password does not fit a header".to_owned(),
        AuthError::InvalidBearerToken(_) => "the token does not fit a header".to_owned(),
        AuthError::UnrefreshableTokenResponse => "the plugin gave no new token".to_owned(),
        AuthError::ExecPluginFailed => {
            "the output of the credential plugin has no status".to_owned()
        }
        AuthError::MalformedTokenExpirationDate(_) => {
            "the token's expiry is not an RFC 3339 time".to_owned()
        }
        AuthError::AuthExecStart(error) => {
            format!("cannot start the credential plugin: {}", of_system(error))
        }
        AuthError::AuthExecRun { out, .. } => {
            format!("the credential plugin failed: {}", out.status)
        }
        AuthError::AuthExecParse(error) => {
            format!(
                "cannot parse the output of the credential plugin: {}",
                YamlMistake::of(error)
            )
        }
        AuthError::AuthExecSerialize(_) => {
            "cannot tell the credential plugin of the cluster".to_owned()
        }
        AuthError::ReadTokenFile(error, _) => {
            format!(
                "cannot read the file that tokenFile names: {}",
                of_system(error)
            )
        }
        AuthError::ParseTokenKey(error) => format!(
            "the output of the auth-provider's command is not JSON: line {}, column {}",
            error.line(),
            error.column()
        ),
        AuthError::MissingCommand => "exec has no command".to_owned(),
        AuthError::ExecMissingClusterInfo => "exec wants the cluster, and there is none".to_owned(),
        AuthError::NoValidNativeRootCA(_) => "the system has no root certificates".to_owned(),
        AuthError::AuthExec(_) => "the auth-provider gives no token".to_owned(),
    }
}

/// Returns the operating system's text of an error; one that a program made up may quote.
pub(crate) fn of_system(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(_) => error.to_string(),
        None => error.kind().to_string(),
    }
}
