//! What is said of an error of the client library whose own words may quote a credential: a line of a
//! key, the address of a proxy with its password, what a credential plugin printed.
//!
//! Every error type of the library that is made of a kubeconfig, of the files it names or of a plugin
//! has a row here; their own texts are never used where they show a value.

use kube::client::{AuthError, RustlsTlsError};
use kube::config::{InClusterError, KubeconfigError, LoadDataError};
use kubereel_redact::YamlMistake;
use std::error::Error;
use std::io;

/// Gives words for an error that may quote; `None` if its own do not.
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

/// Tells whether credentials could not be had.
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

/// Gives the system's own words for an error; one that a program made up may quote.
pub(crate) fn of_system(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(_) => error.to_string(),
        None => error.kind().to_string(),
    }
}
