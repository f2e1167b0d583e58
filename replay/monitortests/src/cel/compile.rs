//! The way from an expression's text to a [`CelNode`] tree: parses, resolves names, compiles regexes and
//! points errors at characters.

use super::functions;
use super::functions::FunctionKind;
use super::functions::OwnFunction;
use super::node::{BinaryOperator, CelConstant, CelNode, LoopKind};
use super::reads::Reads;
use kube_cel::cel::Value as CelValue;
use kube_cel::cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, operators,
};
use kube_cel::cel::parser::Parser;
use regex::{Regex, RegexBuilder};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::thread::{self, ScopedJoinHandle};

/// How long an expression may be.
const MAX_TEXT: usize = 4096;
/// How deep loops may be nested.
const MAX_NESTED: usize = 2;
/// How large a compiled regex may be.
const MAX_REGEX_BYTES: usize = 1 << 18;
/// How deep an expression may be nested.
const MAX_DEPTH: u16 = 48;
/// How many operators and members may follow one another: each is a level of the tree.
const MAX_LEVELS: usize = 128;
/// The stack for the parser, which takes some of it for each level of the longest expression.
const PARSER_STACK: usize = 256 << 20;

/// What is wrong with an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CompileError {
    /// Where, in characters from 0.
    pub(crate) at: usize,
    /// How many characters are meant.
    pub(crate) width: usize,
    /// What is wrong.
    pub(crate) what: String,
    /// What to do; may be empty.
    pub(crate) hint: String,
}

/// An expression that can be evaluated.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// Its text.
    pub(crate) text: Arc<str>,
    /// What is evaluated.
    pub(crate) node: CelNode,
    /// Which variables it reads, a bit each.
    variables: u128,
}

impl Program {
    /// Returns whether it reads a variable.
    pub(crate) const fn reads(&self, place: usize) -> bool {
        place < 128 && self.variables >> place & 1 == 1
    }

    /// Returns a member of a variable that it reads and that is none of the known ones.
    pub(crate) fn unknown_member(&self, place: usize, known: &[&str]) -> Option<String> {
        let paths = Reads::of(&self.node).paths.remove(&place)?;
        let mut firsts = paths.iter().filter_map(|path| path.split('.').next());
        let unknown = firsts.find(|first| !first.is_empty() && !known.contains(first));
        unknown.map(str::to_owned)
    }

    /// Returns whether it reads one variable only, and of that one only some members.
    pub(crate) fn reads_only(&self, place: usize, members: &[&str]) -> bool {
        let is_member = |path: &String| {
            let first = path.split('.').next().unwrap_or_default();
            members.contains(&first)
        };
        let mut read = Reads::of(&self.node).paths.into_iter();
        read.all(|(variable, paths)| variable == place && paths.iter().all(is_member))
    }
}

/// What a loop is made of: its kind, which items it takes, what it does with each.
type LoopParts = (LoopKind, Option<Box<CelNode>>, Box<CelNode>);

/// Makes programs of texts.
pub(crate) struct Compiler<'a> {
    /// The names of the variables, in the order of their places.
    pub(crate) variables: Vec<String>,
    /// Those that may be read.
    pub(crate) readable: Vec<String>,
    /// Says why a known variable may not be read.
    pub(crate) why_not: &'a dyn Fn(&str) -> Option<&'static str>,
    /// Returns the values that a variable may have, if they are few.
    pub(crate) words: &'a dyn Fn(&str) -> Option<&'static [&'static str]>,
    /// The constants of the files.
    pub(crate) constants: &'a BTreeMap<String, Arc<Value>>,
}

impl Compiler<'_> {
    /// Makes a program of a text.
    pub(crate) fn compile(&self, text: &str) -> Result<Program, CompileError> {
        let chars = text.chars().count();
        if chars > MAX_TEXT {
            return Err(CompileError {
                at: 0,
                width: 1,
                what: format!("the expression has {chars} characters"),
                hint: format!("at most {MAX_TEXT} are allowed"),
            });
        }
        let found = SourceWords::of(text);
        if found.choices > MAX_DEPTH.into() {
            return Err(too_deep());
        }
        let parsed = parse(text)?;
        let mut step = NodeBuilder {
            compiler: self,
            words: found.words,
            locals: Vec::new(),
            nested: 0,
        };
        let node = step.node(&parsed)?;
        let read = Reads::of(&node);
        let bits = read.paths.keys().filter(|place| **place < 128);
        Ok(Program {
            text: Arc::from(text),
            variables: bits.fold(0, |bits, place| bits | 1 << place),
            node,
        })
    }
}

