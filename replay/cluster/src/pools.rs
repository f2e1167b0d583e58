//! Owns which pool a node belongs to: that of the control plane first, then one of the user's own,
//! then that of the workers, for a node may fit several.

use super::read::Pool;
use std::collections::BTreeMap;

const CONTROL_PLANE: &str = "master";
const WORKER: &str = "worker";

/// Gives the pool of a node with these labels.
pub(super) fn pool_of<'a>(
    pools: &'a BTreeMap<String, Pool>,
    labels: &BTreeMap<String, String>,
) -> Option<&'a String> {
    let fits = |(_, pool): &(&String, &Pool)| pool.spec.node_selector.selects(labels);
    let order = |name: &String| match name.as_str() {
        CONTROL_PLANE => 0,
        WORKER => 2,
        _ => 1,
    };
    let fitting = pools.iter().filter(fits).map(|(name, _)| name);
    fitting.min_by_key(|name| order(name))
}
