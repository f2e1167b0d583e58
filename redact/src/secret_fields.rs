//! Fields that contain secrets by their place in a kind, and the `ConfigMap` values that are kept.
//!
//! Fields that a name announces, and secrets in texts, are the same in every kind and do not belong
//! here.

use crate::base64;
use crate::forms::{self, ValueForm, is_only_certificates};
use crate::mark::SENTENCE;
use crate::names::{self, NameClass};
use crate::path::PathPattern;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer as _};
use serde_json::value::RawValue;
use std::fmt;
use std::sync::LazyLock;

/// The resource type of an object. Unknown parts are empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ResourceType<'a> {
    /// The API group; empty for the core group.
    pub group: &'a str,
    /// The plural name.
    pub plural: &'a str,
    /// The kind.
    pub kind: &'a str,
}

impl<'a> ResourceType<'a> {
    /// Names a resource by group and plural.
    pub const fn new(group: &'a str, plural: &'a str) -> Self {
        Self {
            group,
            plural,
            kind: "",
        }
    }

    /// Adds the kind.
    #[must_use]
    pub const fn with_kind(mut self, kind: &'a str) -> Self {
        self.kind = kind;
        self
    }
}

/// The treatment of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldAction {
    /// Every value becomes a mark.
    Whole,
    /// As `Whole`; readers expect base64.
    Base64,
    /// Only an object is expected here; anything else becomes a mark.
    Map,
    /// A text becomes a mark; numbers and booleans stay.
    Text,
    /// User and password of a URL, and the values of its query.
    Url,
    /// The object's name, to which other objects refer.
    Name,
    /// A value of a `ConfigMap`: kept if the allow-list has it.
    Config,
    /// As `Config`, in base64.
    ConfigBase64,
}

impl FieldAction {
    fn named(word: &str) -> Option<Self> {
        Some(match word {
            "whole" => Self::Whole,
            "base64" => Self::Base64,
            "map" => Self::Map,
            "text" => Self::Text,
            "url" => Self::Url,
            "name" => Self::Name,
            "config" => Self::Config,
            "config-base64" => Self::ConfigBase64,
            _ => return None,
        })
    }

    /// Returns the encoding that readers of the field expect.
    pub(crate) const fn encoding(self) -> ValueEncoding {
        match self {
            Self::Base64 | Self::ConfigBase64 => ValueEncoding::Base64,
            _ => ValueEncoding::Plain,
        }
    }
}

