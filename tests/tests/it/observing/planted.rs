//! Secrets of every documented class, planted with random values in every kind of place and encoding: a real
//! observer records them, and everything that it leaves is searched, also decoded, inflated and exported.
//!
//! `just planted-secrets` prints the table.
//!
//! The classes of secrets that redaction.md names, each with a random value. A token's form is put together
//! here, so that nobody's scanner takes it for one.
//!
//! Where a secret is planted: the field, and the encoding of the text.
//!
//! Searches bytes for secrets: as they are, and as far as they can be decoded and inflated.

use crate::observing::{Job, SURE};
use anyhow::{Context as _, Result, ensure};
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{Engine as _, alphabet};
use kubereel_format::{Note, Reel};
use kubereel_tests::recording::{Observed, program, settle};
use kubereel_tests::scripted::Kubeconfig;
use miniz_oxide::deflate::{compress_to_vec, compress_to_vec_zlib};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::process::Command;

/// Enough that each class is tried in each place.
const OBJECTS_LEAST: usize = 600;

/// One planted secret.
struct Planted {
    class: &'static str,
    /// Whether redaction.md says that it is hidden.
    is_documented: bool,
    place: &'static str,
    resource: &'static str,
    metadata: String,
    members: String,
    /// The random parts, none of which may be found anywhere.
    secrets: Vec<String>,
}

fn planted() -> Vec<Planted> {
    let mut random = Random::new(15);
    let mut all = by_name(&mut random);
    for form in FORMS {
        for place in PLACES {
            let (text, secret) = form.text(&mut random);
            all.push(place.plant(form.class, true, &text, secret));
        }
    }
    for form in NOT_HIDDEN {
        for place in PLACES.iter().take(3) {
            let (text, secret) = form.text(&mut random);
            all.push(place.plant(form.class, false, &text, secret));
        }
    }
    all.extend(by_name_inside(&mut random));
    all
}

/// Everything that the observer left, in every form in which a reader meets it.
fn outputs(observed: &Observed) -> Result<Vec<(String, Vec<u8>)>> {
    let mut all = vec![("the log".to_owned(), observed.log.clone().into_bytes())];
    for path in observed.files()? {
        all.push((path.display().to_string(), std::fs::read(&path)?));
    }
    let path = observed.file("artifacts", ".reel")?;
    let reel = Reel::open(&path)?;
    for event in reel.scan() {
        let event = event?;
        all.push((format!("event {}", event.head.seq.0), event.body.to_vec()));
    }
    for entry in reel.notes() {
        let name = format!("note {}", entry.seq.0);
        all.push((name.clone(), format!("{:?}", entry.note).into_bytes()));
        let (Note::OddLine { blobs, .. } | Note::Document { blobs, .. }) = &entry.note else {
            continue;
        };
        for blob in blobs {
            all.push((name.clone(), reel.blob(*blob)?.to_vec()));
        }
    }
    for object in reel.objects() {
        all.push(("names".to_owned(), format!("{:?}", object.key).into_bytes()));
    }
    for arguments in [&["export"][..], &["info"], &["info", "-o", "json"]] {
        let (command, more) = arguments.split_first().context("a command")?;
        let output = Command::new(program()?)
            .arg(command)
            .arg(&path)
            .args(more)
            .output()?;
        ensure!(output.status.success(), "{arguments:?}: {output:?}");
        all.push((arguments.join(" "), output.stdout));
        all.push((arguments.join(" "), output.stderr));
    }
    Ok(all)
}

#[derive(Default)]
struct Row {
    planted: usize,
    leaked: usize,
    is_documented: bool,
}

