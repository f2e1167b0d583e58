//! The classes of secrets that redaction.md names, each with a random value. A token's form is put together
//! here, so that nobody's scanner takes it for one.

use serde_json::{Value, json};

use super::Planted;
use super::places::inner;

const HEX: &str = "0123456789abcdef";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz0123456789";
const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const WORD: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Random values, the same in each run.
pub(super) struct Random(u64);

impl Random {
    pub(super) const fn new(seed: u64) -> Self {
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
pub(super) struct TokenShape {
    pub(super) class: &'static str,
    before: &'static [&'static str],
    letters: &'static str,
    len: usize,
    after: &'static str,
}

impl TokenShape {
    pub(super) fn text(&self, random: &mut Random) -> (String, String) {
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

pub(super) const FORMS: &[TokenShape] = forms! {
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
pub(super) const NOT_HIDDEN: &[TokenShape] = forms! {
    "hexadecimal without a name", &["the value is "], HEX, 32, " here";
    "letters without a name", &["robot uses "], UPPER, 64, " here";
};

fn planted(
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
const TEXTS: [(&str, &str); 10] = [
    ("XML element", "<server><NAME>VALUE</NAME></server>"),
    (
        "XML element, escaped",
        "<server><NAME>VALUE</NAME></server>",
    ),
    ("XML attribute", "<server NAME=\"VALUE\" port=\"80\"/>"),
    (
        "query, escaped",
        "https://x.example/path?a=1&NAME=VALUE&b=2 failed",
    ),
    ("query", "https://x.example/path?NAME=VALUE"),
    ("properties", "server.port=80\nserver.NAME=VALUE\n"),
    ("INI", "[server]\nport = 80\nNAME = VALUE\n"),
    (
        "block of YAML",
        "values: |\n  server:\n    NAME: VALUE\n    port: 80\n",
    ),
    ("shell", "export DB_NAME='VALUE'; run"),
    (
        "manifest of a Secret in values",
        "kind: Secret\nmetadata: {name: a}\nstringData:\n  NAME: VALUE\n",
    ),
];

fn encode(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(text)
}

fn container(fields: &Value) -> Value {
    json!({"spec": {"containers": [fields]}})
}

/// An object with a value, known by a name.
type PlantedObject = fn(name: &str, value: &str) -> Value;

/// Classes of secrets that are known by their place or by a name.
const BY_NAME: [(&str, &str, PlantedObject); 14] = [
    (
        "Secret, data",
        "secrets",
        |name, v| json!({"data": {name: encode(v)}}),
    ),
    (
        "Secret, stringData",
        "secrets",
        |name, v| json!({"stringData": {name: v}}),
    ),
    (
        "ConfigMap, data",
        "configmaps",
        |_, v| json!({"data": {"file.conf": format!("a {v}")}}),
    ),
    (
        "ConfigMap, binaryData",
        "configmaps",
        |_, v| json!({"binaryData": {"file": encode(v)}}),
    ),
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
    (
        "field by name",
        "pods",
        |name, v| json!({"spec": {"backend": {name: v}}}),
    ),
    (
        "annotation by name",
        "pods",
        |name, v| json!({"metadata": {"annotations": {format!("acme.io/{name}"): v}}, "spec": {}}),
    ),
    (
        "pair of name and value",
        "pods",
        |name, v| json!({"spec": {"buildArgs": [{"name": name, "value": v}]}}),
    ),
    (
        "YAML in a text",
        "events",
        |name, v| json!({"message": format!("server:\n  {name}: {v}\n  port: 80\n")}),
    ),
    (
        "JSON in a text",
        "events",
        |name, v| json!({"message": json!({"server": {name: v}}).to_string()}),
    ),
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
pub(super) fn by_name(random: &mut Random) -> Vec<Planted> {
    let mut all = Vec::new();
    for name in NAMES {
        for (class, resource, object) in BY_NAME {
            let v = random.value(ALNUM, 24);
            let mut members = object(name, &v);
            let metadata = members
                .as_object_mut()
                .and_then(|all| all.remove("metadata"));
            let metadata = metadata.unwrap_or_default();
            all.push(planted(class, name, resource, &metadata, &members, v));
        }
    }
    all
}

/// Secrets that a name announces within a text or a list.
pub(super) fn by_name_inside(random: &mut Random) -> Vec<Planted> {
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
            all.push(planted(
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
        all.push(planted("BuildConfig", name, "pods", &none, &build, v));
        let v = random.value(ALNUM, 24);
        let label = json!({"labels": {format!("acme.io/{name}"): v}});
        let members = json!({"spec": {}});
        all.push(planted("label by name", name, "pods", &label, &members, v));
        let number = random.value("123456789", 12).replace("x7", "77");
        let members = format!("\"spec\":{{\"{name}\":{number}}}");
        let mut of_number = planted("number by name", name, "pods", &none, &none, number);
        of_number.members = members;
        all.push(of_number);
        let v = random.value(ALNUM, 24);
        let members = json!({"spec": {"backend": {name: [v, "b"]}}});
        all.push(planted("list by name", name, "pods", &none, &members, v));
        for (place, text) in TEXTS {
            let v = random.value(ALNUM, 24);
            let text = text.replace("NAME", name).replace("VALUE", &v);
            let members = json!({"message": text});
            let mut one = planted("name in a text", place, "events", &none, &members, v);
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
    all.push(planted(
        "deeper than 200 levels",
        "a field",
        "pods",
        &none,
        &members,
        v,
    ));
    all
}