/// Each section `[group/plural Kind]` has rows of rule, action, paths, and after `#` the reason. If
/// two rows match a field, the first one applies.
const TABLE: &str = "\
[/secrets Secret]
secret map data stringData # its values are its purpose
secret base64 data.* # its values are its purpose
secret whole stringData.* # its values are its purpose
[/configmaps ConfigMap]
config-map map data binaryData # kubeconfigs, cloud.conf, install-config, htpasswd
config-map config data.* # kubeconfigs, cloud.conf, install-config, htpasswd
config-map config-base64 binaryData.* # the same, in base64
[machineconfiguration.openshift.io/machineconfigs MachineConfig]
machine-config text spec.config.**.source spec.config.**.contents # files hold the pull secret
machine-config text spec.config.**.inline spec.config.**.httpHeaders.** # units hold tokens
machine-config text spec.config.passwd.** # keys and password hashes of users
[machineconfiguration.openshift.io/controllerconfigs ControllerConfig]
controller-config text spec.internalRegistryPullSecret # the pull secret
controller-config text spec.userCABundleData spec.userCA spec.additionalTrustBundle # whom administrators trust
controller-config text spec.cloudProviderConfig spec.pullSecret # the pull secret
proxy url spec.proxy.** # user and password in a URL
[config.openshift.io/proxies Proxy]
proxy url spec.httpProxy spec.httpsProxy status.httpProxy status.httpsProxy # user and password in a URL
[route.openshift.io/routes Route]
route-key text spec.tls.key spec.tls.externalCertificate.** # the key of a certificate
[imageregistry.operator.openshift.io/configs Config]
image-registry text spec.httpSecret spec.storage.** status.storage.** # a secret, and where images are stored
[oauth.openshift.io/oauthaccesstokens OAuthAccessToken]
oauth-name name metadata.name # the token's hash; in old versions the token
oauth-token text metadata.selfLink authorizeToken refreshToken redirectURI # tokens
[oauth.openshift.io/oauthauthorizetokens OAuthAuthorizeToken]
oauth-name name metadata.name # the token's hash; in old versions the token
oauth-token text metadata.selfLink state codeChallenge redirectURI # tokens
[oauth.openshift.io/useroauthaccesstokens UserOAuthAccessToken]
oauth-name name metadata.name # the token's hash; in old versions the token
oauth-token text metadata.selfLink authorizeToken refreshToken redirectURI # tokens
[oauth.openshift.io/oauthclients OAuthClient]
oauth-client text secret additionalSecrets.* redirectURIs.* # the client's secret, and where it can be used
[certificates.k8s.io/certificatesigningrequests CertificateSigningRequest]
signing-request text spec.request spec.username spec.extra.** # the identity that is requested, and by whom
[authentication.k8s.io/tokenreviews TokenReview]
token-review text spec.token status.user.** # a token and its user
[authentication.k8s.io/tokenrequests TokenRequest]
token-review text status.token # a token
[kubevirt.io/virtualmachines VirtualMachine]
machine-data text **.cloudInitNoCloud.** **.cloudInitConfigDrive.** **.sysprep.** # passwords of the first boot
[kubevirt.io/virtualmachineinstances VirtualMachineInstance]
machine-data text **.cloudInitNoCloud.** **.cloudInitConfigDrive.** **.sysprep.** # passwords of the first boot
[machine.openshift.io/machines Machine]
machine-data text spec.**.userData spec.**.userData.** # passwords of the first boot
[metal3.io/baremetalhosts BareMetalHost]
machine-data text spec.userData spec.networkData # passwords of the first boot
bare-metal text spec.bmc.address spec.bootMACAddress status.hardware.** # topology
[metal3.io/provisionings Provisioning]
bare-metal text spec.** # topology
[metal3.io/hardwaredata HardwareData]
bare-metal text spec.** # topology
[build.openshift.io/buildconfigs BuildConfig]
build-trigger text spec.triggers.*.*.secret # it starts builds
[build.openshift.io/builds Build]
build-trigger text spec.triggeredBy.**.secret # it starts builds
[template.openshift.io/templates Template]
template-parameter text parameters.*.value # parameters pass passwords
[template.openshift.io/templateinstances TemplateInstance]
template-parameter text spec.template.parameters.*.value # parameters pass passwords
[config.openshift.io/clusterversions ClusterVersion]
url url spec.upstream # tokens in URLs
[operator.openshift.io/imagecontentsourcepolicies ImageContentSourcePolicy]
url url spec.**.mirrors.* spec.**.source # tokens in URLs
[config.openshift.io/imagecontentpolicies ImageContentPolicy]
url url spec.**.mirrors.* spec.**.source # tokens in URLs
[config.openshift.io/imagedigestmirrorsets ImageDigestMirrorSet]
url url spec.**.mirrors.* spec.**.source # tokens in URLs
[config.openshift.io/imagetagmirrorsets ImageTagMirrorSet]
url url spec.**.mirrors.* spec.**.source # tokens in URLs
[admissionregistration.k8s.io/validatingwebhookconfigurations ValidatingWebhookConfiguration]
url url webhooks.*.clientConfig.url # tokens in URLs
[admissionregistration.k8s.io/mutatingwebhookconfigurations MutatingWebhookConfiguration]
url url webhooks.*.clientConfig.url # tokens in URLs
[apiextensions.k8s.io/customresourcedefinitions CustomResourceDefinition]
url url spec.conversion.**.clientConfig.url # tokens in URLs
";

