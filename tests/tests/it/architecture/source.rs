//! Product code as the architecture tests see it: the words of each file, without comments, texts and test
//! code.
//!
//! This reads Rust's words, not its grammar: enough to find paths that begin at the crate's root, and
//! declarations.

use std::collections::BTreeSet;
use std::path::Path;

/// A file of product code.
pub(super) struct SourceFile {
    /// From the crate's `src` on.
    pub(super) path: String,
    /// Identifiers, keywords, `::`, and every other mark by itself.
    words: Vec<String>,
}

impl SourceFile {
    /// Reads every file of product code in a `src` folder.
    pub(super) fn all(src: &Path) -> Vec<Self> {
        let mut files = Vec::new();
        let mut folders = vec![src.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.file_stem().unwrap().to_string_lossy().into_owned();
                if name == "tests" || name.ends_with("_tests") {
                    continue;
                }
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|ending| ending == "rs") {
                    let text = std::fs::read_to_string(&path).unwrap();
                    let path = path.strip_prefix(src).unwrap().display().to_string();
                    files.push(Self::new(path, &text));
                }
            }
        }
        files
    }

    fn new(path: String, text: &str) -> Self {
        Self {
            path,
            words: without_tests(&words(text)),
        }
    }

    /// The crate's top module that the file belongs to; none for `lib.rs` and `main.rs`.
    pub(super) fn top_module(&self) -> Option<&str> {
        let first = self.path.split('/').next()?;
        let module = first.strip_suffix(".rs").unwrap_or(first);
        (!["lib", "main"].contains(&module)).then_some(module)
    }

    /// What the file names right below the crate's root, with `crate::` or `super::`.
    pub(super) fn names_below_root(&self) -> BTreeSet<&str> {
        let is_mod = self.path.ends_with("/mod.rs");
        let depth = self.path.split('/').count() - usize::from(is_mod);
        let mut names = BTreeSet::new();
        let mut rest = self.words.as_slice();
        while let Some((word, after)) = rest.split_first() {
            rest = after;
            let mut path = match word.as_str() {
                "crate" => after,
                "super" => {
                    let mut path = after;
                    let mut supers = 1;
                    while let [colons, word, after @ ..] = path
                        && colons == "::"
                        && word == "super"
                    {
                        supers += 1;
                        path = after;
                    }
                    rest = path;
                    if supers != depth {
                        continue;
                    }
                    path
                }
                _ => continue,
            };
            if !take(&mut path, "::") {
                continue;
            }
            if take(&mut path, "{") {
                names.extend(group(path));
            } else {
                names.extend(path.first().map(String::as_str));
            }
        }
        names
    }

    /// The types and traits that the file declares.
    pub(super) fn types(&self) -> BTreeSet<&str> {
        let mut types = BTreeSet::new();
        let mut depth = 0;
        for pair in self.words.windows(2) {
            let [word, name] = pair else { continue };
            match word.as_str() {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
            let is_declared = match word.as_str() {
                "struct" | "enum" | "trait" | "union" => true,
                // Deeper ones belong to an impl or a trait.
                "type" => depth == 0,
                _ => false,
            };
            if is_declared && name.starts_with(|first: char| first.is_ascii_uppercase()) {
                types.insert(name.as_str());
            }
        }
        types
    }
}

fn take(words: &mut &[String], wanted: &str) -> bool {
    match words {
        [word, after @ ..] if word == wanted => {
            *words = after;
            true
        }
        _ => false,
    }
}

/// The first names of the paths in a group whose brace was taken.
fn group(words: &[String]) -> Vec<&str> {
    let mut names = Vec::new();
    let (mut depth, mut is_first) = (0, true);
    for word in words {
        match word.as_str() {
            "{" => depth += 1,
            "}" if depth == 0 => break,
            "}" => depth -= 1,
            "," if depth == 0 => is_first = true,
            name => {
                if depth == 0 && is_first {
                    names.push(name);
                }
                is_first = false;
            }
        }
    }
    names
}

