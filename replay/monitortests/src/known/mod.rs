//! What the OpenShift monitor knows by name: operators and namespaces of the platform, and the Jira
//! component that answers for each. Plain tables; what no table names has no component, never a guess.

mod namespaces;
mod operators;

pub use namespaces::{
    component_of_namespace, is_known_namespace, is_platform_namespace, known_namespaces,
};
pub use operators::{component_of_operator, known_operators};
