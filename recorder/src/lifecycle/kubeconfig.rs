//! Finds the kubeconfig: the candidate files, the content of each and of the files that it names, and
//! the client configuration of each.
//!
//! Invariants:
//! * Missing, empty and half-written files are results, not errors.
//! * An error names place and kind: the message of a parser quotes the file, and the file contains
//!   credentials.
//! * A file is read once: the hashed bytes are the parsed bytes.
//! * Every value of a user entry is a credential unless its field is known to be public: an unknown
//!   field may come from a newer client or a typing error. The client remembers credentials of a
//!   plugin or of the pod's service account from the header of each request.

use crate::lifecycle::proxy_conf::ProxyConf;
use crate::options::{JobPlaces, KubeconfigSource};
use crate::server::{chain, of_system};
use kube::Config;
use kube::config::{AuthInfo, ExecInteractiveMode, KubeConfigOptions, Kubeconfig};
use kubereel_redact::KnownCredentials;
use serde_json::Value;
use std::fs::File;
use std::hash::{BuildHasher as _, Hash as _, Hasher as _, RandomState};
use std::io::{self, IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

/// The longest file that is read, in bytes: four times the largest Secret, from which the files of
/// a CI job are mounted.
const FILE_BYTES: u64 = 4 * 1024 * 1024;

/// The current state of the candidate files.
#[derive(Debug)]
pub(crate) enum KubeconfigSight {
    /// No file.
    Missing {
        /// Where it was expected.
        path: String,
    },
    /// A file that does not name a cluster.
    Unusable {
        /// Its path.
        path: String,
        /// The error.
        error: String,
        /// The hash of everything that was read.
        hash: u64,
    },
    /// Client configurations.
    Usable {
        /// At least one; the preferred one first.
        candidates: Vec<KubeconfigCandidate>,
        /// The hash of everything that was read.
        hash: u64,
        /// Places with precedence over all candidates that cannot be used: path and error.
        set_aside: Vec<(String, String)>,
    },
}

/// A kubeconfig that can be parsed. Whether its server answers is not known.
#[derive(Clone, Debug)]
pub(crate) struct KubeconfigCandidate {
    /// Its path.
    pub(crate) path: String,
    /// The client configuration.
    pub(crate) config: Box<Config>,
    /// The hash of its own content and of the files that it names.
    pub(crate) hash: u64,
}

impl KubeconfigSight {
    fn of_one(path: String, config: Config, hash: u64) -> Self {
        let config = Box::new(config);
        Self::Usable {
            candidates: vec![KubeconfigCandidate { path, config, hash }],
            hash,
            set_aside: Vec::new(),
        }
    }
}

/// Reads the candidate files repeatedly.
#[derive(Clone, Debug)]
pub(crate) struct Lookout {
    source: KubeconfigSource,
    context: Option<String>,
    hasher: RandomState,
}

/// Where a pod has its service account.
const IN_CLUSTER: &str = "the pod's service account";

impl Lookout {
    /// Creates a reader.
    pub(crate) fn new(source: KubeconfigSource, context: Option<String>) -> Self {
        Self {
            source,
            context,
            hasher: RandomState::new(),
        }
    }

    /// Returns whether there may be several candidates, of which the first that works is used.
    pub(crate) const fn has_choice(&self) -> bool {
        matches!(self.source, KubeconfigSource::Preferred(_))
    }

    /// Reads the current state. Returns nothing if everything still has the hash `known`.
    pub(crate) async fn look(&self, known: Option<u64>) -> Option<KubeconfigSight> {
        remember_environment();
        let files = match &self.source {
            KubeconfigSource::Files(files) => files.clone(),
            KubeconfigSource::Usual => {
                let usual = usual_file();
                if !usual.exists() && is_in_pod() {
                    return self.look_in_pod(known);
                }
                vec![usual]
            }
            KubeconfigSource::Preferred(places) => return self.look_through(places, known).await,
        };
        self.look_at(&files, known, None).await
    }

    fn look_in_pod(&self, known: Option<u64>) -> Option<KubeconfigSight> {
        let path = IN_CLUSTER.to_owned();
        // The client itself reads token and CA again.
        let hash = self.hasher.hash_one(IN_CLUSTER);
        if known == Some(hash) {
            return None;
        }
        Some(match Config::incluster() {
            Ok(config) => KubeconfigSight::of_one(path, config, hash),
            Err(error) => KubeconfigSight::Unusable {
                path,
                error: chain(&error),
                hash,
            },
        })
    }

    /// Takes every candidate that can be parsed.
    async fn look_through(
        &self,
        places: &JobPlaces,
        known: Option<u64>,
    ) -> Option<KubeconfigSight> {
        let script = places.proxy_conf.as_deref();
        let script = script.and_then(|path| read(path).ok().map(|text| (path, text)));
        let mut hasher = self.hasher.build_hasher();
        script.as_ref().map(|(_, text)| text).hash(&mut hasher);
        let conf = script.as_ref().map(|(path, text)| {
            let conf = ProxyConf::parse(&String::from_utf8_lossy(text));
            (*path, conf)
        });
        let script_hash = hasher.finish();
        let mut paths = Vec::new();
        let mut broken = Vec::new();
        let mut set_aside = Vec::new();
        let mut candidates: Vec<KubeconfigCandidate> = Vec::new();
        for files in &places.kubeconfigs {
            match self.look_at(files, None, conf.as_ref()).await {
                None => {}
                Some(KubeconfigSight::Missing { path }) => {
                    0_u8.hash(&mut hasher);
                    paths.push(path);
                }
                Some(KubeconfigSight::Unusable { path, error, hash }) => {
                    hash.hash(&mut hasher);
                    broken.push((path, error));
                }
                Some(KubeconfigSight::Usable {
                    candidates: found,
                    hash,
                    ..
                }) => {
                    hash.hash(&mut hasher);
                    if candidates.is_empty() {
                        set_aside = std::mem::take(&mut broken);
                    }
                    candidates.extend(found.into_iter().map(|candidate| KubeconfigCandidate {
                        // The script changes the configuration too.
                        hash: self.hasher.hash_one((script_hash, candidate.hash)),
                        ..candidate
                    }));
                }
            }
        }
        let hash = hasher.finish();
        if !candidates.is_empty() {
            return (known != Some(hash)).then_some(KubeconfigSight::Usable {
                candidates,
                hash,
                set_aside,
            });
        }
        match broken.into_iter().next() {
            None => Some(KubeconfigSight::Missing {
                path: paths.join(", "),
            }),
            Some(_) if known == Some(hash) => None,
            Some((path, error)) => Some(KubeconfigSight::Unusable { path, error, hash }),
        }
    }

    async fn look_at(
        &self,
        files: &[PathBuf],
        known: Option<u64>,
        conf: Option<&(&Path, ProxyConf)>,
    ) -> Option<KubeconfigSight> {
        let path = spell(files);
        let present: Vec<&PathBuf> = files.iter().filter(|file| file.exists()).collect();
        if present.is_empty() {
            return Some(KubeconfigSight::Missing { path });
        }
        let texts: Vec<(&PathBuf, io::Result<Vec<u8>>)> =
            present.into_iter().map(|file| (file, read(file))).collect();
        let mut hasher = self.hasher.build_hasher();
        for (_, text) in &texts {
            text.as_ref().ok().hash(&mut hasher);
        }
        let parsed = merge(&texts);
        // A replaced certificate counts as a change too.
        for (file, is_secret) in parsed.as_ref().map(named_files).unwrap_or_default() {
            let bytes = read(Path::new(file)).ok();
            if let (Some(bytes), true) = (&bytes, is_secret) {
                KnownCredentials::of_process().remember(bytes);
            }
            bytes.hash(&mut hasher);
        }
        let hash = hasher.finish();
        if known == Some(hash) {
            return None;
        }
        let kubeconfig = match parsed {
            Ok(kubeconfig) => kubeconfig,
            Err(error) => return Some(KubeconfigSight::Unusable { path, error, hash }),
        };
        let has_proxy = has_proxy(&kubeconfig);
        let options = KubeConfigOptions {
            context: self.context.clone(),
            ..KubeConfigOptions::default()
        };
        let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
        let config = config.map_err(|error| chain(&error));
        let led = config.and_then(|config| match conf {
            Some((script, conf)) if !has_proxy => lead(config, conf, script, path.clone()),
            _ => Ok((config, path.clone())),
        });
        Some(match led {
            Ok((config, path)) => KubeconfigSight::of_one(path, config, hash),
            Err(error) => KubeconfigSight::Unusable { path, error, hash },
        })
    }
}

/// Adds the CI job's proxy to a configuration, if there is one, and reports it.
fn lead(
    mut config: Config,
    conf: &ProxyConf,
    script: &Path,
    path: String,
) -> Result<(Config, String), String> {
    let proxy = conf
        .before(&config.cluster_url)
        .map_err(|why| format!("{why}: {}", script.display()))?;
    let Some(proxy) = proxy else {
        return Ok((config, path));
    };
    config.proxy_url = Some(proxy);
    Ok((config, format!("{path}, proxy of {}", script.display())))
}

/// Returns whether the kubeconfig itself names a proxy, which has precedence.
fn has_proxy(kubeconfig: &Kubeconfig) -> bool {
    let clusters = kubeconfig.clusters.iter();
    let mut clusters = clusters.filter_map(|named| named.cluster.as_ref());
    clusters.any(|cluster| cluster.proxy_url.is_some())
}

fn merge(files: &[(&PathBuf, io::Result<Vec<u8>>)]) -> Result<Kubeconfig, String> {
    let mut merged: Option<Kubeconfig> = None;
    for (file, bytes) in files {
        let bytes = bytes.as_ref().map_err(of_system)?;
        if bytes.iter().all(u8::is_ascii_whitespace) {
            // What is said of a single file names it anyway.
            return Err(match files {
                [_] => "the file is empty".to_owned(),
                _ => format!("the file is empty: {}", file.display()),
            });
        }
        let next = parse(file, bytes)
            .inspect_err(|_| KnownCredentials::of_process().remember_unparsable(bytes))?;
        merged = Some(match merged {
            None => next,
            Some(first) => first.merge(next).map_err(|error| chain(&error))?,
        });
    }
    merged.ok_or_else(|| "no file".to_owned())
}

/// Parses a kubeconfig, remembers its credentials, and resolves its relative paths against its
/// folder.
fn parse(file: &Path, bytes: &[u8]) -> Result<Kubeconfig, String> {
    let text = decode(bytes).ok_or("cannot parse: not UTF-8")?;
    let mut kubeconfig = Kubeconfig::from_yaml(&text).map_err(|error| chain(&error))?;
    remember(&kubeconfig);
    let folder = file.parent().unwrap_or(Path::new(""));
    let resolve = |path: &mut Option<String>| {
        if let Some(path) = path
            && let Some(joined) = folder.join(path.as_str()).to_str()
        {
            joined.clone_into(path);
        }
    };
    for cluster in kubeconfig
        .clusters
        .iter_mut()
        .flat_map(|named| &mut named.cluster)
    {
        resolve(&mut cluster.certificate_authority);
    }
    for user in kubeconfig
        .auth_infos
        .iter_mut()
        .flat_map(|named| &mut named.auth_info)
    {
        resolve(&mut user.client_certificate);
        resolve(&mut user.client_key);
        resolve(&mut user.token_file);
        let Some(exec) = &mut user.exec else {
            continue;
        };
        // A bare name is searched in PATH.
        let is_path = |command: &String| command.contains(std::path::MAIN_SEPARATOR);
        if exec.command.as_ref().is_some_and(is_path) {
            resolve(&mut exec.command);
        }
        // The output of a plugin must not reach the log, which CI publishes. It may prompt only on
        // a terminal.
        if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
            exec.interactive_mode = Some(ExecInteractiveMode::Never);
        }
    }
    Ok(kubeconfig)
}

