//! Owns the table of fields that hold secrets by their place: of which kind, where, and why. Refuses
//! fields that tell it by their name, and texts: those are the same in every kind.

use crate::path::Pattern;
use crate::subject::Subject;
use std::sync::LazyLock;

/// What is done with a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Whatever stands there becomes a mark.
    Whole,
    /// The same; readers expect base64.
    Base64,
    /// Only fields may stand there; anything else becomes a mark.
    Map,
    /// A text becomes a mark; numbers and truth values stay.
    Text,
    /// Of a URL, user and password and the values of its query.
    Url,
    /// The object's name, which others refer to.
    Name,
    /// A value of a `ConfigMap`: kept if the allow-list says so.
    Config,
    /// The same, in base64.
    ConfigBase64,
}

/// A row: rule, group, plural, kind, place, action, reason.
type Row = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static [&'static str],
    Action,
    &'static str,
);

const MCO: &str = "machineconfiguration.openshift.io";
const OAUTH: &str = "oauth.openshift.io";

/// The rows; `*` is every group.
const ROWS: &[Row] = &[
    (
        "secret",
        "",
        "secrets",
        "Secret",
        &["data", "stringData"],
        Action::Map,
        "its values are what it is for",
    ),
    (
        "secret",
        "",
        "secrets",
        "Secret",
        &["data.*"],
        Action::Base64,
        "its values are what it is for",
    ),
    (
        "secret",
        "",
        "secrets",
        "Secret",
        &["stringData.*"],
        Action::Whole,
        "its values are what it is for",
    ),
    (
        "config-map",
        "",
        "configmaps",
        "ConfigMap",
        &["data", "binaryData"],
        Action::Map,
        "kubeconfigs, cloud.conf, install-config, htpasswd",
    ),
    (
        "config-map",
        "",
        "configmaps",
        "ConfigMap",
        &["data.*"],
        Action::Config,
        "kubeconfigs, cloud.conf, install-config, htpasswd",
    ),
    (
        "config-map",
        "",
        "configmaps",
        "ConfigMap",
        &["binaryData.*"],
        Action::ConfigBase64,
        "the same, in base64",
    ),
    (
        "machine-config",
        MCO,
        "machineconfigs",
        "MachineConfig",
        &[
            "spec.config.**.source",
            "spec.config.**.contents",
            "spec.config.**.inline",
            "spec.config.**.httpHeaders.**",
            "spec.config.passwd.**",
        ],
        Action::Text,
        "files hold the pull secret, units tokens; keys and hashes of users",
    ),
    (
        "controller-config",
        MCO,
        "controllerconfigs",
        "ControllerConfig",
        &[
            "spec.internalRegistryPullSecret",
            "spec.userCABundleData",
            "spec.userCA",
            "spec.additionalTrustBundle",
            "spec.cloudProviderConfig",
            "spec.pullSecret",
        ],
        Action::Text,
        "the pull secret; what administrators trust",
    ),
    (
        "proxy",
        MCO,
        "controllerconfigs",
        "ControllerConfig",
        &["spec.proxy.**"],
        Action::Url,
        "user and password in a URL",
    ),
    (
        "proxy",
        "config.openshift.io",
        "proxies",
        "Proxy",
        &[
            "spec.httpProxy",
            "spec.httpsProxy",
            "status.httpProxy",
            "status.httpsProxy",
        ],
        Action::Url,
        "user and password in a URL",
    ),
    (
        "route-key",
        "route.openshift.io",
        "routes",
        "Route",
        &["spec.tls.key", "spec.tls.externalCertificate.**"],
        Action::Text,
        "the key of a certificate",
    ),
    (
        "image-registry",
        "imageregistry.operator.openshift.io",
        "configs",
        "Config",
        &["spec.httpSecret", "spec.storage.**", "status.storage.**"],
        Action::Text,
        "a secret, and where images are stored",
    ),
    (
        "oauth-name",
        OAUTH,
        "oauthaccesstokens",
        "OAuthAccessToken",
        &["metadata.name"],
        Action::Name,
        "it is the token's hash; in old versions the token",
    ),
    (
        "oauth-name",
        OAUTH,
        "oauthauthorizetokens",
        "OAuthAuthorizeToken",
        &["metadata.name"],
        Action::Name,
        "it is the token's hash; in old versions the token",
    ),
    (
        "oauth-name",
        OAUTH,
        "useroauthaccesstokens",
        "UserOAuthAccessToken",
        &["metadata.name"],
        Action::Name,
        "it is the token's hash; in old versions the token",
    ),
    (
        "oauth-token",
        OAUTH,
        "oauthaccesstokens",
        "OAuthAccessToken",
        &[
            "metadata.selfLink",
            "authorizeToken",
            "refreshToken",
            "redirectURI",
        ],
        Action::Text,
        "tokens",
    ),
    (
        "oauth-token",
        OAUTH,
        "oauthauthorizetokens",
        "OAuthAuthorizeToken",
        &["metadata.selfLink", "state", "codeChallenge", "redirectURI"],
        Action::Text,
        "tokens",
    ),
    (
        "oauth-token",
        OAUTH,
        "useroauthaccesstokens",
        "UserOAuthAccessToken",
        &[
            "metadata.selfLink",
            "authorizeToken",
            "refreshToken",
            "redirectURI",
        ],
        Action::Text,
        "tokens",
    ),
    (
        "oauth-client",
        OAUTH,
        "oauthclients",
        "OAuthClient",
        &["secret", "additionalSecrets.*", "redirectURIs.*"],
        Action::Text,
        "the client's secret, and where it can be used",
    ),
    (
        "signing-request",
        "certificates.k8s.io",
        "certificatesigningrequests",
        "CertificateSigningRequest",
        &["spec.request", "spec.username", "spec.extra.**"],
        Action::Text,
        "who asks to be whom",
    ),
    (
        "token-review",
        "authentication.k8s.io",
        "tokenreviews",
        "TokenReview",
        &["spec.token", "status.user.**"],
        Action::Text,
        "a token and whose it is",
    ),
    (
        "token-review",
        "authentication.k8s.io",
        "tokenrequests",
        "TokenRequest",
        &["status.token"],
        Action::Text,
        "a token",
    ),
    (
        "machine-data",
        "kubevirt.io",
        "virtualmachines",
        "VirtualMachine",
        &[
            "**.cloudInitNoCloud.**",
            "**.cloudInitConfigDrive.**",
            "**.sysprep.**",
        ],
        Action::Text,
        "passwords of a machine's first start",
    ),
    (
        "machine-data",
        "kubevirt.io",
        "virtualmachineinstances",
        "VirtualMachineInstance",
        &[
            "**.cloudInitNoCloud.**",
            "**.cloudInitConfigDrive.**",
            "**.sysprep.**",
        ],
        Action::Text,
        "passwords of a machine's first start",
    ),
    (
        "machine-data",
        "machine.openshift.io",
        "machines",
        "Machine",
        &["spec.**.userData", "spec.**.userData.**"],
        Action::Text,
        "passwords of a machine's first start",
    ),
    (
        "machine-data",
        "metal3.io",
        "baremetalhosts",
        "BareMetalHost",
        &["spec.userData", "spec.networkData"],
        Action::Text,
        "passwords of a machine's first start",
    ),
    (
        "bare-metal",
        "metal3.io",
        "baremetalhosts",
        "BareMetalHost",
        &[
            "spec.bmc.address",
            "spec.bootMACAddress",
            "status.hardware.**",
        ],
        Action::Text,
        "topology",
    ),
    (
        "bare-metal",
        "metal3.io",
        "provisionings",
        "Provisioning",
        &["spec.**"],
        Action::Text,
        "topology",
    ),
    (
        "bare-metal",
        "metal3.io",
        "hardwaredata",
        "HardwareData",
        &["spec.**"],
        Action::Text,
        "topology",
    ),
    (
        "build-trigger",
        "build.openshift.io",
        "buildconfigs",
        "BuildConfig",
        &["spec.triggers.*.*.secret"],
        Action::Text,
        "who knows it starts builds",
    ),
    (
        "build-trigger",
        "build.openshift.io",
        "builds",
        "Build",
        &["spec.triggeredBy.**.secret"],
        Action::Text,
        "who knows it starts builds",
    ),
    (
        "template-parameter",
        "template.openshift.io",
        "templates",
        "Template",
        &["parameters.*.value"],
        Action::Text,
        "passwords are passed so",
    ),
    (
        "template-parameter",
        "template.openshift.io",
        "templateinstances",
        "TemplateInstance",
        &["spec.template.parameters.*.value"],
        Action::Text,
        "passwords are passed so",
    ),
    (
        "url",
        "config.openshift.io",
        "clusterversions",
        "ClusterVersion",
        &["spec.upstream"],
        Action::Url,
        "tokens in URLs",
    ),
    (
        "url",
        "operator.openshift.io",
        "imagecontentsourcepolicies",
        "ImageContentSourcePolicy",
        &["spec.**.mirrors.*", "spec.**.source"],
        Action::Url,
        "tokens in URLs",
    ),
    (
        "url",
        "config.openshift.io",
        "imagecontentpolicies",
        "ImageContentPolicy",
        &["spec.**.mirrors.*", "spec.**.source"],
        Action::Url,
        "tokens in URLs",
    ),
    (
        "url",
        "config.openshift.io",
        "imagedigestmirrorsets",
        "ImageDigestMirrorSet",
        &["spec.**.mirrors.*", "spec.**.source"],
        Action::Url,
        "tokens in URLs",
    ),
    (
        "url",
        "config.openshift.io",
        "imagetagmirrorsets",
        "ImageTagMirrorSet",
        &["spec.**.mirrors.*", "spec.**.source"],
        Action::Url,
        "tokens in URLs",
    ),
    (
        "url",
        "admissionregistration.k8s.io",
        "validatingwebhookconfigurations",
        "ValidatingWebhookConfiguration",
        &["webhooks.*.clientConfig.url"],
        Action::Url,
        "tokens in URLs",
    ),
    (
        "url",
        "admissionregistration.k8s.io",
        "mutatingwebhookconfigurations",
        "MutatingWebhookConfiguration",
        &["webhooks.*.clientConfig.url"],
        Action::Url,
        "tokens in URLs",
    ),
    (
        "url",
        "apiextensions.k8s.io",
        "customresourcedefinitions",
        "CustomResourceDefinition",
        &["spec.conversion.**.clientConfig.url"],
        Action::Url,
        "tokens in URLs",
    ),
];

