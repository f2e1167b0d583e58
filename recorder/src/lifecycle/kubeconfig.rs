//! Owns the reading of the way to the cluster: which files, what they and the files they name hold,
//! and the client configuration they make. Refuses to be surprised: missing, empty and half-written
//! files are answers.

use super::proxy_conf::ProxyConf;
use crate::options::{KubeconfigSource, Places};
use crate::server::chain;
use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig};
use std::hash::{BuildHasher as _, Hash as _, Hasher, RandomState};
use std::path::{Path, PathBuf};

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
        let script = script.and_then(|path| std::fs::read(path).ok().map(|text| (path, text)));
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
        // Hashed before it is read: what changes in between is a change at the next look.
        let mut hasher = self.hash(&present);
        let parsed = merge(&present);
        for file in parsed.as_ref().map(named_files).unwrap_or_default() {
            std::fs::read(file).ok().hash(&mut hasher);
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

    /// Hashes the files; those they name come after, so that a certificate that is replaced is a
    /// change too.
    fn hash(&self, files: &[&PathBuf]) -> impl Hasher + use<> {
        let mut hasher = self.hasher.build_hasher();
        for file in files {
            std::fs::read(file).ok().hash(&mut hasher);
        }
        hasher
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

fn merge(files: &[&PathBuf]) -> Result<Kubeconfig, String> {
    let mut merged: Option<Kubeconfig> = None;
    for file in files {
        let text = std::fs::read(file).map_err(|error| error.to_string())?;
        if text.iter().all(u8::is_ascii_whitespace) {
            return Err(format!("the file is empty: {}", file.display()));
        }
        let next = Kubeconfig::read_from(file).map_err(|error| chain(&error))?;
        merged = Some(match merged {
            None => next,
            Some(first) => first.merge(next).map_err(|error| chain(&error))?,
        });
    }
    merged.ok_or_else(|| "no file".to_owned())
}

fn named_files(kubeconfig: &Kubeconfig) -> Vec<&str> {
    let clusters = kubeconfig.clusters.iter();
    let clusters = clusters.filter_map(|named| named.cluster.as_ref());
    let users = kubeconfig.auth_infos.iter();
    let users = users.filter_map(|named| named.auth_info.as_ref());
    let mut files: Vec<&str> = clusters
        .filter_map(|cluster| cluster.certificate_authority.as_deref())
        .collect();
    for user in users {
        files.extend(user.client_certificate.as_deref());
        files.extend(user.client_key.as_deref());
        files.extend(user.token_file.as_deref());
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
