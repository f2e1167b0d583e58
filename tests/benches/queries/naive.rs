//! The replay that reads everything: the last body of each object up to a moment, in a map.

use crate::questions::spent;
use anyhow::Result;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::time::Duration;

/// What it came to.
#[derive(Debug)]
pub(crate) struct Naive {
    /// How long reading up to the moment took.
    pub(crate) took: Duration,
    /// The bodies of the objects that lived then, by uid.
    pub(crate) state: HashMap<String, Box<str>>,
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    ts: &'a RawValue,
    r#type: &'a str,
    #[serde(borrow)]
    object: &'a RawValue,
}

#[derive(Deserialize)]
struct Object<'a> {
    #[serde(borrow)]
    metadata: Meta<'a>,
}

#[derive(Deserialize)]
struct Meta<'a> {
    uid: &'a str,
}

/// Reads the lines up to the first whose `ts` is behind the moment of the question.
pub(crate) fn replay(lines: &Path, is_behind: impl Fn(&str) -> Result<bool>) -> Result<Naive> {
    let started = spent();
    let mut state: HashMap<String, Box<str>> = HashMap::new();
    let mut input = BufReader::with_capacity(
        1 << 20,
        zstd::stream::read::Decoder::new(File::open(lines)?)?,
    );
    let mut text = String::new();
    while input.read_line(&mut text)? > 0 {
        let line: Line<'_> = serde_json::from_str(&text)?;
        if is_behind(line.ts.get())? {
            break;
        }
        let object: Object<'_> = serde_json::from_str(line.object.get())?;
        if line.r#type == "DELETED" {
            state.remove(object.metadata.uid);
        } else {
            state.insert(object.metadata.uid.to_owned(), line.object.get().into());
        }
        text.clear();
    }
    Ok(Naive {
        took: spent().saturating_sub(started),
        state,
    })
}