/// Decodes UTF-8, or UTF-16 with a byte order mark, as Windows writes it.
fn decode(bytes: &[u8]) -> Option<String> {
    let wide = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units = bytes.chunks(2).map(|pair| pair.try_into().map(unit).ok());
        String::from_utf16(&units.collect::<Option<Vec<u16>>>()?).ok()
    };
    match bytes {
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8(rest.to_vec()).ok(),
        bytes => String::from_utf8(bytes.to_vec()).ok(),
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?
        .take(FILE_BYTES + 1)
        .read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|len| len > FILE_BYTES) {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}

/// Returns the files that a kubeconfig names, and whether each holds a credential.
fn named_files(kubeconfig: &Kubeconfig) -> Vec<(&str, bool)> {
    let clusters = kubeconfig.clusters.iter();
    let clusters = clusters.filter_map(|named| named.cluster.as_ref());
    let users = kubeconfig.auth_infos.iter();
    let users = users.filter_map(|named| named.auth_info.as_ref());
    let mut files: Vec<(&str, bool)> = clusters
        .filter_map(|cluster| cluster.certificate_authority.as_deref())
        .map(|file| (file, false))
        .collect();
    for user in users {
        let public = user.client_certificate.as_deref();
        files.extend(public.map(|file| (file, false)));
        let secret = [&user.client_key, &user.token_file].into_iter().flatten();
        files.extend(secret.map(|file| (file.as_str(), true)));
    }
    files
}

