//! Owns how a kube client is made of a configuration: TCP keepalive, no connection reuse, no retries,
//! no compression. Refuses to read a kubeconfig: `lifecycle` does.

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue, Request, Response};
use hyper_util::client::legacy::Builder;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use kube::client::middleware::AuthLayer;
use kube::client::{AuthError, Body, ClientBuilder, ConfigExt as _};
use kube::{Client, Config};
use kubereel_redact::KnownCredentials;
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tower_service::Service;

/// How long a TCP connection may take to come about.
const CONNECT_SECS: u64 = 10;

/// A silent connection is probed after this long, and then this often.
const KEEPALIVE_SECS: u64 = 20;

/// Sent bytes that nobody acknowledges end a connection after this long.
#[cfg(target_os = "linux")]
const USER_TIMEOUT_SECS: u64 = 30;

/// Makes a client.
///
/// Behind a proxy kube's own connector is used: it knows proxies, but not keepalive.
pub(crate) fn client(mut config: Config) -> Result<Client, kube::Error> {
    // A retry that nobody sees hides an outage, and a compressed stream loses events.
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
    let https = config.rustls_https_connector_with_connector(http)?;
    let transport = Builder::new(TokioExecutor::new())
        // A new connection may reach another server, an old one cannot.
        .pool_max_idle_per_host(0)
        .build::<_, Body>(https);
    let builder = ClientBuilder::new(BoxErrors(transport), config.default_namespace.clone())
        .with_layer(&config.extra_headers_layer()?);
    Ok(match auth_layer(&config)? {
        Some(auth) => builder
            .with_layer(&auth)
            .with_layer(&config.base_uri_layer())
            .build(),
        None => builder.with_layer(&config.base_uri_layer()).build(),
    })
}

/// Makes a client behind a proxy. Authorisation is put around kube's own stack, so that its headers are
/// seen as without a proxy.
fn proxied(mut config: Config) -> Result<Client, kube::Error> {
    let Some(auth) = auth_layer(&config)? else {
        // A certificate, which a plugin may give, or nothing.
        return Client::try_from(config);
    };
    let user = &mut config.auth_info;
    (user.token, user.token_file, user.password) = (None, None, None);
    (user.exec, user.auth_provider) = (None, None);
    let namespace = config.default_namespace.clone();
    let inner = BoxErrors(Inner(Client::try_from(config)?));
    Ok(ClientBuilder::new(inner, namespace)
        .with_layer(&auth)
        .build())
}

/// Makes what authorises requests. The library panics on a token that no header can hold, as a damaged file
/// or a plugin may give it, and that would end the following of the kubeconfig.
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

/// Remembers what a request is authorised by: the token may come from a plugin, from a file that is read
/// again, or from the pod's service account.
fn remember(headers: &HeaderMap) {
    let value = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes);
    if let Some(value) = value {
        let credential = value.splitn(2, |byte| *byte == b' ').last();
        KnownCredentials::of_process().remember(credential.unwrap_or(value));
    }
}

/// Gives a service the error type that the authorisation layer asks for, and remembers what that layer
/// adds.
#[derive(Clone, Debug)]
struct BoxErrors<S>(S);

impl<S> Service<Request<Body>> for BoxErrors<S>
where
    S: Service<Request<Body>>,
    S::Error: Into<BoxError>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        remember(request.headers());
        let answer = self.0.call(request);
        Box::pin(async move { answer.await.map_err(Into::into) })
    }
}