#[test]
fn no_planted_secret_of_a_documented_class_is_in_anything_that_an_observer_leaves() -> Result<()> {
    let all = planted();
    ensure!(all.len() >= OBJECTS_LEAST, "only {} objects", all.len());
    let job = Job::new()?;
    for (number, one) in all.iter().enumerate() {
        let name = format!("planted-{number:04}");
        let (resource, metadata) = (one.resource, &one.metadata);
        job.cluster
            .put_with_metadata(resource, "default", &name, metadata, &one.members)
            .with_context(|| format!("{} in {}: {}", one.class, one.place, one.members))?;
    }
    job.deliver(&job.full(), &Kubeconfig::Good)?;
    let observing = job.observe(&[])?;
    for storage in ["pods", "events", "configmaps", "secrets"] {
        settle(&job.cluster, storage, SURE).with_context(|| observing.log())?;
    }
    let observed = observing.end(SURE)?;
    ensure!(observed.status.success(), "{}", observed.log);

    let mut needles = Needles::default();
    for (number, one) in all.iter().enumerate() {
        for secret in &one.secrets {
            needles.add(number, secret);
        }
    }
    let mut found = BTreeMap::<usize, String>::new();
    let mut events = 0;
    for (name, bytes) in outputs(&observed)? {
        events += usize::from(name.starts_with("event "));
        for number in needles.find(&bytes) {
            found.entry(number).or_insert_with(|| name.clone());
        }
    }
    ensure!(events >= all.len(), "only {events} events were recorded");

    let mut rows = BTreeMap::<&str, Row>::new();
    let mut leaks = String::new();
    for (number, one) in all.iter().enumerate() {
        let row = rows.entry(one.class).or_default();
        row.planted += 1;
        row.is_documented = one.is_documented;
        if let Some(output) = found.get(&number) {
            row.leaked += 1;
            if one.is_documented {
                let Planted {
                    class,
                    place,
                    members,
                    ..
                } = one;
                writeln!(leaks, "{class} in {place}: {output}: planted as {members}")?;
            }
        }
    }
    println!(
        "{:40} {:>8} {:>8} {:>11}",
        "class", "planted", "hidden", "not hidden"
    );
    for (class, row) in &rows {
        let hidden = row.planted - row.leaked;
        let note = if row.is_documented {
            ""
        } else {
            "  documented as not hidden"
        };
        println!(
            "{class:40} {:>8} {hidden:>8} {:>11}{note}",
            row.planted, row.leaked
        );
    }
    println!("{} objects, {} outputs searched", all.len(), events);
    ensure!(leaks.is_empty(), "{leaks}");
    // The values that the page lists as not hidden are really found: the search can fail.
    let open = rows.values().filter(|row| !row.is_documented);
    ensure!(
        open.map(|row| row.leaked).sum::<usize>() > 0,
        "the search finds nothing at all"
    );
    Ok(())
}

const HEX: &str = "0123456789abcdef";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz0123456789";
const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const WORD: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Random values, the same in each run.
struct Random(u64);

impl Random {
    const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn value(&mut self, letters: &str, len: usize) -> String {
        let letters: Vec<char> = letters.chars().collect();
        let value: String = std::iter::repeat_with(|| {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            let at = usize::try_from((self.0 >> 11) % 4096).unwrap_or(0) % letters.len();
            letters.get(at).copied().unwrap_or('x')
        })
        .take(len)
        .collect();
        // It ends as no sentence and no base64 does.
        value + "x7"
    }
}

/// A form: what stands before the random part, which letters it has, how many, and what stands after.
struct TokenShape {
    class: &'static str,
    before: &'static [&'static str],
    letters: &'static str,
    len: usize,
    after: &'static str,
}

impl TokenShape {
    fn text(&self, random: &mut Random) -> (String, String) {
        let secret = random.value(self.letters, self.len - 2);
        let secret = if self.letters == UPPER {
            secret.to_uppercase()
        } else if self.letters == HEX {
            secret.replace('x', "e")
        } else {
            secret
        };
        let text = format!("{}{secret}{}", self.before.concat(), self.after);
        (text, secret)
    }
}

/// Rows of shapes: class, before, letters, length, after.
macro_rules! forms {
    ($($class:literal, $before:expr, $letters:expr, $len:literal, $after:literal;)+) => {
        &[$(TokenShape { class: $class, before: $before, letters: $letters, len: $len, after: $after }),+]
    };
}