/// A secret field of a kind.
#[derive(Debug)]
pub(crate) struct SecretField {
    /// The rule's name.
    pub(crate) rule: &'static str,
    resource: ResourceType<'static>,
    /// Where the field is.
    pub(crate) pattern: PathPattern,
    /// Its treatment.
    pub(crate) action: FieldAction,
}

static FIELDS: LazyLock<Vec<SecretField>> = LazyLock::new(|| {
    let mut fields = Vec::new();
    let mut resource = ResourceType::default();
    for line in TABLE.lines() {
        if let Some(head) = resource_of(line) {
            resource = head;
        } else {
            #[expect(
                clippy::expect_used,
                reason = "a row that is dropped would leave a secret in a reel; a test reads the constant table"
            )]
            fields.extend(fields_of(resource, line).expect("a row of the constant table"));
        }
    }
    fields
});

fn resource_of(line: &'static str) -> Option<ResourceType<'static>> {
    let head = line.strip_prefix('[')?.strip_suffix(']')?;
    let (name, kind) = head.split_once(' ')?;
    let (group, plural) = name.rsplit_once('/')?;
    Some(ResourceType::new(group, plural).with_kind(kind))
}

fn fields_of(resource: ResourceType<'static>, row: &'static str) -> Option<Vec<SecretField>> {
    let (row, _reason) = row.split_once(" # ")?;
    let mut words = row.split(' ');
    let (rule, action) = (words.next()?, FieldAction::named(words.next()?)?);
    let field = |path| {
        Some(SecretField {
            rule,
            resource,
            pattern: PathPattern::read(path).ok()?,
            action,
        })
    };
    words.map(field).collect()
}

/// Returns the secret fields of a resource's objects: by its plural or its kind, within its group.
pub(crate) fn of(resource: &ResourceType<'_>) -> Vec<&'static SecretField> {
    let fields = FIELDS.iter();
    fields
        .filter(|field| {
            let of = &field.resource;
            of.group == resource.group && (of.plural == resource.plural || of.kind == resource.kind)
        })
        .collect()
}

/// Returns the secret fields of objects inside other objects, of which only the kind is certain.
pub(crate) fn of_kind(kind: &str) -> Vec<&'static SecretField> {
    FIELDS
        .iter()
        .map(|field| (field, field.resource.kind))
        // The name of a kind does not determine the group.
        .filter(|(_, of)| of.eq_ignore_ascii_case(kind) && *of != "Config")
        .map(|(field, _)| field)
        .collect()
}

/// Returns the kind of the items of a list whose objects have secret fields: `Secret` of `SecretList`. Its items may
/// have no kind of their own.
pub(crate) fn kind_of_items(list: &str) -> Option<&str> {
    let (kind, end) = list.split_at_checked(list.len().checked_sub(4)?)?;
    (end.eq_ignore_ascii_case("list") && !of_kind(kind).is_empty()).then_some(kind)
}

/// Returns whether the names of a kind's objects are secrets.
pub(crate) fn has_secret_name(kind: &str) -> bool {
    of_kind(kind)
        .iter()
        .any(|field| field.action == FieldAction::Name)
}

/// Kept values of `ConfigMaps`: namespace, name, key or its beginning before `*`, and after `#` the
/// reason. Other `ConfigMaps` contain free configuration, often with a password.
const KEPT: &str = "\
kube-system extension-apiserver-authentication requestheader-* # names of headers and of trusted proxies
kube-system kube-apiserver-legacy-service-account-token-tracking since # a date
kube-system bootstrap status # the progress of an installation
openshift-config admin-acks * # the upgrades that an administrator agreed to
openshift-config-managed admin-gates * # what an administrator must agree to before an upgrade
openshift-machine-config-operator machine-config-osimageurl * # the release and its images
openshift-machine-config-operator coreos-bootimages * # the public list of boot images
openshift-etcd revision-status-* reason # why a revision of the static Pods began
openshift-kube-apiserver revision-status-* reason # the same
openshift-kube-controller-manager revision-status-* reason # the same
openshift-kube-scheduler revision-status-* reason # the same
";

/// The metadata that the rules for `ConfigMaps` and for names need, read before the object's values.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ObjectIdentity {
    #[serde(default)]
    metadata: IdentityMetadata,
}