/// Reads an expression. The library's parser is generated and large: should it panic, the expression
/// is refused.
fn parse(text: &str) -> Result<IdedExpr, CompileError> {
    let read = || {
        Parser::new()
            .max_recursion_depth(MAX_DEPTH)
            .enable_optional_syntax(true)
            .parse(text)
            // A tree of too many levels is dropped here, where the stack is large.
            .map(|parsed| Some(parsed).filter(|parsed| !is_too_deep(parsed)))
    };
    let broken = |at: usize, what: &str| CompileError {
        at,
        width: 1,
        what: format!("invalid CEL: {what}"),
        hint: String::new(),
    };
    let parsed = thread::scope(|scope| {
        let parser = thread::Builder::new().stack_size(PARSER_STACK);
        parser.spawn_scoped(scope, read).map(ScopedJoinHandle::join)
    });
    // The message of a panic is not meant for people.
    let Ok(Ok(parsed)) = parsed else {
        return Err(broken(0, "the expression cannot be parsed"));
    };
    let parsed = parsed.map_err(|errors| {
        let Some(first) = errors.errors.first() else {
            return broken(0, "the expression cannot be parsed");
        };
        let (line, column) = first.pos;
        let what = first.msg.lines().next().unwrap_or_default();
        broken(offset(text, line, column), what)
    })?;
    parsed.ok_or_else(too_deep)
}

/// Returns whether a tree has too many levels.
fn is_too_deep(tree: &IdedExpr) -> bool {
    let mut rest = vec![(tree, 0)];
    while let Some((expression, level)) = rest.pop() {
        if level > MAX_LEVELS {
            return true;
        }
        let mut inner: Vec<&IdedExpr> = Vec::new();
        match &expression.expr {
            Expr::Call(call) => {
                inner.extend(call.target.as_deref());
                inner.extend(&call.args);
            }
            Expr::Comprehension(each) => inner.extend([
                &each.iter_range,
                &each.accu_init,
                &each.loop_cond,
                &each.loop_step,
                &each.result,
            ]),
            Expr::List(list) => inner.extend(&list.elements),
            Expr::Map(map) => {
                for entry in &map.entries {
                    match &entry.expr {
                        EntryExpr::MapEntry(entry) => inner.extend([&entry.key, &entry.value]),
                        EntryExpr::StructField(field) => inner.push(&field.value),
                    }
                }
            }
            Expr::Select(select) => inner.push(&select.operand),
            // Messages are refused.
            Expr::Struct(_) | Expr::Ident(_) | Expr::Literal(_) | Expr::Unspecified => {}
        }
        rest.extend(inner.into_iter().map(|inner| (inner, level + 1)));
    }
    false
}

fn too_deep() -> CompileError {
    CompileError {
        at: 0,
        width: 1,
        what: "the expression has too many levels".to_owned(),
        hint: format!(
            "at most {MAX_LEVELS} operators and members in a row, and {MAX_DEPTH} parentheses or `? :` in one another"
        ),
    }
}

/// Returns the place of a line and column, both from 1.
fn offset(text: &str, line: isize, column: isize) -> usize {
    let line = usize::try_from(line).unwrap_or_default().saturating_sub(1);
    let column = usize::try_from(column)
        .unwrap_or_default()
        .saturating_sub(1);
    let before = text.split_inclusive('\n').take(line);
    let before: usize = before.map(|line| line.chars().count()).sum();
    (before + column).min(text.chars().count())
}

/// The way through one expression.
struct NodeBuilder<'a> {
    compiler: &'a Compiler<'a>,
    words: Vec<SourceWord>,
    locals: Vec<String>,
    nested: usize,
}