const FORMS: &[TokenShape] = forms! {
    "private key", &["-----BEGIN RSA PRIV", "ATE KEY-----\n"], BASE64, 64, "\n-----END RSA PRIVATE KEY-----";
    "private key of OpenSSH", &["-----BEGIN OPENSSH PRIV", "ATE KEY-----\nb3BlbnNzaC1rZXk"], BASE64, 70, "";
    "private key of PuTTY", &["PuTTY-User-Key", "-File-3: ssh-ed25519\nPrivate-Lines: 1\n"], BASE64, 48, "\nPrivate-MAC: 00ff";
    "private key of age", &["AGE-SECRET", "-KEY-1"], UPPER, 58, "";
    "JSON web key", &["{\"kty\":\"EC\",\"crv\":\"P-256\",\"d\":\""], WORD, 43, "\"}";
    "JSON web token", &["ey", "JhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0."], WORD, 86, "";
    "OpenShift token", &["sha256", "~"], WORD, 43, "";
    "bootstrap token", &["kubeadm join 10.0.0.1:6443 --token abcdef."], LOWER, 16, "";
    "AWS secret", &["aws_secret_access_key = "], BASE64, 40, "";
    "AWS key", &["AK", "IA"], UPPER, 16, "";
    "Google key", &["AI", "za"], WORD, 35, "";
    "Google token", &["ya", "29."], WORD, 60, "";
    "Azure account key", &["DefaultEndpointsProtocol=https;AccountKey", "="], BASE64, 86, "==";
    "Azure SAS", &["https://x.blob.example/c?sv=2024&sig", "="], ALNUM, 44, "&se=2030";
    "Azure client secret", &["abc", "8Q~"], ALNUM, 34, "";
    "GitHub ghp_", &["gh", "p_"], ALNUM, 36, "";
    "GitHub ghs_", &["gh", "s_"], ALNUM, 36, "";
    "GitHub github_pat_", &["github", "_pat_"], ALNUM, 59, "";
    "GitLab glpat-", &["gl", "pat-"], WORD, 20, "";
    "GitLab glrt-", &["gl", "rt-"], WORD, 20, "";
    "GitLab gldt-", &["gl", "dt-"], WORD, 20, "";
    "GitLab glptt-", &["gl", "ptt-"], HEX, 40, "";
    "GitLab GR1348941", &["GR", "1348941"], WORD, 20, "";
    "Slack bot token", &["xo", "xb-"], ALNUM, 40, "";
    "Slack app token", &["xa", "pp-1-A0-1-"], HEX, 64, "";
    "Slack webhook", &["https://hooks.slack", ".com/services/T00000000/B00000000/"], ALNUM, 24, "";
    "Vault hvs.", &["hv", "s."], WORD, 90, "";
    "Vault hvb.", &["hv", "b."], WORD, 140, "";
    "Vault s.", &["s", "."], ALNUM, 24, "";
    "Stripe", &["sk", "_live_"], ALNUM, 24, "";
    "Stripe webhook", &["wh", "sec_"], ALNUM, 32, "";
    "OpenAI", &["sk-pr", "oj-"], WORD, 80, "";
    "Anthropic", &["sk-an", "t-api03-"], WORD, 90, "";
    "SendGrid", &["S", "G.abcdefghijklmnopqrstuv."], WORD, 43, "";
    "npm", &["np", "m_"], ALNUM, 36, "";
    "PyPI", &["py", "pi-AgEIcHlwaS5vcmc"], WORD, 80, "";
    "Docker Hub", &["dckr", "_pat_"], WORD, 27, "";
    "Hugging Face", &["h", "f_"], ALNUM, 34, "";
    "DigitalOcean", &["dop", "_v1_"], HEX, 64, "";
    "Twilio", &["S", "K"], HEX, 32, "";
    "Databricks", &["da", "pi"], HEX, 32, "";
    "Grafana", &["gl", "sa_"], ALNUM, 41, "";
    "Terraform", &["abcdefghij0123.atl", "asv1."], WORD, 67, "";
    "Atlassian", &["ATA", "TT3xFfGF0"], WORD, 100, "";
    "Telegram", &["1234567890", ":AA"], WORD, 33, "";
    "hash of a password", &["$2", "y$10$"], ALNUM, 53, "";
    "password in a URL", &["http://user:"], ALNUM, 20, "@proxy.example:3128";
    "Authorization", &["Authorization: Bearer "], ALNUM, 32, "";
    "password in a text", &["password: "], ALNUM, 20, "";
    "GCP service account", &["{\"type\":\"service_account\",\"private_key_id\":\"0\",\"private_key\":\"-----BEGIN PRIV", "ATE KEY-----\\n"], BASE64, 64, "\\n-----END PRIVATE KEY-----\\n\"}";
    "pull secret", &["{\"auths\":{\"registry.example\":{\"auth", "\":\""], BASE64, 40, "\"}}}";
    ".netrc", &["machine git.example login ci password "], ALNUM, 24, "";
    "token in a query", &["https://x.example/?a=1&access_token="], ALNUM, 24, "&b=2";
};

