//! Owns which functions an expression may call, and how. Refuses those that would compile a regex at
//! each call, and those that CEL has but rules have no use for.

use super::node::Own;

/// How a function is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Called {
    /// By this room; the number of arguments, the target among them.
    Own(Own, usize),
    /// By this room, with a constant regex as the argument.
    Regex,
    /// By the library.
    Library,
}

const OWN: [(&str, Own, usize); 19] = [
    ("size", Own::Size, 1),
    ("contains", Own::Contains, 2),
    ("startsWith", Own::StartsWith, 2),
    ("endsWith", Own::EndsWith, 2),
    ("int", Own::Int, 1),
    ("uint", Own::Uint, 1),
    ("double", Own::Double, 1),
    ("string", Own::Text, 1),
    ("timestamp", Own::Timestamp, 1),
    ("duration", Own::Duration, 1),
    ("optional.of", Own::OptionalOf, 1),
    ("optional.none", Own::OptionalNone, 0),
    ("hasValue", Own::HasValue, 1),
    ("value", Own::Value, 1),
    ("or", Own::Or, 2),
    ("orValue", Own::OrValue, 2),
    ("condition", Own::Condition, 2),
    ("conditionIs", Own::ConditionIs, 3),
    ("matchesSelector", Own::MatchesSelector, 2),
];

/// Functions of the library. Those of formats, patches and bytes are left out.
const LIBRARY: [&str; 97] = [
    "add",
    "asApproximateFloat",
    "asInteger",
    "charAt",
    "cidr",
    "compareTo",
    "containsCIDR",
    "containsIP",
    "distinct",
    "family",
    "first",
    "flatten",
    "format",
    "getDate",
    "getDayOfMonth",
    "getDayOfWeek",
    "getDayOfYear",
    "getEscapedPath",
    "getFullYear",
    "getHost",
    "getHostname",
    "getHours",
    "getMilliseconds",
    "getMinutes",
    "getMonth",
    "getPort",
    "getQuery",
    "getScheme",
    "getSeconds",
    "indexOf",
    "ip",
    "ip.isCanonical",
    "isCIDR",
    "isCIDRv4",
    "isCIDRv6",
    "isGlobalUnicast",
    "isGreaterThan",
    "isIP",
    "isIPv4",
    "isIPv6",
    "isInteger",
    "isLessThan",
    "isLinkLocalMulticast",
    "isLinkLocalUnicast",
    "isLoopback",
    "isQuantity",
    "isSemver",
    "isSorted",
    "isURL",
    "isUnspecified",
    "join",
    "last",
    "lastIndexOf",
    "lowerAscii",
    "major",
    "masked",
    "math.abs",
    "math.bitAnd",
    "math.bitNot",
    "math.bitOr",
    "math.bitShiftLeft",
    "math.bitShiftRight",
    "math.bitXor",
    "math.ceil",
    "math.floor",
    "math.greatest",
    "math.isFinite",
    "math.isInf",
    "math.isNaN",
    "math.least",
    "math.round",
    "math.sign",
    "math.sqrt",
    "math.trunc",
    "max",
    "min",
    "minor",
    "patch",
    "prefixLength",
    "quantity",
    "replace",
    "reverse",
    "semver",
    "sets.contains",
    "sets.equivalent",
    "sets.intersects",
    "sign",
    "slice",
    "sort",
    "split",
    "strings.quote",
    "sub",
    "substring",
    "sum",
    "trim",
    "upperAscii",
    "url",
];

/// Finds a function.
pub(super) fn function(name: &str) -> Option<Called> {
    if ["matches", "find", "findAll"].contains(&name) {
        return Some(Called::Regex);
    }
    let own = OWN.iter().find(|(known, _, _)| *known == name);
    if let Some((_, own, count)) = own {
        return Some(Called::Own(*own, *count));
    }
    LIBRARY.contains(&name).then_some(Called::Library)
}

/// Tells whether a text can be the name of a variable.
pub(crate) fn is_name(text: &str) -> bool {
    const WORDS: [&str; 5] = ["true", "false", "null", "in", "constants"];
    let mut chars = text.chars();
    let begins = chars.next().is_some_and(|c| c.is_ascii_alphabetic());
    begins && chars.all(|c| c.is_ascii_alphanumeric() || c == '_') && !WORDS.contains(&text)
}

/// Gives every name of a function.
pub(super) fn functions() -> impl Iterator<Item = &'static str> {
    let macros = ["has", "all", "exists", "existsOne", "filter", "map"];
    let own = OWN.iter().map(|(name, _, _)| *name);
    own.chain(LIBRARY)
        .chain(["matches", "find", "findAll"])
        .chain(macros)
}

/// Gives the known word that looks most like another, if one does.
pub(crate) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let bound = 1 + word.chars().count() / 4;
    known
        .map(|name| (distance(word, name), name))
        .filter(|(far, _)| *far <= bound)
        .min()
        .map(|(_, name)| name)
}

/// Counts how many characters must be put in, taken out or replaced.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, c) in one.chars().enumerate() {
        let mut corner = at;
        let mut left = at + 1;
        let mut next = vec![left];
        for (up, o) in row.iter().skip(1).zip(&other) {
            left = (corner + usize::from(c != *o)).min(up + 1).min(left + 1);
            corner = *up;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found() {
        assert_eq!(nearest("startWith", functions()), Some("startsWith"));
        assert_eq!(nearest("exist", functions()), Some("exists"));
        assert_eq!(nearest("frobnicate", functions()), None);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "ab"), 2);
        assert_eq!(distance("ab", ""), 2);
    }
}