impl NodeBuilder<'_> {
    /// Makes an error that points at a word.
    fn wrong(
        &self,
        is_it: impl Fn(&SourceWord) -> bool,
        what: impl Into<String>,
        hint: impl Into<String>,
    ) -> CompileError {
        let word = self.words.iter().find(|word| is_it(word));
        CompileError {
            at: word.map_or(0, |word| word.at),
            width: word.map_or(1, |word| word.text.chars().count()),
            what: what.into(),
            hint: hint.into(),
        }
    }

    fn boxed(&mut self, expression: &IdedExpr) -> Result<Box<CelNode>, CompileError> {
        self.node(expression).map(Box::new)
    }

    fn all(&mut self, expressions: &[IdedExpr]) -> Result<Vec<CelNode>, CompileError> {
        expressions.iter().map(|one| self.node(one)).collect()
    }

    fn node(&mut self, expression: &IdedExpr) -> Result<CelNode, CompileError> {
        match &expression.expr {
            Expr::Literal(literal) => {
                let value = CelValue::try_from(literal.to_val().as_ref());
                match value {
                    Ok(CelValue::Null) => Ok(CelNode::CelConstant(CelConstant::Null)),
                    Ok(CelValue::Bool(value)) => Ok(CelNode::CelConstant(CelConstant::Bool(value))),
                    Ok(CelValue::Int(value)) => Ok(CelNode::CelConstant(CelConstant::Int(value))),
                    Ok(CelValue::UInt(value)) => Ok(CelNode::CelConstant(CelConstant::Uint(value))),
                    Ok(CelValue::Float(value)) => {
                        Ok(CelNode::CelConstant(CelConstant::Double(value)))
                    }
                    Ok(CelValue::String(value)) => Ok(CelNode::CelConstant(CelConstant::Text(
                        Arc::from(value.as_str()),
                    ))),
                    _ => Err(self.wrong(|_| false, "bytes are not supported", "write a text")),
                }
            }
            Expr::Ident(name) => self.name(name),
            Expr::Select(select) => {
                if let Expr::Ident(name) = &select.operand.expr
                    && name == "constants"
                    && !self.locals.contains(name)
                {
                    return self.constant(&select.field);
                }
                let of = self.boxed(&select.operand)?;
                let field = Arc::from(select.field.as_str());
                Ok(if select.test {
                    CelNode::Has { of, field }
                } else {
                    CelNode::Select {
                        of,
                        field,
                        is_optional: false,
                    }
                })
            }
            Expr::List(list) => {
                if list.optional_indices.is_empty() {
                    return Ok(CelNode::List(self.all(&list.elements)?));
                }
                Err(self.wrong(|_| false, "optional list elements are not supported", ""))
            }
            Expr::Map(map) => {
                let mut entries = Vec::new();
                for entry in &map.entries {
                    let EntryExpr::MapEntry(entry) = &entry.expr else {
                        return Err(self.wrong(|_| false, "messages are not supported", ""));
                    };
                    entries.push((self.node(&entry.key)?, self.node(&entry.value)?));
                }
                Ok(CelNode::Map(entries))
            }
            Expr::Call(call) => self.call(call),
            Expr::Comprehension(comprehension) => self.comprehension(comprehension),
            Expr::Struct(_) => Err(self.wrong(|_| false, "messages are not supported", "")),
            Expr::Unspecified => Err(self.wrong(|_| false, "the expression is empty", "")),
        }
    }

    fn name(&self, name: &str) -> Result<CelNode, CompileError> {
        if let Some(depth) = self.locals.iter().rposition(|local| local == name) {
            return Ok(CelNode::Local(depth));
        }
        let known = &self.compiler.variables;
        let readable = &self.compiler.readable;
        let place = known.iter().position(|known| known == name);
        if let Some(place) = place
            && readable.iter().any(|readable| readable == name)
        {
            return Ok(CelNode::Variable(place));
        }
        let is_it = |word: &SourceWord| word.text == name && !word.is_member;
        if name == "constants" {
            let hint = "name one: constants.NAME";
            return Err(self.wrong(is_it, "`constants` alone is not a value", hint));
        }
        if let Some(why) = (self.compiler.why_not)(name).filter(|_| place.is_some()) {
            return Err(self.wrong(is_it, format!("`{name}` is not available here"), why));
        }
        let mut all: Vec<&str> = readable.iter().map(String::as_str).collect();
        let near = functions::nearest(name, all.iter().copied());
        all.push("constants");
        all.sort_unstable();
        let hint = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("available here: {}", all.join(", ")),
        };
        Err(self.wrong(is_it, format!("unknown variable `{name}`"), hint))
    }

    fn constant(&self, name: &str) -> Result<CelNode, CompileError> {
        let constants = self.compiler.constants;
        if let Some(value) = constants.get(name) {
            return Ok(CelNode::Shared(Arc::clone(value)));
        }
        let near = functions::nearest(name, constants.keys().map(String::as_str));
        let hint = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "define it at the top of a file, under `constants`".to_owned(),
        };
        let is_it = |word: &SourceWord| word.text == name && word.is_member;
        Err(self.wrong(is_it, format!("unknown constant `{name}`"), hint))
    }

    fn call(&mut self, call: &CallExpr) -> Result<CelNode, CompileError> {
        let name = call.func_name.as_str();
        if let Some(node) = self.operator(name, &call.args)? {
            return Ok(node);
        }
        // `optional.of(x)` and `math.abs(x)` are names with a dot, not calls of a target.
        let qualified = match call.target.as_deref().map(|target| &target.expr) {
            Some(Expr::Ident(prefix)) => Some(format!("{prefix}.{name}")),
            _ => None,
        };
        let qualified = qualified.filter(|name| functions::function(name).is_some());
        let full = qualified.as_deref().unwrap_or(name);
        let is_it = |word: &SourceWord| word.text == name && word.is_called;
        let Some(called) = functions::function(full) else {
            let hint = match functions::nearest(name, functions::functions()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "docs/rules.md and the Kubernetes documentation of CEL list the functions"
                    .to_owned(),
            };
            return Err(self.wrong(is_it, format!("unknown function `{name}`"), hint));
        };
        let target = call.target.as_deref().filter(|_| qualified.is_none());
        let has_target = target.is_some();
        let mut arguments = Vec::new();
        for argument in target.into_iter().chain(&call.args) {
            arguments.push(self.node(argument)?);
        }
        match called {
            // The library ignores what else it is given: CEL's time zones.
            FunctionKind::Library if name.starts_with("get") && !call.args.is_empty() => {
                let hint = "parts of a time are those of UTC";
                Err(self.wrong(is_it, format!("`{name}` takes no argument"), hint))
            }
            FunctionKind::Library => Ok(CelNode::Library {
                name: Arc::from(full),
                has_target,
                arguments,
            }),
            FunctionKind::Own(own, count) if arguments.len() == count => {
                self.own_call(name, own, arguments)
            }
            FunctionKind::Own(_, count) => {
                let what = format!("`{name}` is called with {} arguments", arguments.len());
                Err(self.wrong(
                    is_it,
                    what,
                    format!("it takes {count}, including the target"),
                ))
            }
            FunctionKind::Regex => self.regex_call(name, arguments),
        }
    }

    /// Takes times that are written as constants at once.
    fn own_call(
        &self,
        name: &str,
        own: OwnFunction,
        arguments: Vec<CelNode>,
    ) -> Result<CelNode, CompileError> {
        let [CelNode::CelConstant(CelConstant::Text(text))] = arguments.as_slice() else {
            return Ok(CelNode::OwnFunction(own, arguments));
        };
        let (constant, example) = match own {
            OwnFunction::Timestamp => (
                functions::timestamp(text).map(CelConstant::Time),
                "2025-11-21T14:22:31Z",
            ),
            OwnFunction::Duration => (functions::duration(text).map(CelConstant::Span), "1h30m"),
            _ => return Ok(CelNode::OwnFunction(own, arguments)),
        };
        constant.map(CelNode::CelConstant).ok_or_else(|| {
            let is_it = |word: &SourceWord| word.text == name && word.is_called;
            let what = format!("`{name}` does not accept `{text}`");
            self.wrong(is_it, what, format!("write `{name}(\"{example}\")`"))
        })
    }

    fn regex_call(&self, name: &str, arguments: Vec<CelNode>) -> Result<CelNode, CompileError> {
        let is_it = |word: &SourceWord| word.text == name && word.is_called;
        let mut arguments = arguments.into_iter();
        let (Some(text), Some(pattern), None) =
            (arguments.next(), arguments.next(), arguments.next())
        else {
            let hint = format!("string.{name}(\"regex\")");
            return Err(self.wrong(is_it, format!("`{name}` takes a string and a regex"), hint));
        };
        let CelNode::CelConstant(CelConstant::Text(pattern)) = pattern else {
            let hint = "write it as a string literal: it is compiled once, when the file is read";
            return Err(self.wrong(
                is_it,
                format!("the regex of `{name}` is not constant"),
                hint,
            ));
        };
        let regex = regex(&pattern).map_err(|what| self.wrong(is_it, what, ""))?;
        let text = Box::new(text);
        Ok(match name {
            "matches" => CelNode::Matches(text, regex),
            "find" => CelNode::Find(text, regex),
            _ => CelNode::FindAll(text, regex),
        })
    }

    fn operator(&mut self, name: &str, args: &[IdedExpr]) -> Result<Option<CelNode>, CompileError> {
        let node = match (name, args) {
            (operators::CONDITIONAL, [test, yes, no]) => CelNode::If(Box::new([
                self.node(test)?,
                self.node(yes)?,
                self.node(no)?,
            ])),
            (operators::LOGICAL_AND, [one, other]) => {
                CelNode::And(self.boxed(one)?, self.boxed(other)?)
            }
            (operators::LOGICAL_OR, [one, other]) => {
                CelNode::Or(self.boxed(one)?, self.boxed(other)?)
            }
            (operators::LOGICAL_NOT, [one]) => CelNode::Not(self.boxed(one)?),
            (operators::NEGATE, [one]) => CelNode::Negate(self.boxed(one)?),
            (operators::INDEX | operators::OPT_INDEX, [of, by]) => CelNode::Index {
                of: self.boxed(of)?,
                by: self.boxed(by)?,
                is_optional: name == operators::OPT_INDEX,
            },
            (operators::OPT_SELECT, [of, field]) => {
                let of = self.boxed(of)?;
                let CelNode::CelConstant(CelConstant::Text(field)) = self.node(field)? else {
                    return Err(self.wrong(|_| false, "a field must be a name", ""));
                };
                CelNode::Select {
                    of,
                    field,
                    is_optional: true,
                }
            }
            (operators::IN, [one, other]) => {
                let one = self.node(one)?;
                match self.node(other)? {
                    CelNode::Shared(value) => match texts(&value) {
                        Some(texts) => CelNode::InTexts(Box::new(one), Arc::new(texts)),
                        None => CelNode::BinaryOperator(
                            BinaryOperator::In,
                            Box::new([one, CelNode::Shared(value)]),
                        ),
                    },
                    other => CelNode::BinaryOperator(BinaryOperator::In, Box::new([one, other])),
                }
            }
            (_, [one, other]) => {
                let Some(binary) = binary(name) else {
                    return Ok(None);
                };
                if matches!(binary, BinaryOperator::Equal | BinaryOperator::Unequal) {
                    self.compared(one, other)?;
                    self.compared(other, one)?;
                }
                CelNode::BinaryOperator(binary, Box::new([self.node(one)?, self.node(other)?]))
            }
            _ => return Ok(None),
        };
        Ok(Some(node))
    }

    /// Refuses a text that a variable cannot be.
    fn compared(&self, variable: &IdedExpr, text: &IdedExpr) -> Result<(), CompileError> {
        let (Expr::Ident(name), Expr::Literal(text)) = (&variable.expr, &text.expr) else {
            return Ok(());
        };
        let Ok(CelValue::String(text)) = CelValue::try_from(text.to_val().as_ref()) else {
            return Ok(());
        };
        let words = (self.compiler.words)(name).filter(|_| !self.locals.contains(name));
        let Some(words) = words.filter(|words| !words.contains(&text.as_str())) else {
            return Ok(());
        };
        let hint = match functions::nearest(&text, words.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("it is one of {}", words.join(", ")),
        };
        let is_it = |word: &SourceWord| word.text == *name && !word.is_member;
        Err(self.wrong(is_it, format!("`{name}` is never \"{text}\""), hint))
    }

    /// Takes the library's expansion of a macro back to the macro.
    fn comprehension(&mut self, loops: &ComprehensionExpr) -> Result<CelNode, CompileError> {
        let Expr::Call(step) = &loops.loop_step.expr else {
            return Err(self.wrong(|_| false, "this kind of loop is not supported", ""));
        };
        let over = self.boxed(&loops.iter_range)?;
        if self.nested >= MAX_NESTED {
            let loops = ["all", "exists", "exists_one", "existsOne", "filter", "map"];
            let mut found = self
                .words
                .iter()
                .filter(|word| word.is_called && loops.contains(&word.text.as_str()));
            let at = found.nth(MAX_NESTED).map(|word| word.at);
            let what = format!("loops are nested deeper than {MAX_NESTED}");
            let hint = "each nesting multiplies the time; watch `items`, or write two checks";
            return Err(self.wrong(|word| Some(word.at) == at, what, hint));
        }
        self.nested += 1;
        self.locals.push(loops.iter_var.clone());
        let found = self.body(loops, step);
        self.locals.pop();
        self.nested -= 1;
        let (kind, only, body) = found?;
        Ok(CelNode::LoopKind {
            kind,
            over,
            only,
            body,
        })
    }

    fn body(
        &mut self,
        loops: &ComprehensionExpr,
        step: &CallExpr,
    ) -> Result<LoopParts, CompileError> {
        let unknown = |step: &Self| step.wrong(|_| false, "this kind of loop is not supported", "");
        // What a loop that gathers adds: `result + [item]`.
        let added = |args: &[IdedExpr]| match args {
            [
                _,
                IdedExpr {
                    expr: Expr::List(list),
                    ..
                },
            ] => list.elements.first().cloned(),
            _ => None,
        };
        match (step.func_name.as_str(), step.args.as_slice()) {
            (operators::LOGICAL_OR, [_, body]) => Ok((LoopKind::Exists, None, self.boxed(body)?)),
            (operators::LOGICAL_AND, [_, body]) => Ok((LoopKind::All, None, self.boxed(body)?)),
            (operators::ADD, args) => {
                let body = added(args).ok_or_else(|| unknown(self))?;
                Ok((LoopKind::Map, None, self.boxed(&body)?))
            }
            (operators::CONDITIONAL, [test, then, _]) => {
                if matches!(&loops.accu_init.expr, Expr::Literal(_)) {
                    return Ok((LoopKind::ExistsOne, None, self.boxed(test)?));
                }
                let item = match &then.expr {
                    Expr::Call(call) if call.func_name == operators::ADD => added(&call.args),
                    _ => None,
                };
                let item = item.ok_or_else(|| unknown(self))?;
                let is_item = matches!(&item.expr, Expr::Ident(name) if *name == loops.iter_var);
                if is_item {
                    return Ok((LoopKind::Filter, None, self.boxed(test)?));
                }
                let only = self.boxed(test)?;
                Ok((LoopKind::Map, Some(only), self.boxed(&item)?))
            }
            _ => Err(unknown(self)),
        }
    }
}

