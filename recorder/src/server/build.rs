//! Owns how a kube client is made of a configuration: TCP keepalive, no connection reuse, no retries,
//! no compression. Refuses to read a kubeconfig: `lifecycle` does.

use http::Request;
use hyper_util::client::legacy::Builder;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use kube::client::{Body, ClientBuilder, ConfigExt as _};
use kube::{Client, Config};
use std::error::Error;
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
    if config.proxy_url.is_some() {
        return Client::try_from(config);
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
    Ok(match config.auth_layer()? {
        Some(auth) => builder
            .with_layer(&auth)
            .with_layer(&config.base_uri_layer())
            .build(),
        None => builder.with_layer(&config.base_uri_layer()).build(),
    })
}

type BoxError = Box<dyn Error + Send + Sync>;

/// Gives a service the error type that the authorisation layer asks for.
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
        let answer = self.0.call(request);
        Box::pin(async move { answer.await.map_err(Into::into) })
    }
}
