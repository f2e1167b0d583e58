//! Owns reading a path. Refuses loops (`range`): a path leads to values, it prints no text.

use super::compare::Operator;
use serde_json::Value;

/// A path into an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    pub(super) steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Member(String),
    /// All members of an object, all items of a list.
    Every,
    /// A value and all that is in it.
    Descend,
    Slice(Slice),
    /// What any of these finds.
    Union(Vec<Path>),
    Filter(Filter),
    /// A value that stands in the path itself.
    Literal(Value),
    /// A word that is none of the dialect's: nothing fits it.
    Word,
}

/// `[from:to:by]`; negative places count from the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slice {
    pub(super) from: Option<i64>,
    pub(super) to: Option<i64>,
    /// Whether only the place `from` is meant.
    pub(super) is_single: bool,
    pub(super) by: Option<i64>,
}

/// `[?(left operator right)]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Filter {
    pub(super) left: Path,
    /// None if it is enough that there is something.
    pub(super) right: Option<(Operator, Path)>,
}

/// How deep paths stand in paths at most. The server has no bound; nobody comes near.
const DEEPEST: usize = 16;

impl Path {
    /// Reads a path; `None` if it has another form.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::parse_located(text).ok()
    }

    /// Reads a path.
    ///
    /// # Errors
    /// With what is left from the step on that has another form.
    pub(crate) fn parse_located(text: &str) -> Result<Self, &str> {
        Self::parse_to(text, DEEPEST)
    }

    fn parse_at(text: &str, depth: usize) -> Option<Self> {
        Self::parse_to(text, depth).ok()
    }

    fn parse_to(text: &str, depth: usize) -> Result<Self, &str> {
        let depth = depth.checked_sub(1).ok_or(text)?;
        let mut steps = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            rest = step(rest, &mut steps, depth).ok_or(rest)?;
        }
        Ok(Self { steps })
    }
}

/// Reads one step and gives what is left after it.
fn step<'a>(rest: &'a str, steps: &mut Vec<Step>, depth: usize) -> Option<&'a str> {
    Some(if let Some(filter) = rest.strip_prefix("[?(") {
        let (condition, after) = condition(filter)?;
        steps.push(Step::Filter(Filter::parse(condition, depth)?));
        after
    } else if let Some(after) = rest.strip_prefix("..") {
        if steps.last() == Some(&Step::Descend) {
            return None;
        }
        steps.push(Step::Descend);
        if after.starts_with(is_word) {
            let (step, after) = member(after);
            steps.push(step);
            after
        } else {
            after
        }
    } else if let Some(after) = rest.strip_prefix('.') {
        let (step, after) = member(after);
        steps.push(step);
        after
    } else if let Some(bracket) = rest.strip_prefix('[') {
        let (inner, after) = bracket.split_once(']')?;
        steps.extend(bracketed(inner, depth)?);
        after
    } else if let Some(after) = rest.strip_prefix([' ', '@', '$']) {
        after
    } else if let Some(after) = rest.strip_prefix('}') {
        // The server stands paths in braces: what comes after is not the path's.
        (!after.contains('{')).then_some("")?
    } else {
        let (step, after) = literal(rest)?;
        steps.push(step);
        after
    })
}

/// Tells whether a letter may begin a member's name after two dots.
fn is_word(letter: char) -> bool {
    letter == '_' || letter.is_alphabetic() || letter.is_numeric()
}

fn ends_member(letter: char) -> bool {
    matches!(
        letter,
        ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}'
    )
}

/// Reads a member's name; a backslash takes the next letter as it is.
fn member(text: &str) -> (Step, &str) {
    let mut letters = text.char_indices();
    let mut end = text.len();
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' {
            letters.next();
        } else if ends_member(letter) {
            end = at;
            break;
        }
    }
    let (name, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    let step = match name {
        "*" => Step::Every,
        // All backslashes go, as the server has it.
        name => Step::Member(name.replace('\\', "")),
    };
    (step, rest)
}

/// Reads what stands between brackets.
fn bracketed(inner: &str, depth: usize) -> Option<Vec<Step>> {
    if inner.contains('\n') {
        return None;
    }
    if inner.contains(',') {
        let each = inner
            .split(',')
            .map(|one| Path::parse_at(&format!("[{}]", one.trim_matches(' ')), depth));
        return Some(vec![Step::Union(each.collect::<Option<_>>()?)]);
    }
    let quoted = inner
        .strip_prefix('\'')
        .and_then(|text| text.strip_suffix('\''));
    if let Some(name) = quoted.filter(|name| !name.contains('\'')) {
        // A name in quotes is read as what follows a dot: it may be several.
        return Some(Path::parse_at(&format!(".{name}"), depth)?.steps);
    }
    Some(vec![Step::Slice(slice(inner)?)])
}