/// Returns a list of texts as a set, if it is one.
fn texts(value: &Value) -> Option<BTreeSet<String>> {
    let texts = value.as_array()?.iter();
    texts.map(|text| text.as_str().map(str::to_owned)).collect()
}

fn binary(name: &str) -> Option<BinaryOperator> {
    Some(match name {
        operators::EQUALS => BinaryOperator::Equal,
        operators::NOT_EQUALS => BinaryOperator::Unequal,
        operators::LESS => BinaryOperator::Less,
        operators::LESS_EQUALS => BinaryOperator::AtMost,
        operators::GREATER => BinaryOperator::Greater,
        operators::GREATER_EQUALS => BinaryOperator::AtLeast,
        operators::ADD => BinaryOperator::Add,
        operators::SUBSTRACT => BinaryOperator::Subtract,
        operators::MULTIPLY => BinaryOperator::Multiply,
        operators::DIVIDE => BinaryOperator::Divide,
        operators::MODULO => BinaryOperator::Modulo,
        _ => return None,
    })
}

/// Compiles a regex within bounds.
pub(crate) fn regex(pattern: &str) -> Result<Regex, String> {
    let built = RegexBuilder::new(pattern)
        .size_limit(MAX_REGEX_BYTES)
        .dfa_size_limit(MAX_REGEX_BYTES)
        .nest_limit(64)
        .build();
    built.map_err(|error| match error {
        regex::Error::CompiledTooBig(most) => {
            format!("the compiled regex would exceed {most} bytes")
        }
        other => {
            let text = other.to_string();
            let last = text.lines().rev().find(|line| !line.trim().is_empty());
            format!("invalid regex: {}", last.unwrap_or_default().trim())
        }
    })
}