/// Returns the names of the contexts in a kubeconfig; none if it cannot be read.
pub fn context_names(source: &KubeconfigSource) -> Vec<String> {
    let files = match source {
        KubeconfigSource::Files(files) => files.clone(),
        KubeconfigSource::Usual => vec![usual_file()],
        // A job names no context.
        KubeconfigSource::Preferred(_) => Vec::new(),
    };
    let present = files.iter().filter(|file| file.exists());
    let texts: Vec<(&PathBuf, io::Result<Vec<u8>>)> =
        present.map(|file| (file, read(file))).collect();
    let contexts = merge(&texts).map_or_else(|_| Vec::new(), |found| found.contexts);
    contexts.into_iter().map(|context| context.name).collect()
}

fn usual_file() -> PathBuf {
    let home = std::env::home_dir().unwrap_or_default();
    home.join(".kube").join("config")
}

fn is_in_pod() -> bool {
    std::env::var_os("KUBERNETES_SERVICE_HOST").is_some()
        && Path::new("/var/run/secrets/kubernetes.io/serviceaccount/token").exists()
}

fn spell(files: &[PathBuf]) -> String {
    let names: Vec<String> = files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    names.join(", ")
}

/// Public fields of a user: names of users, groups and files, and certificates.
const PUBLIC_OF_USER: [&str; 9] = [
    "username",
    "tokenFile",
    "client-certificate",
    "client-certificate-data",
    "as",
    "as-uid",
    "as-groups",
    "as-user-extra",
    "extensions",
];

