//! Expressions and their values, and our evaluation beside the library's own.

use super::compile::{CompileError, Compiler, Program};
use super::eval::{EvalError, Slots};
use super::value::Val;
use kube_cel::KubeCelExt as _;
use kube_cel::cel::objects::Key;
use kube_cel::cel::{Context, Value as CelValue};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

fn compiled(text: &str) -> Program {
    compile(text).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

fn compile(text: &str) -> Result<Program, CompileError> {
    let constants = [("names".to_owned(), Arc::new(json!(["a", "b"])))];
    let constants: BTreeMap<String, Arc<Value>> = constants.into();
    let names = vec!["object".to_owned(), "old".to_owned()];
    let compiler = Compiler {
        variables: names.clone(),
        readable: names,
        why_not: &|_| None,
        words: &|_| None,
        constants: &constants,
    };
    compiler.compile(text)
}

fn object() -> Value {
    json!({
        "metadata": {"name": "web", "labels": {"app": "x", "a.b/c": "d"}, "creationTimestamp": "2026-11-21T10:00:00Z"},
        "spec": {"replicas": 3, "ratio": 0.5, "big": 18_446_744_073_709_551_615_u64, "nothing": null},
        "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Failing", "status": "False"}]},
        "list": [1, 2, 3],
        "words": ["b", "a"],
    })
}

