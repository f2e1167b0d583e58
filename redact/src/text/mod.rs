//! The forms of secrets in a text; each module finds one family. `search` searches texts within
//! texts.

mod announced_names;
pub(crate) mod assignments;
pub(crate) mod binary;
mod flow_maps;
mod name_surroundings;
mod neighbours;
pub(crate) mod patterns;
pub(crate) mod programs;
mod prose;
mod shell_words;
pub(crate) mod tokens;
mod triggers;
mod xml;
mod yaml_lines;

pub(crate) use patterns::userinfo;
pub(crate) use triggers::{DEPTH_MOST, SuspectPlaces, places, suspects};