/// Public fields of an authentication provider.
const PUBLIC_OF_PROVIDER: [&str; 7] = [
    "cmd-path",
    "expiry",
    "expiry-key",
    "token-key",
    "idp-issuer-url",
    "client-id",
    "idp-certificate-authority",
];

/// Public fields of a credential plugin; its arguments and environment are not public.
const PUBLIC_OF_EXEC: [&str; 6] = [
    "apiVersion",
    "command",
    "drop_env",
    "interactiveMode",
    "installHint",
    "provideClusterInfo",
];

/// Variables that may contain the address of a proxy.
const PROXY_VARIABLES: [&str; 4] = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"];

/// Remembers the credentials of a kubeconfig.
fn remember(kubeconfig: &Kubeconfig) {
    let known = KnownCredentials::of_process();
    for cluster in kubeconfig.clusters.iter().flat_map(|named| &named.cluster) {
        for url in [&cluster.server, &cluster.proxy_url].into_iter().flatten() {
            known.remember_url(url);
        }
    }
    for user in kubeconfig
        .auth_infos
        .iter()
        .flat_map(|named| &named.auth_info)
    {
        remember_user(known, user);
    }
}

/// Remembers the proxy passwords of the environment: they apply to every kubeconfig without a
/// proxy.
fn remember_environment() {
    for name in PROXY_VARIABLES {
        if let Ok(url) = std::env::var(name) {
            KnownCredentials::of_process().remember_url(&url);
        }
    }
}