fn told(text: &str) -> String {
    let program = compiled(text);
    let object = object();
    let mut slots = Slots::default();
    slots.set(0, Some(Val::json(&object)));
    match program.value(&slots) {
        Ok(value) => value.to_string(),
        Err(EvalError::Absent { what }) => format!("absent: {what}"),
        Err(EvalError::Wrong { what }) => format!("wrong: {what}"),
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn expressions_have_their_values() {
    let expected = [
        // Whole numbers of JSON are numbers, not only unsigned ones.
        ("object.spec.replicas == 3", "true"),
        ("object.spec.replicas + 1 == 4", "true"),
        ("object.spec.replicas - 5 < 0", "true"),
        ("object.spec.big > 1", "true"),
        ("object.spec.ratio * 2.0 == 1.0", "true"),
        ("object.spec.replicas > 2.5", "true"),
        // What is not there.
        ("object.spec.missing", "absent: the field `missing`"),
        ("object.spec.missing == 1 || true", "true"),
        ("true || object.spec.missing == 1", "true"),
        ("object.spec.missing == 1 && false", "false"),
        (
            "object.spec.missing == 1 && true",
            "absent: the field `missing`",
        ),
        ("has(object.spec.missing)", "false"),
        ("has(object.no.such.thing)", "false"),
        ("has(object.spec.nothing)", "true"),
        (
            "has(object.spec.replicas.x)",
            "wrong: cannot read field `x` of number",
        ),
        ("object.?spec.?missing.orValue(7)", "7"),
        ("object.?spec.?replicas.orValue(7)", "3"),
        ("object.?no.?such.thing.orValue(7)", "7"),
        ("object.spec.?nothing.orValue(7)", "7"),
        ("object.spec.?missing.hasValue()", "false"),
        ("object.list[?9].orValue(0)", "0"),
        ("object.list[9]", "absent: the item `9`"),
        ("object.metadata.labels['a.b/c']", "d"),
        ("object.metadata.labels[?'x'].orValue('y')", "y"),
        (
            "old.x == 1",
            "absent: a variable that has no value at that moment",
        ),
        ("has(old.x)", "false"),
        (
            "old.?x.orValue(1)",
            "absent: a variable that has no value at that moment",
        ),
        // Kinds that do not go together.
        (
            "object.spec.replicas == '3'",
            "wrong: cannot compare number with string",
        ),
        ("object.spec.replicas != null", "true"),
        (
            "object.metadata.name < 3",
            "wrong: cannot order string and number",
        ),
        ("1 + 'x'", "wrong: no arithmetic between number and string"),
        (
            "9223372036854775807 + 1",
            "wrong: number overflow or division by zero",
        ),
        ("1 / 0", "wrong: number overflow or division by zero"),
        (
            "!object.spec.replicas",
            "wrong: expected bool, found number",
        ),
        // Loops.
        ("object.list.all(x, x > 0)", "true"),
        ("object.list.exists(x, x > 3)", "false"),
        ("object.list.exists_one(x, x > 2)", "true"),
        ("object.list.filter(x, x > 1)", "[2, 3]"),
        ("object.list.map(x, x * 2)", "[2, 4, 6]"),
        ("object.list.map(x, x > 1, x * 2)", "[4, 6]"),
        (
            "object.list.exists(x, object.words.exists(w, w == 'a' && x == 3))",
            "true",
        ),
        ("object.metadata.labels.exists(name, name == 'app')", "true"),
        ("object.list.all(x, x > 5 && object.missing)", "false"),
        ("object.list.exists(x, x == 3 || object.missing)", "true"),
        // Functions.
        ("size(object.words) + size('äb')", "4"),
        ("'a' in object.words", "true"),
        ("'app' in object.metadata.labels", "true"),
        ("object.metadata.name in constants.names", "false"),
        ("'a' in constants.names", "true"),
        (
            "object.metadata.name.startsWith('we') && 'web'.endsWith('b') && 'web'.contains('e')",
            "true",
        ),
        ("object.metadata.name.matches('^w.b$')", "true"),
        ("'a1b22'.find('[0-9]+')", "1"),
        ("'a1b22'.findAll('[0-9]+')", "[1, 22]"),
        (
            "timestamp(object.metadata.creationTimestamp) + duration('90m')",
            "2026-11-21T11:30:00.000Z",
        ),
        (
            "timestamp('2026-11-21T10:00:00Z') - timestamp(object.metadata.creationTimestamp)",
            "0s",
        ),
        (
            "timestamp(object.metadata.creationTimestamp).getHours()",
            "10",
        ),
        ("int('42') + int(2.9)", "44"),
        ("string(3) + 'x'", "3x"),
        ("double('1.5') + 1.0", "2.5"),
        ("condition(object, 'Ready').status", "True"),
        ("condition(object, 'Ready').?status.orValue('')", "True"),
        ("condition(object, 'Nix').?status.orValue('none')", "none"),
        (
            "conditionIs(object, 'Ready', 'True') && !conditionIs(object, 'Nix', 'True')",
            "true",
        ),
        (
            "matchesSelector({'matchLabels': {'app': 'x'}}, object.metadata.labels)",
            "true",
        ),
        (
            "matchesSelector({'matchExpressions': [{'key': 'app', 'operator': 'NotIn', 'values': ['x']}]}, object.metadata.labels)",
            "false",
        ),
        ("matchesSelector({}, object.metadata.labels)", "true"),
        (
            "matchesSelector({'app': 'x'}, object.metadata.labels)",
            "true",
        ),
        (
            "matchesSelector({'app': 'y'}, object.metadata.labels)",
            "false",
        ),
        ("matchesSelector(null, object.metadata.labels)", "false"),
        ("quantity('1Gi').isGreaterThan(quantity('1000Mi'))", "true"),
        ("semver('4.21.9').isLessThan(semver('4.22.0'))", "true"),
        ("'b,a'.split(',').sort().join('-')", "a-b"),
        ("object.words.sort()", "[a, b]"),
        ("'X'.lowerAscii()", "x"),
        ("math.abs(-3)", "3"),
        ("isQuantity('x')", "false"),
        (
            "quantity('x')",
            "wrong: `quantity`: no numeric value in 'x'",
        ),
        ("1 > 0 ? 'yes' : 'no'", "yes"),
        ("[1, 2] + [3]", "[1, 2, 3]"),
        ("{'a': 1}.a", "1"),
        ("-object.spec.replicas", "-3"),
        ("7 % 4", "3"),
        ("[1, 'a'] == [1, 'a'] && {'a': [1]} == {'a': [1.0]}", "true"),
    ];
    for (text, value) in expected {
        assert_eq!(told(text), value, "{text}");
    }
}

fn lent(value: &Value) -> CelValue {
    match value {
        Value::Null => CelValue::Null,
        Value::Bool(value) => CelValue::Bool(*value),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => CelValue::Int(whole),
            None => CelValue::Float(number.as_f64().expect("a number")),
        },
        Value::String(text) => CelValue::String(Arc::new(text.clone())),
        Value::Array(items) => CelValue::List(Arc::new(items.iter().map(lent).collect())),
        Value::Object(map) => {
            let map: HashMap<Key, CelValue> = map
                .iter()
                .map(|(name, value)| (Key::from(name.as_str()), lent(value)))
                .collect();
            CelValue::from(map)
        }
    }
}

/// Evaluates with the library's own evaluator.
fn by_library(text: &str, object: &Value) -> Option<bool> {
    let mut context = Context::default().with_all();
    context.add_variable_from_value("object", lent(object));
    let program = kube_cel::cel::Program::compile(text).ok()?;
    match program.execute(&context) {
        Ok(CelValue::Bool(value)) => Some(value),
        _ => None,
    }
}

fn by_us(text: &str, object: &Value) -> Option<bool> {
    let program = compiled(text);
    let mut slots = Slots::default();
    slots.set(0, Some(Val::json(object)));
    program.truth(&slots).ok()
}

/// Numbers, as texts of expressions.
fn numbers() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        (-4_i64..5).prop_map(|number| number.to_string()),
        Just("object.n".to_owned()),
        Just("object.m.n".to_owned()),
        Just("size(object.l)".to_owned()),
        Just("object.missing".to_owned()),
    ];
    leaf.prop_recursive(3, 12, 2, |inner| {
        let sign = prop::sample::select(vec!["+", "-", "*", "/", "%"]);
        (inner.clone(), sign, inner)
            .prop_map(|(one, sign, other)| format!("({one} {sign} {other})"))
    })
}

