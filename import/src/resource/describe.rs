//! Owns how a resource gets its names from who knows them. Refuses to choose who that is.

use super::Definition;
use super::builtin::BuiltIn;
use kubereel_format::ResourceInfo;

/// Describes a resource as its definition does.
pub(super) fn describe(info: &mut ResourceInfo, definition: &Definition) {
    info.plural.clone_from(&definition.plural);
    info.singular.clone_from(&definition.singular);
    info.kind.clone_from(&definition.kind);
    info.short_names.clone_from(&definition.short_names);
    info.categories.clone_from(&definition.categories);
    info.namespaced = definition.namespaced;
}

/// Describes a resource as its server does.
pub(super) fn describe_built_in(info: &mut ResourceInfo, row: &BuiltIn) {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    row.plural.clone_into(&mut info.plural);
    row.kind.clone_into(&mut info.kind);
    info.singular = row.kind.to_lowercase();
    info.short_names = owned(&row.short_names);
    info.categories = owned(&row.categories);
    info.namespaced = row.namespaced;
}