fn remember_user(known: &KnownCredentials, user: &AuthInfo) {
    // Serializes the kubeconfig: this form has the secrets in plain text.
    let Ok(Value::Object(fields)) = serde_json::to_value(user) else {
        return;
    };
    if let (Some(name), Some(Value::String(password))) = (&user.username, fields.get("password")) {
        known.remember_login(name.as_bytes(), password.as_bytes());
    }
    for (name, value) in &fields {
        match (name.as_str(), value) {
            ("exec", Value::Object(exec)) => {
                for (name, value) in exec {
                    match (name.as_str(), value) {
                        ("env", Value::Array(variables)) => {
                            for value in variables.iter().filter_map(|one| one.get("value")) {
                                remember_texts(known, value);
                            }
                        }
                        (name, value) if !PUBLIC_OF_EXEC.contains(&name) => {
                            remember_texts(known, value);
                        }
                        _ => {}
                    }
                }
            }
            ("auth-provider", provider) => {
                let config = provider.get("config").and_then(Value::as_object);
                for (name, value) in config.into_iter().flatten() {
                    if !PUBLIC_OF_PROVIDER.contains(&name.as_str()) {
                        remember_texts(known, value);
                    }
                }
            }
            (name, value) if !PUBLIC_OF_USER.contains(&name) => remember_texts(known, value),
            _ => {}
        }
    }
}