/// Predicates, as texts of expressions.
fn predicates() -> impl Strategy<Value = String> {
    let order = prop::sample::select(vec!["==", "!=", "<", "<=", ">", ">="]);
    let compared = (numbers(), order, numbers())
        .prop_map(|(one, order, other)| format!("{one} {order} {other}"));
    let leaf = prop_oneof![
        4 => compared,
        1 => Just("has(object.m.n)".to_owned()),
        1 => Just("has(object.m.missing)".to_owned()),
        1 => Just("object.s.startsWith('a')".to_owned()),
        1 => Just("object.s in object.w".to_owned()),
        1 => Just("object.s.matches('^a+$')".to_owned()),
    ];
    leaf.prop_recursive(3, 16, 2, |inner| {
        let looped = (
            prop::sample::select(vec!["all", "exists", "exists_one"]),
            prop::sample::select(vec!["<", ">", "=="]),
            numbers(),
        );
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(one, other)| format!("({one} && {other})")),
            (inner.clone(), inner.clone()).prop_map(|(one, other)| format!("({one} || {other})")),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(test, yes, no)| format!("(({test}) ? ({yes}) : ({no}))")),
            inner.prop_map(|one| format!("!({one})")),
            looped.prop_map(|(kind, order, other)| {
                format!("object.l.{kind}(x, x {order} {other})")
            }),
        ]
    })
}

proptest! {
    /// Where both have a value, it is the same one; and where the library has one, so have we.
    #[test]
    fn we_evaluate_as_the_library_does(
        text in predicates(),
        n in -3_i64..4,
        l in proptest::collection::vec(-3_i64..4, 0..4),
        s in "a{0,2}b?",
    ) {
        let object = json!({"n": n, "m": {"n": 2}, "l": l, "s": s, "w": ["a", "ab"]});
        let expected = by_library(&text, &object);
        let found = by_us(&text, &object);
        if expected.is_some() {
            prop_assert_eq!(found, expected, "{}", text);
        }
    }

    #[test]
    fn no_text_is_too_strange(text in ".{0,60}") {
        let constants = BTreeMap::new();
        let compiler = Compiler {
            variables: vec!["object".to_owned()],
            readable: vec!["object".to_owned()],
            why_not: &|_| None,
            words: &|_| None,
            constants: &constants,
        };
        if let Ok(program) = compiler.compile(&text) {
            let object = object();
            let mut slots = Slots::default();
            slots.set(0, Some(Val::json(&object)));
            let _value = program.value(&slots);
        }
    }
}

