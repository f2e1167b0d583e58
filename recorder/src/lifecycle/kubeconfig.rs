//! Owns the reading of the way to the cluster: which files, what they and the files they name hold,
//! and the client configuration they make. Refuses to be surprised: missing, empty and half-written
//! files are answers.
//!
//! What is wrong with a kubeconfig is told by place and kind: a parser's own words quote the file, and it
//! holds credentials. A file is read once: what is hashed is what is parsed.

use super::own_credentials;
use super::proxy_conf::ProxyConf;
use crate::options::{KubeconfigSource, Places};
use crate::server::{chain, of_system};
use kube::Config;
use kube::config::{ExecInteractiveMode, KubeConfigOptions, Kubeconfig};
use kubereel_redact::KnownCredentials;
use std::fs::File;
use std::hash::{BuildHasher as _, Hash as _, Hasher as _, RandomState};
use std::io::{self, IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

/// The longest file that is read, in bytes: a Secret, from which a job's files come, has a quarter of it.
const FILE_BYTES: u64 = 4 * 1024 * 1024;

/// What is there at the moment.
#[derive(Debug)]
pub(crate) enum Sight {
    /// No file.
    Missing {
        /// Where it should be.
        path: String,
    },
    /// Something that names no cluster.
    Unusable {
        /// Where it is.
        path: String,
        /// What is wrong with it.
        error: String,
        /// The hash of what was read.
        hash: u64,
    },
    /// A way to a cluster.
    Usable {
        /// Where it is.
        path: String,
        /// The way.
        config: Box<Config>,
        /// The hash of what was read.
        hash: u64,
        /// Better places, whose file cannot be used: where it is, what is wrong with it.
        set_aside: Vec<(String, String)>,
    },
}

/// Reads the same places again and again.
#[derive(Clone, Debug)]
pub(crate) struct Lookout {
    source: KubeconfigSource,
    context: Option<String>,
    hasher: RandomState,
}

/// Where a pod finds its own credentials.
const IN_CLUSTER: &str = "the pod's service account";

impl Lookout {
    /// Makes one.
    pub(crate) fn new(source: KubeconfigSource, context: Option<String>) -> Self {
        Self {
            source,
            context,
            hasher: RandomState::new(),
        }
    }

    /// Reads what is there now. `known` is the hash of what was read before: if it is the same
    /// still, nothing is made of it, and there is no sight.
    pub(crate) async fn look(&self, known: Option<u64>) -> Option<Sight> {
        own_credentials::remember_environment();
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

    fn look_in_pod(&self, known: Option<u64>) -> Option<Sight> {
        let path = IN_CLUSTER.to_owned();
        // Token and CA are read again by the client itself.
        let hash = self.hasher.hash_one(IN_CLUSTER);
        if known == Some(hash) {
            return None;
        }
        Some(match Config::incluster() {
            Ok(config) => Sight::Usable {
                path,
                config: Box::new(config),
                hash,
                set_aside: Vec::new(),
            },
            Err(error) => Sight::Unusable {
                path,
                error: chain(&error),
                hash,
            },
        })
    }

    /// Takes the best place that holds something usable.
    async fn look_through(&self, places: &Places, known: Option<u64>) -> Option<Sight> {
        let script = places.proxy_conf.as_deref();
        let script = script.and_then(|path| read(path).ok().map(|text| (path, text)));
        let mut hasher = self.hasher.build_hasher();
        script.as_ref().map(|(_, text)| text).hash(&mut hasher);
        let conf = script.as_ref().map(|(path, text)| {
            let conf = ProxyConf::parse(&String::from_utf8_lossy(text));
            (*path, conf)
        });
        let mut paths = Vec::new();
        let mut broken = Vec::new();
        for files in &places.kubeconfigs {
            match self.look_at(files, None, conf.as_ref()).await {
                None => {}
                Some(Sight::Missing { path }) => {
                    0_u8.hash(&mut hasher);
                    paths.push(path);
                }
                Some(Sight::Unusable { path, error, hash }) => {
                    hash.hash(&mut hasher);
                    broken.push((path, error));
                }
                Some(Sight::Usable {
                    path, config, hash, ..
                }) => {
                    hash.hash(&mut hasher);
                    let hash = hasher.finish();
                    return (known != Some(hash)).then_some(Sight::Usable {
                        path,
                        config,
                        hash,
                        set_aside: broken,
                    });
                }
            }
        }
        let hash = hasher.finish();
        match broken.into_iter().next() {
            None => Some(Sight::Missing {
                path: paths.join(", "),
            }),
            Some(_) if known == Some(hash) => None,
            Some((path, error)) => Some(Sight::Unusable { path, error, hash }),
        }
    }

    async fn look_at(
        &self,
        files: &[PathBuf],
        known: Option<u64>,
        conf: Option<&(&Path, ProxyConf)>,
    ) -> Option<Sight> {
        let path = spell(files);
        let present: Vec<&PathBuf> = files.iter().filter(|file| file.exists()).collect();
        if present.is_empty() {
            return Some(Sight::Missing { path });
        }
        let texts: Vec<(&PathBuf, io::Result<Vec<u8>>)> =
            present.into_iter().map(|file| (file, read(file))).collect();
        let mut hasher = self.hasher.build_hasher();
        for (_, text) in &texts {
            text.as_ref().ok().hash(&mut hasher);
        }
        let parsed = merge(&texts);
        // A certificate that is replaced is a change too.
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
            Err(error) => return Some(Sight::Unusable { path, error, hash }),
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
            Ok((config, path)) => Sight::Usable {
                path,
                config: Box::new(config),
                hash,
                set_aside: Vec::new(),
            },
            Err(error) => Sight::Unusable { path, error, hash },
        })
    }
}