/// What redaction.md says is not hidden.
const NOT_HIDDEN: &[TokenShape] = forms! {
    "hexadecimal without a name", &["the value is "], HEX, 32, " here";
    "letters without a name", &["robot uses "], UPPER, 64, " here";
};

fn planted_as(
    class: &'static str,
    place: &'static str,
    resource: &'static str,
    metadata: &Value,
    members: &Value,
    secret: String,
) -> Planted {
    Planted {
        class,
        is_documented: true,
        place,
        resource,
        metadata: inner(metadata),
        members: inner(members),
        secrets: vec![secret],
    }
}

const NAMES: [&str; 12] = [
    "password",
    "clientSecret",
    "apiKey",
    "accessToken",
    "token",
    "pwd",
    "psk",
    "dsn",
    "cookie",
    "jwt",
    "connectionString",
    "private_key",
];

/// Texts in which a name announces a value: where, and how.
#[rustfmt::skip]
const TEXTS: [(&str, &str); 10] = [
    ("XML element", "<server><NAME>VALUE</NAME></server>"),
    ("XML element, escaped", "<server><NAME>VALUE</NAME></server>"),
    ("XML attribute", "<server NAME=\"VALUE\" port=\"80\"/>"),
    ("query, escaped", "https://x.example/path?a=1&NAME=VALUE&b=2 failed"),
    ("query", "https://x.example/path?NAME=VALUE"),
    ("properties", "server.port=80\nserver.NAME=VALUE\n"),
    ("INI", "[server]\nport = 80\nNAME = VALUE\n"),
    ("block of YAML", "values: |\n  server:\n    NAME: VALUE\n    port: 80\n"),
    ("shell", "export DB_NAME='VALUE'; run"),
    ("manifest of a Secret in values", "kind: Secret\nmetadata: {name: a}\nstringData:\n  NAME: VALUE\n"),
];

fn encode(text: &str) -> String {
    use base64::Engine as _;
    STANDARD.encode(text)
}

fn container(fields: &Value) -> Value {
    json!({"spec": {"containers": [fields]}})
}

/// An object with a value, known by a name.
type PlantedObject = fn(name: &str, value: &str) -> Value;

/// Classes of secrets that are known by their place or by a name.
#[rustfmt::skip]
const BY_NAME: [(&str, &str, PlantedObject); 14] = [
    ("Secret, data", "secrets", |name, v| json!({"data": {name: encode(v)}})),
    ("Secret, stringData", "secrets", |name, v| json!({"stringData": {name: v}})),
    ("ConfigMap, data", "configmaps", |_, v| json!({"data": {"file.conf": format!("a {v}")}})),
    ("ConfigMap, binaryData", "configmaps", |_, v| json!({"binaryData": {"file": encode(v)}})),
    ("variable by name", "pods", |name, v| {
        let upper = format!("DB_{}", name.to_uppercase());
        container(&json!({"name": "a", "env": [{"name": upper, "value": v}]}))
    }),
    ("flag by name", "pods", |name, v| {
        container(&json!({"name": "a", "args": [format!("--{name}={v}")]}))
    }),
    ("flag, two arguments", "pods", |name, v| {
        container(&json!({"name": "a", "command": ["run", format!("--{name}"), v]}))
    }),
    ("field by name", "pods", |name, v| json!({"spec": {"backend": {name: v}}})),
    ("annotation by name", "pods", |name, v| json!({"metadata": {"annotations": {format!("acme.io/{name}"): v}}, "spec": {}})),
    ("pair of name and value", "pods", |name, v| json!({"spec": {"buildArgs": [{"name": name, "value": v}]}})),
    ("YAML in a text", "events", |name, v| json!({"message": format!("server:\n  {name}: {v}\n  port: 80\n")})),
    ("JSON in a text", "events", |name, v| json!({"message": json!({"server": {name: v}}).to_string()})),
    ("last applied", "pods", |name, v| {
        let applied = json!({"kind": "Secret", "stringData": {name: v}}).to_string();
        let key = "kubectl.kubernetes.io/last-applied-configuration";
        json!({"metadata": {"annotations": {key: applied}}, "spec": {}})
    }),
    ("value in managedFields", "pods", |name, v| {
        let fields = json!({"f:spec": {(format!("f:{name}s")): {(format!("v:{}", json!(v))): {}}}});
        let owned = json!([{"manager": "m", "operation": "Update", "fieldsV1": fields}]);
        json!({"metadata": {"managedFields": owned}, "spec": {(format!("{name}s")): [v]}})
    }),
];