/// Predicates over the texts `x` and `y` of an object, with parts that no word reports.
fn worded_predicates() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        ("[xy]", "[ab]{1,2}").prop_map(|(text, word)| format!("object.{text}.contains('{word}')")),
        ("[xy]", "[ab]{0,2}").prop_map(|(text, word)| format!("object.{text} == '{word}'")),
        ("[xy]", "[ab]{0,2}").prop_map(|(text, word)| format!("object.{text} != '{word}'")),
        "[xy]".prop_map(|text| format!("object.{text}.startsWith('a')")),
        Just("object.absent == 'a'".to_owned()),
        Just("true".to_owned()),
    ];
    leaf.prop_recursive(3, 12, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(one, other)| format!("({one} && {other})")),
            (inner.clone(), inner.clone()).prop_map(|(one, other)| format!("({one} || {other})")),
            inner.prop_map(|of| format!("!({of})")),
        ]
    })
}

proptest! {
    #[test]
    fn without_its_words_a_predicate_is_false(
        text in worded_predicates(),
        x in "[abc]{0,3}",
        y in "[abc]{0,3}",
    ) {
        let program = compiled(&text);
        let object = json!({"x": x, "y": y});
        let mut slots = Slots::default();
        slots.set(0, Some(Val::json(&object)));
        // An absent field has no text that could hold a word.
        let words = program.needed_words(0).filter(|words| words.iter().all(|(name, _)| name != "absent"));
        let is_there = |(name, word): &(String, String)| {
            object[name].as_str().expect("a text").contains(word.as_str())
        };
        if words.is_some_and(|words| !words.iter().any(is_there)) {
            prop_assert_eq!(program.truth(&slots), Ok(false), "{}", text);
        }
    }
}

#[test]
fn expressions_of_too_many_levels_are_refused() {
    let choices = |count: usize| "true ? 1 : ".repeat(count) + "2";
    for (text, is_refused) in [
        ("1".to_owned() + &"+1".repeat(100), false),
        ("1".to_owned() + &"+1".repeat(1_000), true),
        ("object".to_owned() + &"[0]".repeat(1_300), true),
        ("object".to_owned() + &".a".repeat(2_000), true),
        // Of an even number nothing is left.
        ("!".repeat(4_000) + "true", false),
        ("(".repeat(2_000) + "1" + &")".repeat(2_000), true),
        (choices(20), false),
        (choices(300), true),
        ("object".to_owned() + &".?a".repeat(60), false),
    ] {
        let compiled = compile(&text);
        assert_eq!(compiled.is_err(), is_refused, "{text}");
    }
}

#[test]
fn texts_that_grow_without_bounds_end_the_evaluation() {
    let grows = r#".replace("a", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")"#.repeat(12);
    let doubles = ".map(x, x + x)".repeat(40);
    for text in [
        format!(r#"("aaaaaaaa" + object.metadata.name){grows} == """#),
        format!("[object.metadata.name]{doubles} == []"),
        r#"object.list.map(x, "%999999999d".format([x])) == []"#.to_owned(),
        r#"[[1, 2].map(x, "a")].flatten().join("-") == "" "#.to_owned()
            + "|| "
            + &format!(r#"("a"{grows}).size() > 0"#),
    ] {
        let said = told(&text);
        assert!(said.contains("takes more than"), "{text}: {said}");
    }
    assert_eq!(told(r#""a-b".replace("-", "+")"#), "a+b");
}

#[test]
fn a_predicate_tells_the_words_that_it_needs() {
    let words = |text: &str| compiled(text).needed_words(0);
    let word = |name: &str, word: &str| (name.to_owned(), word.to_owned());
    assert_eq!(words("object.x.contains('a')"), Some(vec![word("x", "a")]));
    assert_eq!(
        words("object.y != 'b' && (object.x == 'a' || object.y.contains('c'))"),
        Some(vec![word("x", "a"), word("y", "c")])
    );
    assert_eq!(words("object.x == 'a' || object.y != 'b'"), None);
    assert_eq!(words("!object.x.contains('a')"), None);
    assert_eq!(words("object.?x == 'a'"), None);
}