#[derive(Debug, Default, Deserialize)]
struct IdentityMetadata {
    #[serde(default)]
    namespace: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    uid: String,
}

impl ObjectIdentity {
    /// Reads an object's metadata. An object that cannot be read has no identity, so none of its
    /// values is kept.
    pub(crate) fn read(object: &str) -> Self {
        serde_json::from_str(object).unwrap_or_default()
    }

    /// Returns the uid.
    pub(crate) fn uid(&self) -> &str {
        &self.metadata.uid
    }

    /// Returns whether a value of `data` is kept.
    pub(crate) fn keeps(&self, key: &str, value: &str) -> bool {
        self.lists(key) || is_only_certificates(value) || is_plain(key, value)
    }

    fn lists(&self, key: &str) -> bool {
        KEPT.lines().any(|row| {
            let mut patterns = row.split(' ');
            let of = [&self.metadata.namespace, &self.metadata.name, key];
            of.into_iter().all(|word| {
                let pattern = patterns.next();
                pattern.is_some_and(|pattern| match pattern.strip_suffix('*') {
                    Some(begin) => word.starts_with(begin),
                    None => word == pattern,
                })
            })
        })
    }
}

/// Words for states and levels, which are not secrets under any key of a `ConfigMap`.
#[rustfmt::skip]
const STATE_WORDS: [&str; 24] = [
    "abandoned", "always", "complete", "completed", "critical", "debug", "default", "disabled", "enabled", "error",
    "failed", "inprogress", "info", "json", "managed", "never", "normal", "pending", "removed", "running",
    "succeeded", "text", "unmanaged", "warning",
];

/// Returns whether a value is kept for its form: one that is not a secret's, or YAML of such values
/// only.
fn is_plain(key: &str, value: &str) -> bool {
    let class = names::class(key);
    let has_form = || match forms::form(value) {
        ValueForm::Nothing | ValueForm::Location | ValueForm::Name | ValueForm::Number => true,
        ValueForm::Word => STATE_WORDS
            .iter()
            .any(|word| value.trim().eq_ignore_ascii_case(word)),
        ValueForm::Other => false,
    };
    class <= NameClass::Related && (has_form() || forms::is_plain_yaml(value))
        || class > NameClass::Related && forms::is_kept(class, value) && has_form()
        || class == NameClass::Possible && forms::is_plain_yaml(value)
}

/// kubectl's annotation with the last applied object.
pub(crate) const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Returns whether a Secret contains a value that is neither empty nor a mark. `None` if it cannot
/// be read.
pub fn has_values(object: &[u8]) -> Option<bool> {
    let mut has = false;
    for (name, value) in fields(object)? {
        let value = value.get();
        has |= match name.to_ascii_lowercase().as_str() {
            "data" => holds(value, ValueEncoding::Base64),
            "stringdata" => holds(value, ValueEncoding::Plain),
            "metadata" => fields(value.as_bytes())?.into_iter().any(|(name, value)| {
                name.eq_ignore_ascii_case("annotations")
                    && fields(value.get().as_bytes()).is_some_and(|annotations| {
                        annotations.into_iter().any(|(key, value)| {
                            key.eq_ignore_ascii_case(LAST_APPLIED)
                                && is_value(value.get(), ValueEncoding::Plain)
                        })
                    })
            }),
            _ => false,
        };
    }
    Some(has)
}

/// Returns whether a map contains a value; anything but a map is a value itself.
fn holds(map: &str, encoding: ValueEncoding) -> bool {
    match fields(map.as_bytes()) {
        Some(values) => values
            .iter()
            .any(|(_, value)| is_value(value.get(), encoding)),
        None => map != "null",
    }
}