/// A place of a kind and what is done there.
#[derive(Debug)]
pub(crate) struct Place {
    /// The rule's name.
    pub(crate) rule: &'static str,
    group: &'static str,
    plural: &'static str,
    kind: &'static str,
    /// Where.
    pub(crate) pattern: Pattern,
    /// What is done.
    pub(crate) action: Action,
}

static PLACES: LazyLock<Vec<Place>> = LazyLock::new(|| {
    let mut places = Vec::new();
    for (rule, group, plural, kind, paths, action, _) in ROWS {
        for path in *paths {
            if let Ok(pattern) = Pattern::read(path) {
                places.push(Place {
                    rule,
                    group,
                    plural,
                    kind,
                    pattern,
                    action: *action,
                });
            }
        }
    }
    places
});

/// Gives the places of a resource's objects: by its plural or its kind, within its group.
pub(crate) fn of(subject: &Subject<'_>) -> Vec<&'static Place> {
    PLACES
        .iter()
        .filter(|place| {
            place.group == subject.group
                && (place.plural == subject.plural || place.kind == subject.kind)
        })
        .collect()
}

/// Gives the places of objects that stand inside others, where only their kind is known for certain.
pub(crate) fn of_kind(kind: &str) -> Vec<&'static Place> {
    PLACES
        .iter()
        .filter(|place| place.kind.eq_ignore_ascii_case(kind) && place.kind != "Config")
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_be_read_and_says_why() {
        let paths: usize = ROWS.iter().map(|row| row.4.len()).sum();
        assert_eq!(PLACES.len(), paths);
        for (rule, _, plural, kind, _, _, why) in ROWS {
            assert!(!rule.is_empty() && !plural.is_empty() && !kind.is_empty() && !why.is_empty());
        }
    }

    #[test]
    fn places_are_found_by_plural_or_kind_within_the_group() {
        let count = |subject: Subject<'_>| of(&subject).len();
        assert_eq!(count(Subject::new("", "secrets")), 4);
        assert_eq!(count(Subject::new("", "").with_kind("Secret")), 4);
        assert_eq!(count(Subject::new("other.io", "secrets")), 0);
        assert_eq!(count(Subject::new("", "pods").with_kind("Pod")), 0);
        assert_eq!(of_kind("secret").len(), 4);
        assert!(of_kind("Config").is_empty());
    }
}