/// A word of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SourceWord {
    /// Its place, in characters from 0.
    at: usize,
    /// Its text.
    text: String,
    /// Whether a dot stands before it.
    is_member: bool,
    /// Whether it is called.
    is_called: bool,
}

/// The words of an expression, and how often it chooses by `? :`: not those in texts or remarks.
#[derive(Default)]
struct SourceWords {
    words: Vec<SourceWord>,
    choices: usize,
}

impl SourceWords {
    fn of(text: &str) -> Self {
        let chars: Vec<char> = text.chars().collect();
        let mut found = Self::default();
        let words = &mut found.words;
        let mut at = 0;
        let mut before = ' ';
        while let Some(&c) = chars.get(at) {
            if c == '/' && chars.get(at + 1) == Some(&'/') {
                at = end_of_line(&chars, at);
            } else if c == '"' || c == '\'' {
                let is_raw = words.last().is_some_and(|word| {
                    word.at + word.text.len() == at && word.text.to_lowercase().contains('r')
                });
                at = end_of_text(&chars, at, c, is_raw);
                before = c;
            } else if c.is_ascii_digit() {
                // Digits and what belongs to them, `0x1F`, `1e3`, `7u`.
                at = end_of_word(&chars, at);
                before = '0';
            } else if c.is_ascii_alphabetic() || c == '_' {
                let end = end_of_word(&chars, at);
                let text: String = chars.get(at..end).unwrap_or_default().iter().collect();
                let behind = chars.iter().skip(end).find(|c| !c.is_whitespace());
                words.push(SourceWord {
                    at,
                    text,
                    is_member: before == '.',
                    is_called: behind == Some(&'('),
                });
                at = end;
                before = 'a';
            } else {
                // The question mark of `.?name` keeps the dot in mind.
                let is_in_member = c == '?' && before == '.';
                // Neither `.?name` nor an optional item, `[?0]`.
                found.choices += usize::from(c == '?' && !matches!(before, '.' | '[' | '{' | ','));
                if !c.is_whitespace() && !is_in_member {
                    before = c;
                }
                at += 1;
            }
        }
        found
    }
}