/// Leads a way through the proxy before the cluster, if there is one, and says so.
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

/// Tells whether the kubeconfig itself names a proxy; then no other counts.
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
            return Err(format!("the file is empty: {}", file.display()));
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

/// Parses a kubeconfig, remembers its credentials, and makes its relative paths those of its folder.
fn parse(file: &Path, bytes: &[u8]) -> Result<Kubeconfig, String> {
    let text = decode(bytes).ok_or("cannot parse: not UTF-8")?;
    let mut kubeconfig = Kubeconfig::from_yaml(&text).map_err(|error| chain(&error))?;
    own_credentials::remember(&kubeconfig);
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
        // A bare name is looked for in PATH.
        let is_path = |command: &String| command.contains(std::path::MAIN_SEPARATOR);
        if exec.command.as_ref().is_some_and(is_path) {
            resolve(&mut exec.command);
        }
        // What a plugin prints must not go by our log, which is published; it may ask only where
        // somebody can answer.
        if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
            exec.interactive_mode = Some(ExecInteractiveMode::Never);
        }
    }
    Ok(kubeconfig)
}

/// Decodes UTF-8, or UTF-16 with its mark, as Windows writes it.
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

/// Gives the files that a kubeconfig names, and whether each holds a credential.
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

#[cfg(test)]
mod tests {
    use super::super::planted::{damages, leaked, planted};
    use super::*;

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
            Some(Sight::Missing { .. })
        ));
        for (text, wrong) in [
            ("", "empty"),
            (" \n", "empty"),
            ("apiVersion: v1\nclusters: [", "parse"),
            ("apiVersion: v1\nkind: Config\n", "context"),
        ] {
            std::fs::write(&path, text).expect("written");
            match lookout.look(None).await {
                Some(Sight::Unusable { error, .. }) => assert!(error.contains(wrong), "{error}"),
                other => panic!("{text:?}: {other:?}"),
            }
        }
    }

    /// Gives every word that comes of a kubeconfig, before any redactor has seen it.
    async fn words_of(lookout: &Lookout) -> String {
        let (config, mut words) = match lookout.look(None).await {
            Some(Sight::Usable {
                path,
                config,
                set_aside,
                ..
            }) => (Some(config), format!("{path} {set_aside:?}")),
            Some(Sight::Unusable { path, error, .. }) => (None, format!("{error}: {path}")),
            other => (None, format!("{other:?}")),
        };
        if let Some(config) = config
            && let Err(error) = crate::server::client(*config)
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
        // Else the check looks at nothing.
        assert!(files > 2_000 && unusable > 500, "{unusable} of {files}");
    }

    #[tokio::test]
    async fn what_was_read_is_taken_out_of_all_words() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("config");
        let redactor = crate::scrub::redactor();
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
            Some(Sight::Usable { hash, .. }) => hash,
            other => panic!("{other:?}"),
        };
        assert!(lookout.look(Some(hash)).await.is_none());
        std::fs::write(&authority, format!("{key}\n")).expect("written");
        assert!(matches!(
            lookout.look(Some(hash)).await,
            Some(Sight::Usable { .. })
        ));
        std::fs::remove_file(&authority).expect("removed");
        assert!(matches!(
            lookout.look(Some(hash)).await,
            Some(Sight::Unusable { .. })
        ));
    }

    #[tokio::test]
    async fn an_unknown_context_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("config");
        std::fs::write(&path, GOOD).expect("written");
        match lookout(&path, Some("missing")).look(None).await {
            Some(Sight::Unusable { error, .. }) => assert!(error.contains("missing"), "{error}"),
            other => panic!("{other:?}"),
        }
    }

    /// Any PEM will do: nothing connects here.
    const fn rcgen_like_certificate() -> &'static str {
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    }
}