/// Leaves out every item under `#[cfg(test)]`.
fn without_tests(words: &[String]) -> Vec<String> {
    const TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::new();
    let mut rest = words;
    while let [word, after @ ..] = rest {
        let is_test =
            rest.len() > TEST.len() && rest.iter().zip(TEST).all(|(word, test)| word == test);
        if is_test {
            rest = after_item(rest);
        } else {
            kept.push(word.clone());
            rest = after;
        }
    }
    kept
}

/// What comes after an item with its attributes: behind its `;`, or the end of its braces.
fn after_item(words: &[String]) -> &[String] {
    let (mut braces, mut brackets) = (0, 0);
    for (index, word) in words.iter().enumerate() {
        match word.as_str() {
            "(" | "[" => brackets += 1,
            ")" | "]" => brackets -= 1,
            "{" => braces += 1,
            "}" => braces -= 1,
            _ => {}
        }
        if brackets == 0 && braces == 0 && (word == ";" || word == "}") {
            return &words[index + 1..];
        }
    }
    &[]
}

/// Cuts a text into words.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if first.is_whitespace() {
            rest = rest.trim_start();
        } else if rest.starts_with("//") {
            rest = rest.split_once('\n').map_or("", |(_, after)| after);
        } else if rest.starts_with("/*") {
            rest = rest.split_once("*/").map_or("", |(_, after)| after);
        } else if let Some(after) = after_raw_text(rest) {
            rest = after;
        } else if first == '"' {
            rest = after_text(&rest[1..]);
        } else if first == '\'' {
            rest = after_char_or_lifetime(&rest[1..]);
        } else if first.is_alphanumeric() || first == '_' {
            let end = rest
                .find(|next: char| !next.is_alphanumeric() && next != '_')
                .unwrap_or(rest.len());
            words.push(rest[..end].to_owned());
            rest = &rest[end..];
        } else if let Some(after) = rest.strip_prefix("::") {
            words.push("::".to_owned());
            rest = after;
        } else {
            words.push(first.to_string());
            rest = &rest[first.len_utf8()..];
        }
    }
    words
}

/// Behind `r"…"`, `br#"…"#` and their like, if one begins here.
fn after_raw_text(text: &str) -> Option<&str> {
    let raw = ["r", "br", "cr"]
        .iter()
        .find_map(|start| text.strip_prefix(start))?;
    let marks = raw.len() - raw.trim_start_matches('#').len();
    let inside = raw[marks..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(marks));
    Some(inside.split_once(&end).map_or("", |(_, after)| after))
}

/// Behind the quote that ends a text whose first quote was taken.
fn after_text(text: &str) -> &str {
    let mut is_escaped = false;
    for (index, letter) in text.char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return &text[index + 1..],
            _ => {}
        }
    }
    ""
}

/// Behind a character, or the quote of a lifetime, whose first quote was taken.
fn after_char_or_lifetime(text: &str) -> &str {
    if let Some(escaped) = text.strip_prefix('\\') {
        let next = escaped.chars().next().map_or(0, char::len_utf8);
        return escaped[next..]
            .split_once('\'')
            .map_or("", |(_, after)| after);
    }
    let first = text.chars().next().map_or(0, char::len_utf8);
    text[first..].strip_prefix('\'').unwrap_or(text)
}

#[test]
fn comments_texts_and_test_code_are_left_out() {
    let text = r##"
        // crate::comment
        /* crate::block */
        use crate::{one::{Deep, deeper}, two};
        const A: &str = "crate::text \" crate::text";
        const B: &str = r#"crate::raw "quoted" crate::raw"#;
        const C: [char; 3] = ['"', '\'', '\\'];
        fn f<'a>(x: &'a super::super::three::X) { super::near(); }
        #[cfg(test)]
        #[expect(clippy::panic, reason = "…")]
        mod tests { use crate::tested; struct InTest { x: [u8; 2] } }
        #[cfg(test)]
        use crate::tested;
        struct Last;
        type Alias = u8;
        impl Iterator for Last { type Item = crate::four::X; }
    "##;
    let file = SourceFile::new("top/file.rs".to_owned(), text);
    let names: Vec<&str> = file.names_below_root().into_iter().collect();
    assert_eq!(names, ["four", "one", "three", "two"]);
    let types: Vec<&str> = file.types().into_iter().collect();
    assert_eq!(types, ["Alias", "Last"]);
    assert_eq!(file.top_module(), Some("top"));
}