/// Remembers every text within a value. The name of a flag is not a secret, and neither is the path
/// of an existing file.
fn remember_texts(known: &KnownCredentials, value: &Value) {
    match value {
        Value::String(text) => {
            let text = match text.split_once('=') {
                Some((flag, value)) if flag.starts_with('-') => value,
                None if text.starts_with('-') && !text.starts_with("-----") => return,
                _ => text,
            };
            if !(text.starts_with('/') && Path::new(text).exists()) {
                known.remember(text.as_bytes());
            }
        }
        Value::Array(values) => {
            for value in values {
                remember_texts(known, value);
            }
        }
        Value::Object(fields) => {
            for value in fields.values() {
                remember_texts(known, value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lifecycle::planted::{damages, leaked, planted};
    use crate::server::client;

    const GOOD: &str = "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters:\n- name: k\n  cluster:\n    server: http://127.0.0.1:1\n    certificate-authority: ca.crt\ncontexts:\n- name: c\n  context: {cluster: k, user: u}\n- name: other\n  context: {cluster: nowhere, user: u}\nusers:\n- name: u\n  user: {}\n";

    fn lookout(path: &Path, context: Option<&str>) -> Lookout {
        Lookout::new(
            KubeconfigSource::Files(vec![path.to_owned()]),
            context.map(str::to_owned),
        )
    }

    #[tokio::test]
    async fn whatever_is_there_is_an_answer() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("config");
        let lookout = lookout(&path, None);
        assert!(matches!(
            lookout.look(None).await,
            Some(KubeconfigSight::Missing { .. })
        ));
        for (text, wrong) in [
            ("", "empty"),
            (" \n", "empty"),
            ("apiVersion: v1\nclusters: [", "parse"),
            ("apiVersion: v1\nkind: Config\n", "context"),
        ] {
            std::fs::write(&path, text).expect("written");
            match lookout.look(None).await {
                Some(KubeconfigSight::Unusable { error, .. }) => {
                    assert!(error.contains(wrong), "{error}");
                }
                other => panic!("{text:?}: {other:?}"),
            }
        }
    }

    /// Returns every message that results from a kubeconfig, before redaction.
    async fn words_of(lookout: &Lookout) -> String {
        let (config, mut words) = match lookout.look(None).await {
            Some(KubeconfigSight::Usable { candidates, .. }) => {
                let one = candidates.into_iter().next().expect("a candidate");
                (Some(one.config), one.path)
            }
            Some(KubeconfigSight::Unusable { path, error, .. }) => {
                (None, format!("{error}: {path}"))
            }
            other => (None, format!("{other:?}")),
        };
        if let Some(config) = config
            && let Err(error) = client(*config)
        {
            words.push_str(&chain(&error));
        }
        words
    }

    #[tokio::test]
    async fn no_part_of_a_credential_is_told_of_a_kubeconfig_that_is_cut_or_damaged() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("config");
        let lookout = lookout(&path, None);
        let (mut files, mut unusable) = (0, 0);
        for planted in planted("http://127.0.0.1:1", folder.path()).expect("written") {
            assert!(
                leaked(&planted, planted.text.as_bytes()).is_some(),
                "nothing to find"
            );
            let cuts =
                (1..planted.text.len()).map(|end| ("cut", planted.text.as_bytes()[..end].to_vec()));
            let whole = ("whole", planted.text.clone().into_bytes());
            for (damage, text) in cuts.chain(damages(&planted)).chain([whole]) {
                std::fs::write(&path, &text).expect("written");
                let words = words_of(&lookout).await;
                files += 1;
                unusable += usize::from(words.contains("cannot parse"));
                let (name, len) = (planted.name, text.len());
                let part = leaked(&planted, words.as_bytes());
                assert_eq!(part, None, "{name}, {damage}, {len} bytes: {words}");
            }
        }
        // Otherwise the check would compare nothing.
        assert!(files > 2_000 && unusable > 500, "{unusable} of {files}");
    }

    #[tokio::test]
    async fn what_was_read_is_taken_out_of_all_words() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("config");
        let redactor = crate::queue::redactor();
        for planted in planted("http://127.0.0.1:1", folder.path()).expect("written") {
            std::fs::write(&path, &planted.text).expect("written");
            lookout(&path, None).look(None).await.expect("a sight");
            let broken = planted
                .text
                .replacen("current-context: c", "current-context: [", 1);
            for text in [&planted.text, &broken] {
                let words = redactor.words(text);
                assert_eq!(leaked(&planted, words.as_bytes()), None, "{words}");
                assert!(words.contains("http://127.0.0.1:1"), "{words}");
            }
        }
        for planted in planted("http://127.0.0.1:1", folder.path()).expect("written") {
            let half = planted
                .text
                .replacen("current-context: c", "current-context: [", 1);
            std::fs::write(&path, &half).expect("written");
            lookout(&path, None).look(None).await.expect("a sight");
            let words = redactor.words(&half);
            assert_eq!(leaked(&planted, words.as_bytes()), None, "{words}");
        }
    }

    #[tokio::test]
    async fn a_change_of_a_named_file_is_a_change() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("config");
        let authority = folder.path().join("ca.crt");
        let key = rcgen_like_certificate();
        std::fs::write(&path, GOOD).expect("written");
        std::fs::write(&authority, key).expect("written");
        let lookout = lookout(&path, None);
        let hash = match lookout.look(None).await {
            Some(KubeconfigSight::Usable { hash, .. }) => hash,
            other => panic!("{other:?}"),
        };
        assert!(lookout.look(Some(hash)).await.is_none());
        std::fs::write(&authority, format!("{key}\n")).expect("written");
        assert!(matches!(
            lookout.look(Some(hash)).await,
            Some(KubeconfigSight::Usable { .. })
        ));
        std::fs::remove_file(&authority).expect("removed");
        assert!(matches!(
            lookout.look(Some(hash)).await,
            Some(KubeconfigSight::Unusable { .. })
        ));
    }

    #[tokio::test]
    async fn an_unknown_context_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("config");
        std::fs::write(&path, GOOD).expect("written");
        match lookout(&path, Some("missing")).look(None).await {
            Some(KubeconfigSight::Unusable { error, .. }) => {
                assert!(error.contains("missing"), "{error}");
            }
            other => panic!("{other:?}"),
        }
    }

    /// Any PEM will do: this test does not connect.
    const fn rcgen_like_certificate() -> &'static str {
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    }
}
