//! Owns how the input is gone through: line by line, or as a whole. Refuses a whole that is longer
//! than memory should be asked for.

use crate::broken::{Counted, Problem};
use crate::error::ImportError;
use crate::lines::{Cut, Lines};
use crate::take::Take;
use serde_json::Value;
use serde_json::value::RawValue;
use std::io::{self, BufRead, Read};

/// The longest JSON that is read as a whole: a list has to be seen to its end before its kind is
/// known.
const MAX_JSON: u64 = 512 * 1024 * 1024;

/// The longest YAML: in memory it takes more than ten times of that.
const MAX_YAML: u64 = 64 * 1024 * 1024;

/// How deep YAML may be nested. Schemas of definitions go to some fifty.
const MAX_DEPTH: usize = 128;

impl Take {
    /// Takes an input line by line.
    pub(crate) fn all_lines(
        &mut self,
        input: impl BufRead,
        progress: &mut impl FnMut(u64),
        take: impl Fn(&mut Self, u64, &[u8]) -> Result<(), ImportError>,
    ) -> Result<(), ImportError> {
        let mut lines = Lines::new(input);
        while let Some((number, cut)) = lines.next_line().map_err(unread)? {
            match cut {
                Cut::Whole(line) if line.trim_ascii().is_empty() => {}
                Cut::Whole(line) => take(self, number, line)?,
                Cut::TooLong => self.broken(number, Problem::TooLong),
            }
            progress(lines.bytes());
        }
        Ok(())
    }

    /// Takes JSON documents, one after the other.
    pub(crate) fn all_json(
        &mut self,
        input: impl Read,
        progress: &mut impl FnMut(u64),
    ) -> Result<(), ImportError> {
        self.broken.counted = Counted::Objects;
        let bytes = whole(input, MAX_JSON)?;
        let mut documents = serde_json::Deserializer::from_slice(&bytes).into_iter::<&RawValue>();
        while let Some(document) = documents.next() {
            match document {
                Ok(document) => self.document(0, document.get().as_bytes())?,
                Err(error) => {
                    let number = self.objects.saturating_add(1);
                    self.broken(number, Problem::Rest(error.to_string()));
                    return Ok(());
                }
            }
            progress(u64::try_from(documents.byte_offset()).unwrap_or(u64::MAX));
        }
        Ok(())
    }

    /// Takes YAML documents, as JSON.
    pub(crate) fn all_yaml(
        &mut self,
        input: impl Read,
        progress: &mut impl FnMut(u64),
    ) -> Result<(), ImportError> {
        self.broken.counted = Counted::Objects;
        let bytes = whole(input, MAX_YAML)?;
        let documents = yaml(&bytes)?;
        if !documents
            .iter()
            .any(|one| one.is_object() || one.is_array())
        {
            return Err(ImportError::NotRecognised);
        }
        for document in documents {
            self.document(0, document.to_string().as_bytes())?;
            progress(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        }
        Ok(())
    }
}

/// Reads YAML documents.
pub(crate) fn yaml(bytes: &[u8]) -> Result<Vec<Value>, ImportError> {
    let failed = |error: &dyn std::error::Error| {
        let text = error.to_string();
        let cause = text.lines().next().unwrap_or_default().to_owned();
        ImportError::Yaml { cause }
    };
    let text = str::from_utf8(bytes).map_err(|error| failed(&error))?;
    serde_saphyr::from_str_multiple_with_options(text, yaml_options())
        .map_err(|error| failed(&error))
}

fn unread(source: io::Error) -> ImportError {
    ImportError::Read { source }
}

fn whole(input: impl Read, most: u64) -> Result<Vec<u8>, ImportError> {
    let mut bytes = Vec::new();
    let more = most.saturating_add(1);
    let read = input.take(more).read_to_end(&mut bytes).map_err(unread)?;
    if u64::try_from(read).unwrap_or(u64::MAX) > most {
        return Err(ImportError::TooLong { most });
    }
    Ok(bytes)
}

/// Reads YAML as Kubernetes does, within bounds that a long list keeps.
fn yaml_options() -> serde_saphyr::Options {
    let most = usize::try_from(MAX_YAML).unwrap_or(usize::MAX);
    serde_saphyr::options! {
        with_snippet: false,
        legacy_octal_numbers: true,
        budget: serde_saphyr::budget! {
            max_depth: MAX_DEPTH,
            // Every node takes a byte or more, so that the length bounds them.
            max_documents: most,
            max_events: most,
            max_nodes: most,
            max_total_scalar_bytes: most,
        },
    }
}
