//! Errors in a YAML text, reported without quoting the text.
//!
//! A kubeconfig, the output of a credential plugin and a file of rules may contain secrets, and the
//! messages of the parser quote the value or the lines around the error.

use serde_saphyr::Error;
use std::fmt;

/// The place and the kind of an error in a YAML text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct YamlMistake {
    /// The line, from 1; 0 if the parser does not report it.
    pub line: u64,
    /// The character in the line, from 1.
    pub column: u64,
    /// The kind of error; never a part of the text.
    pub kind: &'static str,
}

impl YamlMistake {
    /// Takes place and kind of a parser's error, and nothing else.
    pub fn of(error: &Error) -> Self {
        let error = innermost(error);
        let (line, column) = error
            .location()
            .map_or((0, 0), |at| (at.line(), at.column()));
        let kind = match error {
            Error::Eof { .. } => "unexpected end of text",
            Error::MultipleDocuments { .. } => "more than one document",
            Error::InvalidUtf8Input => "not UTF-8",
            Error::IOError { .. } => "cannot be read",
            Error::SerdeInvalidType { .. }
            | Error::Unexpected { .. }
            | Error::NullIntoString { .. }
            | Error::InvalidScalar { .. }
            | Error::InvalidBooleanStrict { .. }
            | Error::TaggedScalarCannotDeserializeIntoString { .. } => "value of the wrong type",
            Error::SerdeInvalidValue { .. }
            | Error::SerdeInvalidLength { .. }
            | Error::NonFiniteFloat { .. } => "value out of range",
            Error::SerdeUnknownField { .. } => "unknown field",
            Error::SerdeUnknownVariant { .. } => "unknown value",
            Error::SerdeMissingField { .. } => "missing field",
            Error::DuplicateMappingKey { .. } => "duplicate key",
            Error::UnknownAnchor { .. } => "alias without an anchor",
            Error::AliasReplayLimitExceeded { .. }
            | Error::AliasExpansionLimitExceeded { .. }
            | Error::AliasReplayStackDepthExceeded { .. }
            | Error::AliasReplayCounterOverflow { .. }
            | Error::RecursiveReferencesRequireWeakTypes { .. } => "too many aliases",
            Error::Budget { .. } => "too large or too deep",
            Error::IndentationError { .. } => "wrong indentation",
            Error::InvalidBinaryBase64 { .. } | Error::BinaryNotUtf8 { .. } => {
                "not base64-encoded text"
            }
            _ => "not YAML",
        };
        Self { line, column, kind }
    }
}

impl fmt::Display for YamlMistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind)?;
        if self.line > 0 {
            write!(f, ", line {}, column {}", self.line, self.column)?;
        }
        Ok(())
    }
}

/// Returns the error inside the wrappers that only add a quotation or the place of an alias.
fn innermost(mut error: &Error) -> &Error {
    loop {
        error = match error {
            Error::WithSnippet { error, .. } | Error::AliasError { error, .. } => error,
            other => return other,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn mistake(text: &str) -> String {
        let read = serde_saphyr::from_str::<BTreeMap<String, u8>>(text);
        YamlMistake::of(&read.expect_err(text)).to_string()
    }

    #[test]
    fn a_mistake_has_a_place_and_a_kind_and_no_word_of_the_text() {
        for (text, expected) in [
            (
                "a: 1\nb: canary\n",
                "value of the wrong type, line 2, column 4",
            ),
            ("a: 1\na: 2\n", "duplicate key, line 2, column 1"),
            (
                "canary: *canary\n",
                "alias without an anchor, line 1, column 9",
            ),
            ("- canary\n", "value of the wrong type, line 1, column 1"),
        ] {
            assert_eq!(mistake(text), expected, "{text}");
        }
        for text in [
            "canary: 'canary",
            "canary: [canary",
            "canary: canary: canary",
        ] {
            let mistake = mistake(text);
            assert!(
                !mistake.contains("canary") && mistake.contains("line 1"),
                "{mistake}"
            );
        }
    }
}