/// Secrets that are known by their place or by a name.
fn by_name(random: &mut Random) -> Vec<Planted> {
    let mut all = Vec::new();
    for name in NAMES {
        for (class, resource, object) in BY_NAME {
            let v = random.value(ALNUM, 24);
            let mut members = object(name, &v);
            let metadata = members
                .as_object_mut()
                .and_then(|all| all.remove("metadata"));
            let metadata = metadata.unwrap_or_default();
            all.push(planted_as(class, name, resource, &metadata, &members, v));
        }
    }
    all
}

/// Secrets that a name announces within a text or a list.
fn by_name_inside(random: &mut Random) -> Vec<Planted> {
    let none = Value::Null;
    let mut all = Vec::new();
    for name in NAMES {
        let upper = format!("DB_{}", name.to_uppercase());
        for (list, key, of) in [
            ("params", "name", "value"),
            ("envVars", "key", "value"),
            ("parameters", "parameter", "default"),
            ("settings", "name", "values"),
        ] {
            let v = random.value(ALNUM, 24);
            let entry = json!({key: upper, of: if of == "values" { json!([v]) } else { json!(v) }});
            let members = json!({"spec": {list: [entry]}});
            all.push(planted_as(
                "list of names and values",
                list,
                "pods",
                &none,
                &members,
                v,
            ));
        }
        let v = random.value(ALNUM, 24);
        let build = json!({"spec": {"strategy": {"dockerStrategy": {"buildArgs": [{"name": upper, "value": v}]}}}});
        all.push(planted_as("BuildConfig", name, "pods", &none, &build, v));
        let v = random.value(ALNUM, 24);
        let label = json!({"labels": {format!("acme.io/{name}"): v}});
        let members = json!({"spec": {}});
        all.push(planted_as(
            "label by name",
            name,
            "pods",
            &label,
            &members,
            v,
        ));
        let number = random.value("123456789", 12).replace("x7", "77");
        let members = format!("\"spec\":{{\"{name}\":{number}}}");
        let mut of_number = planted_as("number by name", name, "pods", &none, &none, number);
        of_number.members = members;
        all.push(of_number);
        let v = random.value(ALNUM, 24);
        let members = json!({"spec": {"backend": {name: [v, "b"]}}});
        all.push(planted_as("list by name", name, "pods", &none, &members, v));
        for (place, text) in TEXTS {
            let v = random.value(ALNUM, 24);
            let text = text.replace("NAME", name).replace("VALUE", &v);
            let members = json!({"message": text});
            let mut one = planted_as("name in a text", place, "events", &none, &members, v);
            // As servers written in Go write the signs of markup.
            if place.contains("escaped") {
                one.members = one.members.replace('<', "\\u003c").replace('>', "\\u003e");
                one.members = one.members.replace('&', "\\u0026");
            }
            all.push(one);
        }
    }
    let v = random.value(ALNUM, 24);
    let deep = (0..250).fold(json!({"note": v}), |inner, _| json!({"a": inner}));
    let members = json!({"spec": deep});
    all.push(planted_as(
        "deeper than 200 levels",
        "a field",
        "pods",
        &none,
        &members,
        v,
    ));
    all
}

/// A field.
#[derive(Clone, Copy)]
enum Field {
    Message,
    Annotation,
    Variable,
    Argument,
    ConfigMap,
    Condition,
}

struct Place {
    name: &'static str,
    field: Field,
    encode: fn(&str) -> String,
}