fn end_of_line(chars: &[char], from: usize) -> usize {
    let found = chars.iter().skip(from).position(|c| *c == '\n');
    found.map_or(chars.len(), |found| from + found)
}

fn end_of_word(chars: &[char], from: usize) -> usize {
    let is_in = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
    let found = chars.iter().skip(from).position(|c| !is_in(c));
    found.map_or(chars.len(), |found| from + found)
}

fn end_of_text(chars: &[char], from: usize, quote: char, is_raw: bool) -> usize {
    let is_quote = |at: usize| chars.get(at) == Some(&quote);
    let is_long = is_quote(from + 1) && is_quote(from + 2);
    let mut at = from + if is_long { 3 } else { 1 };
    while at < chars.len() {
        if !is_raw && chars.get(at) == Some(&'\\') {
            at += 2;
        } else if is_quote(at) && (!is_long || (is_quote(at + 1) && is_quote(at + 2))) {
            return at + if is_long { 3 } else { 1 };
        } else {
            at += 1;
        }
    }
    chars.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(usize, String, bool, bool)> {
        let found = SourceWords::of(text).words.into_iter();
        found
            .map(|word| (word.at, word.text, word.is_member, word.is_called))
            .collect()
    }

    #[test]
    fn words_are_found_outside_of_texts() {
        let word = |at, text: &str, member, called| (at, text.to_owned(), member, called);
        assert_eq!(
            found(r#"a.b == "c \" d" && has(e.?f) // g"#),
            [
                word(0, "a", false, false),
                word(2, "b", true, false),
                word(19, "has", false, true),
                word(23, "e", false, false),
                word(26, "f", true, false),
            ]
        );
        assert_eq!(
            found(r#"r'\' + """ "x" """ + b"#),
            [word(0, "r", false, false), word(21, "b", false, false)]
        );
    }
}
