//! Owns the kubeconfig files that lead to a server, and the broken ones. Refuses to read any.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::cluster::ScriptedCluster;

/// What to write into a kubeconfig file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kubeconfig {
    /// Leads to the server.
    Good,
    /// Leads to the server, with a bearer token.
    WithToken(String),
    /// Leads elsewhere.
    Elsewhere(String),
    /// Nothing.
    Empty,
    /// The first half of a good one.
    HalfWritten,
    /// Not YAML.
    NotYaml,
    /// YAML whose current context does not exist.
    NoSuchContext,
}

impl ScriptedCluster {
    /// Writes a kubeconfig; whole files replace the old one in one step, half-written ones do not.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn write_kubeconfig(&self, path: &Path, what: &Kubeconfig) -> Result<()> {
        let url = self.url();
        let text = match what {
            Kubeconfig::Good => text(&url, None, "scripted"),
            Kubeconfig::WithToken(token) => text(&url, Some(token), "scripted"),
            Kubeconfig::Elsewhere(url) => text(url, None, "scripted"),
            Kubeconfig::NoSuchContext => text(&url, None, "nowhere"),
            Kubeconfig::Empty => String::new(),
            Kubeconfig::NotYaml => "{]: \"\n\t- nonsense".to_owned(),
            Kubeconfig::HalfWritten => {
                let whole = text(&url, None, "scripted");
                let half = whole.get(..whole.len() / 2).unwrap_or_default();
                return fs::write(path, half).with_context(|| format!("write {}", path.display()));
            }
        };
        let fresh = path.with_extension("new");
        fs::write(&fresh, text).with_context(|| format!("write {}", fresh.display()))?;
        fs::rename(&fresh, path).with_context(|| format!("replace {}", path.display()))
    }
}

fn text(url: &str, token: Option<&str>, context: &str) -> String {
    let user = token.map_or_else(|| "{}".to_owned(), |token| format!("{{token: {token}}}"));
    format!(
        "apiVersion: v1\n\
         kind: Config\n\
         clusters:\n\
         - name: scripted\n  cluster:\n    server: {url}\n\
         users:\n\
         - name: tester\n  user: {user}\n\
         contexts:\n\
         - name: scripted\n  context: {{cluster: scripted, user: tester}}\n\
         current-context: {context}\n"
    )
}