const fn place(name: &'static str, field: Field, encode: fn(&str) -> String) -> Place {
    Place {
        name,
        field,
        encode,
    }
}

const PLACES: &[Place] = &[
    place("a message", Field::Message, str::to_owned),
    place("an annotation", Field::Annotation, str::to_owned),
    place("a variable", Field::Variable, str::to_owned),
    place("an argument", Field::Argument, |text| {
        format!("echo {text}")
    }),
    place("a ConfigMap", Field::ConfigMap, str::to_owned),
    place("a condition", Field::Condition, |text| {
        format!("failed: {text}")
    }),
    place("JSON in a string", Field::Annotation, |text| {
        json!({"a": [text]}).to_string()
    }),
    place("JSON in JSON in a string", Field::Message, |text| {
        json!({"a": json!({"b": text}).to_string()}).to_string()
    }),
    place("base64", Field::Condition, |text| STANDARD.encode(text)),
    place("base64 twice", Field::Message, |text| {
        STANDARD.encode(STANDARD.encode(text))
    }),
    place("base64 for URLs, no padding", Field::Variable, |text| {
        URL_SAFE_NO_PAD.encode(text)
    }),
    place("base64 in lines", Field::Annotation, |text| {
        let encoded = STANDARD.encode(format!("{text}\n{text}"));
        let lines = encoded.as_bytes().chunks(64).map(String::from_utf8_lossy);
        lines.collect::<Vec<_>>().join("\n")
    }),
    place("percent encoding", Field::Message, percent),
    place("gzip", Field::Annotation, |text| {
        let head = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
        STANDARD.encode([&head[..], &compress_to_vec(text.as_bytes(), 6)].concat())
    }),
    place("zlib", Field::Message, |text| {
        STANDARD.encode(compress_to_vec_zlib(text.as_bytes(), 6))
    }),
    place("deflate", Field::Annotation, |text| {
        STANDARD.encode(compress_to_vec(text.as_bytes(), 6))
    }),
    place("zstd", Field::Condition, |text| {
        STANDARD.encode(zstd::bulk::compress(text.as_bytes(), 3).unwrap_or_default())
    }),
    place("gzip of base64", Field::Message, |text| {
        let head = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
        let inner = STANDARD.encode(text);
        STANDARD.encode([&head[..], &compress_to_vec(inner.as_bytes(), 6)].concat())
    }),
];

impl Place {
    fn plant(
        &self,
        class: &'static str,
        is_documented: bool,
        text: &str,
        secret: String,
    ) -> Planted {
        let text = (self.encode)(text);
        let (resource, metadata, members) = match self.field {
            Field::Message => (
                "events",
                Value::Null,
                json!({"message": text, "reason": "Planted"}),
            ),
            Field::Annotation => (
                "pods",
                json!({"annotations": {"acme.io/note": text}}),
                json!({"spec": {}}),
            ),
            Field::Variable => (
                "pods",
                Value::Null,
                json!({"spec": {"containers": [{"name": "a", "env": [{"name": "SETTING", "value": text}]}]}}),
            ),
            Field::Argument => (
                "pods",
                Value::Null,
                json!({"spec": {"containers": [{"name": "a", "command": ["/bin/sh", "-c", text]}]}}),
            ),
            Field::ConfigMap => ("configmaps", Value::Null, json!({"data": {"file": text}})),
            Field::Condition => (
                "pods",
                Value::Null,
                json!({"status": {"conditions": [{"type": "Ready", "status": "False", "message": text}]}}),
            ),
        };
        Planted {
            class,
            is_documented,
            place: self.name,
            resource,
            metadata: inner(&metadata),
            members: inner(&members),
            secrets: vec![secret],
        }
    }
}

/// The members of an object without its braces.
fn inner(object: &Value) -> String {
    if object.is_null() {
        return String::new();
    }
    let text = object.to_string();
    let text = text
        .strip_prefix('{')
        .and_then(|text| text.strip_suffix('}'));
    text.unwrap_or_default().to_owned()
}

/// As little of a secret as this is a leak.
const WINDOW: usize = 12;

/// How deep encodings are undone: one more than redaction undoes.
const DEPTH_MOST: usize = 4;

/// A shorter run of base64 holds no window.
const RUN_LEAST: usize = 16;

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_allow_trailing_bits(true)
    .with_decode_padding_mode(DecodePaddingMode::Indifferent);