/// Reads `1`, `-1`, `1:`, `:3`, `1:3:2`, `*`.
fn slice(text: &str) -> Option<Slice> {
    let text = if text == "*" { ":" } else { text };
    let mut places = text.split(':');
    let mut place = || match places.next() {
        None => Some(None),
        Some("") => Some(Some(None)),
        Some(digits) if digits.starts_with('+') => None,
        Some(digits) => digits.parse().ok().map(|place| Some(Some(place))),
    };
    let (from, to, by) = (place()?, place()?, place()?);
    if places.next().is_some() {
        return None;
    }
    Some(Slice {
        from: from.flatten(),
        to: to.flatten(),
        is_single: to.is_none(),
        by: by.flatten(),
    })
}

/// Reads a filter's condition up to the parenthesis that is not within quotes.
fn condition(text: &str) -> Option<(&str, &str)> {
    let (mut opened, mut is_closed) = (None, false);
    let mut before = '(';
    for (at, letter) in text.char_indices() {
        match letter {
            '\n' => return None,
            '"' | '\'' => match opened {
                None => opened = Some(letter),
                Some(quote) => is_closed |= before != '\\' && letter == quote,
            },
            ')' if opened.is_some() == is_closed => {
                let (condition, rest) = text.split_at_checked(at)?;
                return Some((condition, rest.strip_prefix(")]")?));
            }
            _ => {}
        }
        before = letter;
    }
    None
}

impl Filter {
    /// Reads `@.type=="Ready"`, or a path alone.
    fn parse(condition: &str, depth: usize) -> Option<Self> {
        let is_operator = |letter| matches!(letter, '!' | '<' | '>' | '=');
        let compared = condition.find(is_operator).filter(|at| *at > 0);
        let compared = compared.and_then(|at| {
            let (left, rest) = condition.split_at_checked(at)?;
            let right = rest.trim_start_matches(is_operator);
            let operator = rest.strip_suffix(right)?;
            (!right.is_empty()).then_some((left, operator, right))
        });
        let Some((left, operator, right)) = compared else {
            let left = Path::parse_at(condition, depth)?;
            return Some(Self { left, right: None });
        };
        Some(Self {
            left: Path::parse_at(left, depth)?,
            right: Some((Operator::named(operator), Path::parse_at(right, depth)?)),
        })
    }
}

/// Reads a number, a text in quotes, a truth, or another word.
fn literal(text: &str) -> Option<(Step, &str)> {
    let first = text.chars().next()?;
    if let '"' | '\'' = first {
        let (value, after) = quoted(text.get(1..)?, first)?;
        return Some((Step::Literal(Value::from(value)), after));
    }
    if matches!(first, '+' | '-') || first.is_ascii_digit() {
        let digits = text.trim_start_matches(['+', '-']);
        let after =
            digits.trim_start_matches(|letter: char| letter == '.' || letter.is_ascii_digit());
        let number = text.strip_suffix(after)?;
        let whole = number.parse::<i64>().ok().map(Value::from);
        let value = whole.or_else(|| number.parse::<f64>().ok().map(Value::from))?;
        return Some((Step::Literal(value), after));
    }
    if !is_word(first) {
        return None;
    }
    let end = text.find(ends_member).unwrap_or(text.len());
    let (word, after) = text.split_at_checked(end)?;
    let step = word
        .parse()
        .map_or(Step::Word, |truth| Step::Literal(Value::Bool(truth)));
    Some((step, after))
}

/// Reads a text up to its closing quote.
fn quoted(text: &str, quote: char) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut letters = text.chars();
    loop {
        match letters.next()? {
            '\n' => return None,
            '\\' => value.push(match letters.next()? {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                '\\' => '\\',
                letter if letter == quote => quote,
                // Others are not worth their rules.
                _ => return None,
            }),
            letter if letter == quote => return Some((value, letters.as_str())),
            letter => value.push(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_forms_are_refused() {
        for path in [
            "(name)",
            "....a",
            ".a[",
            ".a[x]",
            ".a[+1]",
            ".a[1:2:3:4]",
            ".a[99999999999999999999]",
            ".a['b]",
            ".a['b,c']",
            ".a[?(@.b]",
            ".a[?(@.b==\"x)]",
            ".a[?(@.b==1.2.3)]",
            ".a[?(@.b==%)]",
            ".a[?(@.b=='\\q')]",
            "{.a}",
            ".a}{.b}",
        ] {
            assert_eq!(Path::parse(path), None, "{path}");
        }
    }

    #[test]
    fn an_error_says_where() {
        for (path, place) in [
            (".a.b[x].c", "[x].c"),
            ("%a", "%a"),
            (".a[?(@.b==%)].c", "[?(@.b==%)].c"),
        ] {
            let left = Path::parse_located(path).err().unwrap_or_default();
            assert_eq!(left, place, "{path}");
        }
    }

    #[test]
    fn paths_within_paths_are_bounded() {
        let nested = |depth| ".a[?(@".repeat(depth) + &")]".repeat(depth);
        assert!(Path::parse(&nested(1)).is_some());
        assert_eq!(Path::parse(&nested(100_000)), None);
        assert_eq!(Path::parse_at(".a['b']", 1), None);
    }
}
