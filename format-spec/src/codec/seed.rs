//! Owns the text against which the first version of an object is told. Refuses to be right: a bad
//! seed costs bytes, never truth.
//!
//! The directory keeps every object's names and uid, so that the bodies need not: a body that is told
//! against nothing is told against a text made of them, and one that is told against another object
//! is told against that object's body with the names replaced.

use crate::event::ObjectKey;

/// A name of at least this many bytes is replaced wherever it stands, a shorter one only as a whole
/// JSON string.
const LONG_NAME: usize = 8;

/// Gives the text for an object that is told against nothing.
pub(crate) fn of(key: &ObjectKey) -> Vec<u8> {
    let namespace = if key.namespace.is_empty() {
        String::new()
    } else {
        format!("\"namespace\":\"{}\",", key.namespace)
    };
    format!(
        "\"name\":\"{}\",{namespace}\"uid\":\"{}\",",
        key.name, key.uid
    )
    .into_bytes()
}

/// Gives the body of `other` with its name and uid replaced by those of `key`.
pub(crate) fn from_other(body: &[u8], other: &ObjectKey, key: &ObjectKey) -> Vec<u8> {
    let named = if other.name.len() >= LONG_NAME {
        replace(body, &other.name, &key.name)
    } else {
        replace(
            body,
            &format!("\"{}\"", other.name),
            &format!("\"{}\"", key.name),
        )
    };
    if other.uid.len() >= LONG_NAME {
        replace(&named, &other.uid, &key.uid)
    } else {
        named
    }
}

fn replace(text: &[u8], from: &str, to: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    let finder = memchr::memmem::Finder::new(from);
    while let Some(at) = finder.find(rest) {
        let (before, found) = rest.split_at_checked(at).unwrap_or((rest, &[]));
        out.extend_from_slice(before);
        out.extend_from_slice(to.as_bytes());
        rest = found.get(from.len()..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::ResourceId;

    fn key(name: &str, uid: &str) -> ObjectKey {
        ObjectKey {
            resource: ResourceId(0),
            namespace: "n".to_owned(),
            name: name.to_owned(),
            uid: uid.to_owned(),
        }
    }

    #[test]
    fn names_are_replaced_where_they_stand_alone() {
        let body = br#"{"name":"a","image":"a/a","uid":"11111111"}"#;
        assert_eq!(
            from_other(body, &key("a", "11111111"), &key("bb", "22222222")),
            br#"{"name":"bb","image":"a/a","uid":"22222222"}"#
        );
    }

    #[test]
    fn long_names_are_replaced_everywhere() {
        let body = br#"{"name":"etcd-operator","lock":"etcd-operator-lock"}"#;
        assert_eq!(
            from_other(body, &key("etcd-operator", ""), &key("dns-operator", "")),
            br#"{"name":"dns-operator","lock":"dns-operator-lock"}"#
        );
    }
}