/// Windows of secrets, in the forms in which they may stand in a text.
#[derive(Default)]
struct Needles {
    windows: HashMap<[u8; WINDOW], usize>,
}

impl Needles {
    fn add(&mut self, number: usize, secret: &str) {
        self.form(number, secret.as_bytes());
        self.form(number, percent(secret).as_bytes());
        let engine = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
        for before in ["", "x", "xy"] {
            let encoded = engine.encode(format!("{before}{secret}"));
            let inner = encoded.trim_end_matches('=');
            let from = if before.is_empty() { 0 } else { 4 };
            self.form(
                number,
                inner
                    .as_bytes()
                    .get(from..inner.len().saturating_sub(1))
                    .unwrap_or_default(),
            );
        }
    }

    fn form(&mut self, number: usize, bytes: &[u8]) {
        for window in bytes.windows(WINDOW) {
            if let Ok(window) = window.try_into() {
                self.windows.insert(window, number);
            }
        }
    }

    fn find(&self, bytes: &[u8]) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        self.search(bytes, 0, &mut found);
        found
    }

    fn search(&self, bytes: &[u8], depth: usize, found: &mut BTreeSet<usize>) {
        let windows = bytes.windows(WINDOW);
        found.extend(windows.filter_map(|window| {
            let window: [u8; WINDOW] = window.try_into().ok()?;
            self.windows.get(&window).copied()
        }));
        if depth == DEPTH_MOST {
            return;
        }
        // Lines that were joined: base64 is often broken, as it is or as an escape.
        let joined = join_lines(bytes);
        for text in [Some(bytes), joined.as_deref()].into_iter().flatten() {
            for run in text.split(|byte| !is_digit(*byte)) {
                if run.len() >= RUN_LEAST {
                    self.decoded(run, depth, found);
                }
            }
        }
        if let Some(decoded) = unpercent(bytes) {
            self.search(&decoded, depth + 1, found);
        }
    }

    fn decoded(&self, run: &[u8], depth: usize, found: &mut BTreeSet<usize>) {
        let engine = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
        let run: Vec<u8> = run
            .iter()
            .map(|byte| match byte {
                b'-' => b'+',
                b'_' => b'/',
                byte => *byte,
            })
            .collect();
        for skip in 0..4 {
            let digits = run.get(skip..).unwrap_or_default();
            // A single digit of a last group says nothing.
            let whole = digits.len() - usize::from(digits.len() % 4 == 1);
            let Some(Ok(bytes)) = digits.get(..whole).map(|digits| engine.decode(digits)) else {
                continue;
            };
            for inflated in inflated(&bytes) {
                self.search(&inflated, depth + 1, found);
            }
            self.search(&bytes, depth + 1, found);
        }
    }
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

fn inflated(bytes: &[u8]) -> Vec<Vec<u8>> {
    const MOST: usize = 1 << 20;
    let raw = |from: usize| {
        let bytes = bytes.get(from..)?;
        miniz_oxide::inflate::decompress_to_vec_with_limit(bytes, MOST).ok()
    };
    let mut all: Vec<Vec<u8>> = [0, 2, 10].into_iter().filter_map(raw).collect();
    if bytes.starts_with(b"\x28\xb5\x2f\xfd") {
        all.extend(zstd::bulk::decompress(bytes, MOST));
    }
    all
}

fn join_lines(bytes: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let joined = text
        .replace("\\\\n", "")
        .replace("\\n", "")
        .replace(['\n', ' '], "");
    (joined.len() < text.len() && text.len() < 1 << 20).then(|| joined.into_bytes())
}

fn percent(text: &str) -> String {
    let spelt = text.bytes().map(|byte| {
        if byte.is_ascii_alphanumeric() {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    });
    spelt.collect()
}

fn unpercent(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let [first, after @ ..] = rest {
        let hex = (*first == b'%').then(|| after.get(..2)).flatten();
        let byte = hex
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        if let Some(byte) = byte {
            out.push(byte);
            rest = after.get(2..).unwrap_or_default();
        } else {
            out.push(*first);
            rest = after;
        }
    }
    (out.len() < bytes.len()).then_some(out)
}