fn is_value(json: &str, encoding: ValueEncoding) -> bool {
    let mark = match encoding {
        ValueEncoding::Plain => SENTENCE.to_owned(),
        // The base64 of whole groups of three bytes does not depend on later bytes.
        ValueEncoding::Base64 => {
            let whole = SENTENCE.len() - SENTENCE.len() % 3;
            base64::encode(SENTENCE.as_bytes().get(..whole).unwrap_or_default())
        }
    };
    let is_marked = json
        .strip_prefix('"')
        .is_some_and(|text| text.starts_with(&mark));
    !matches!(json, "null" | "\"\"") && !is_marked
}

/// The encoding that readers of a field expect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueEncoding {
    Plain,
    Base64,
}

/// Lists the fields of a JSON object with their values' bytes, in order and with duplicates.
fn fields(object: &[u8]) -> Option<Vec<(String, &RawValue)>> {
    struct FieldsVisitor;

    impl<'a> Visitor<'a> for FieldsVisitor {
        type Value = Vec<(String, &'a RawValue)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<Self::Value, M::Error> {
            let mut fields = Vec::new();
            while let Some(field) = map.next_entry()? {
                fields.push(field);
            }
            Ok(fields)
        }
    }

    let mut deserializer = serde_json::Deserializer::from_slice(object);
    let fields = deserializer.deserialize_map(FieldsVisitor).ok()?;
    deserializer.end().ok()?;
    Some(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_be_read_and_says_why() {
        let is_head = |line: &&str| line.starts_with('[');
        let paths = TABLE.lines().filter(|line| !is_head(line)).map(|row| {
            let (row, reason) = row.split_once(" # ").expect(row);
            assert!(!reason.is_empty(), "{row}");
            row.split(' ').count() - 2
        });
        assert_eq!(FIELDS.len(), paths.sum::<usize>());
        for line in TABLE.lines().filter(is_head) {
            let resource = resource_of(line).expect(line);
            assert!(
                !resource.plural.is_empty() && !resource.kind.is_empty(),
                "{line}"
            );
            assert!(!of(&resource).is_empty(), "{line}");
        }
    }

    #[test]
    fn places_are_found_by_plural_or_kind_within_the_group() {
        let count = |subject: ResourceType<'_>| of(&subject).len();
        assert_eq!(count(ResourceType::new("", "secrets")), 4);
        assert_eq!(count(ResourceType::new("", "").with_kind("Secret")), 4);
        assert_eq!(count(ResourceType::new("other.io", "secrets")), 0);
        assert_eq!(count(ResourceType::new("", "pods").with_kind("Pod")), 0);
        assert_eq!(of_kind("secret").len(), 4);
        assert!(of_kind("Config").is_empty());
    }

    #[test]
    fn only_what_is_listed_is_kept() {
        let of = |namespace: &str, name: &str| {
            ObjectIdentity::read(&format!(
                r#"{{"metadata":{{"namespace":"{namespace}","name":"{name}"}}}}"#
            ))
        };
        let gates = of("openshift-config-managed", "admin-gates");
        assert!(gates.keeps("ack-4.18", "a text"));
        assert!(!of("default", "admin-gates").keeps("ack-4.18", "a text"));
        let headers = of("kube-system", "extension-apiserver-authentication");
        assert!(headers.keeps("requestheader-allowed-names", "[]"));
        assert!(!headers.keeps("client-ca-file", "no certificate"));
        let certificate = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
        assert!(ObjectIdentity::read("{").keeps("ca.crt", certificate));
        assert!(!ObjectIdentity::read("{").keeps("ca.crt", "x"));
        for row in KEPT.lines() {
            let (row, reason) = row.split_once(" # ").expect(row);
            assert!(!reason.is_empty() && row.split(' ').count() == 3, "{row}");
        }
    }
}
