//! The rights of the accounts of a problem: which bindings name them, and which roles those give them.

use super::failure_words::is_forbidden;
use super::onset::OnsetObjects;
use super::problem_words::ProblemWords;
use super::shared_objects::RoleBinding;
use kubereel_history::LabelSelector;
use kubereel_history::field::items;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

/// The accounts of a problem. All are added before the first question about a role.
pub(super) struct AccountRights<'a> {
    onset: OnsetObjects<'a>,
    /// The namespace of the problem.
    namespace: &'a str,
    /// Whether the problem is about a right that is missing.
    is_forbidden: bool,
    /// Namespaces and names of the accounts of its Pods, and of those that its words name.
    accounts: BTreeSet<(String, String)>,
    /// The distance of each role of the accounts by kind and name, read when a role is asked for.
    roles: OnceCell<BTreeMap<(String, String), u8>>,
}

impl<'a> AccountRights<'a> {
    /// Creates the rights of the accounts that words name.
    pub(super) fn of(onset: OnsetObjects<'a>, namespace: &'a str, words: &ProblemWords) -> Self {
        Self {
            onset,
            namespace,
            is_forbidden: is_forbidden(words.text()),
            accounts: words.accounts(),
            roles: OnceCell::new(),
        }
    }

    /// Adds the account of a Pod.
    pub(super) fn add(&mut self, namespace: &str, account: &str) {
        self.accounts
            .insert((namespace.to_owned(), account.to_owned()));
    }

    /// Returns whether a binding's subjects name one of the accounts, or a group of it.
    pub(super) fn are_bound_by(&self, binding: &RoleBinding) -> bool {
        binding.subjects.iter().any(|subject| {
            let (at, name) = (subject.namespace.as_str(), subject.name.as_str());
            let mut accounts = self.accounts.iter();
            match subject.kind.as_str() {
                "ServiceAccount" => accounts.any(|(namespace, account)| {
                    account == name
                        && (at == namespace || at.is_empty() && namespace == self.namespace)
                }),
                "Group" => match name.strip_prefix("system:serviceaccounts") {
                    Some("") => !self.accounts.is_empty(),
                    Some(of) => accounts.any(|(namespace, _)| of == format!(":{namespace}")),
                    None => false,
                },
                _ => false,
            }
        })
    }

    /// Returns the distance of a role that bindings gave to one of the accounts.
    pub(super) fn distance_of_role(&self, kind: &str, name: &str) -> Option<u8> {
        let roles = self.roles.get_or_init(|| self.bound_roles());
        roles.get(&(kind.to_owned(), name.to_owned())).copied()
    }

    fn bound_roles(&self) -> BTreeMap<(String, String), u8> {
        let bindings = self.onset.reel().objects.bindings().iter();
        let near = bindings
            .filter(|binding| binding.namespace.is_empty() || binding.namespace == self.namespace);
        let mut roles: BTreeMap<(String, String), u8> = near
            .filter(|binding| self.are_bound_by(binding))
            .map(|binding| (binding.role.clone(), 2))
            .collect();
        // A controller writes the rules of an aggregate: people change its parts.
        if self.is_forbidden {
            let selectors: Vec<LabelSelector> = roles
                .iter_mut()
                .filter(|((kind, _), _)| kind == "ClusterRole")
                .flat_map(|((kind, name), distance)| {
                    let body = self.onset.body(kind, "", name).unwrap_or_default();
                    let parts = items(&body, "/aggregationRule/clusterRoleSelectors").iter();
                    let parts: Vec<_> = parts.filter_map(LabelSelector::of_value).collect();
                    *distance += u8::from(!parts.is_empty());
                    parts
                })
                .collect();
            for name in self.selected_roles(&selectors) {
                roles.entry(("ClusterRole".to_owned(), name)).or_insert(2);
            }
        }
        roles
    }

    /// Returns the names of the `ClusterRoles` that selectors select or selected.
    fn selected_roles(&self, selectors: &[LabelSelector]) -> Vec<String> {
        if selectors.is_empty() {
            return Vec::new();
        }
        let roles = self.onset.reel().objects.role_labels().iter();
        let selected = roles.filter(|role| {
            let mut labels = role.labels.iter();
            labels.any(|labels| selectors.iter().any(|one| one.matches(labels)))
        });
        selected.map(|role| role.name.clone()).collect()
    }
}
