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

const fn form(
    class: &'static str,
    before: &'static [&'static str],
    letters: &'static str,
    len: usize,
    after: &'static str,
) -> TokenShape {
    TokenShape {
        class,
        before,
        letters,
        len,
        after,
    }
}

pub(super) const FORMS: &[TokenShape] = &[
    form(
        "private key",
        &["-----BEGIN RSA PRIV", "ATE KEY-----\n"],
        BASE64,
        64,
        "\n-----END RSA PRIVATE KEY-----",
    ),
    form(
        "private key of OpenSSH",
        &["-----BEGIN OPENSSH PRIV", "ATE KEY-----\nb3BlbnNzaC1rZXk"],
        BASE64,
        70,
        "",
    ),
    form(
        "private key of PuTTY",
        &["PuTTY-User-Key", "-File-3: ssh-ed25519\nPrivate-Lines: 1\n"],
        BASE64,
        48,
        "\nPrivate-MAC: 00ff",
    ),
    form(
        "private key of age",
        &["AGE-SECRET", "-KEY-1"],
        UPPER,
        58,
        "",
    ),
    form(
        "JSON web key",
        &["{\"kty\":\"EC\",\"crv\":\"P-256\",\"d\":\""],
        WORD,
        43,
        "\"}",
    ),
    form(
        "JSON web token",
        &["ey", "JhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0."],
        WORD,
        86,
        "",
    ),
    form("OpenShift token", &["sha256", "~"], WORD, 43, ""),
    form(
        "bootstrap token",
        &["kubeadm join 10.0.0.1:6443 --token abcdef."],
        LOWER,
        16,
        "",
    ),
    form("AWS secret", &["aws_secret_access_key = "], BASE64, 40, ""),
    form("AWS key", &["AK", "IA"], UPPER, 16, ""),
    form("Google key", &["AI", "za"], WORD, 35, ""),
    form("Google token", &["ya", "29."], WORD, 60, ""),
    form(
        "Azure account key",
        &["DefaultEndpointsProtocol=https;AccountKey", "="],
        BASE64,
        86,
        "==",
    ),
    form(
        "Azure SAS",
        &["https://x.blob.example/c?sv=2024&sig", "="],
        ALNUM,
        44,
        "&se=2030",
    ),
    form("Azure client secret", &["abc", "8Q~"], ALNUM, 34, ""),
    form("GitHub ghp_", &["gh", "p_"], ALNUM, 36, ""),
    form("GitHub ghs_", &["gh", "s_"], ALNUM, 36, ""),
    form("GitHub github_pat_", &["github", "_pat_"], ALNUM, 59, ""),
    form("GitLab glpat-", &["gl", "pat-"], WORD, 20, ""),
    form("GitLab glrt-", &["gl", "rt-"], WORD, 20, ""),
    form("GitLab gldt-", &["gl", "dt-"], WORD, 20, ""),
    form("GitLab glptt-", &["gl", "ptt-"], HEX, 40, ""),
    form("GitLab GR1348941", &["GR", "1348941"], WORD, 20, ""),
    form("Slack bot token", &["xo", "xb-"], ALNUM, 40, ""),
    form("Slack app token", &["xa", "pp-1-A0-1-"], HEX, 64, ""),
    form(
        "Slack webhook",
        &["https://hooks.slack", ".com/services/T00000000/B00000000/"],
        ALNUM,
        24,
        "",
    ),
    form("Vault hvs.", &["hv", "s."], WORD, 90, ""),
    form("Vault hvb.", &["hv", "b."], WORD, 140, ""),
    form("Vault s.", &["s", "."], ALNUM, 24, ""),
    form("Stripe", &["sk", "_live_"], ALNUM, 24, ""),
    form("Stripe webhook", &["wh", "sec_"], ALNUM, 32, ""),
    form("OpenAI", &["sk-pr", "oj-"], WORD, 80, ""),
    form("Anthropic", &["sk-an", "t-api03-"], WORD, 90, ""),
    form(
        "SendGrid",
        &["S", "G.abcdefghijklmnopqrstuv."],
        WORD,
        43,
        "",
    ),
    form("npm", &["np", "m_"], ALNUM, 36, ""),
    form("PyPI", &["py", "pi-AgEIcHlwaS5vcmc"], WORD, 80, ""),
    form("Docker Hub", &["dckr", "_pat_"], WORD, 27, ""),
    form("Hugging Face", &["h", "f_"], ALNUM, 34, ""),
    form("DigitalOcean", &["dop", "_v1_"], HEX, 64, ""),
    form("Twilio", &["S", "K"], HEX, 32, ""),
    form("Databricks", &["da", "pi"], HEX, 32, ""),
    form("Grafana", &["gl", "sa_"], ALNUM, 41, ""),
    form("Terraform", &["abcdefghij0123.atl", "asv1."], WORD, 67, ""),
    form("Atlassian", &["ATA", "TT3xFfGF0"], WORD, 100, ""),
    form("Telegram", &["1234567890", ":AA"], WORD, 33, ""),
    form("hash of a password", &["$2", "y$10$"], ALNUM, 53, ""),
    form(
        "password in a URL",
        &["http://user:"],
        ALNUM,
        20,
        "@proxy.example:3128",
    ),
    form("Authorization", &["Authorization: Bearer "], ALNUM, 32, ""),
    form("password in a text", &["password: "], ALNUM, 20, ""),
    form(
        "GCP service account",
        &[
            "{\"type\":\"service_account\",\"private_key_id\":\"0\",\"private_key\":\"-----BEGIN PRIV",
            "ATE KEY-----\\n",
        ],
        BASE64,
        64,
        "\\n-----END PRIVATE KEY-----\\n\"}",
    ),
    form(
        "pull secret",
        &["{\"auths\":{\"registry.example\":{\"auth", "\":\""],
        BASE64,
        40,
        "\"}}}",
    ),
    form(
        ".netrc",
        &["machine git.example login ci password "],
        ALNUM,
        24,
        "",
    ),
    form(
        "token in a query",
        &["https://x.example/?a=1&access_token="],
        ALNUM,
        24,
        "&b=2",
    ),
];

/// What redaction.md says is not hidden.
pub(super) const NOT_HIDDEN: &[TokenShape] = &[
    form(
        "hexadecimal without a name",
        &["the value is "],
        HEX,
        32,
        " here",
    ),
    form(
        "letters without a name",
        &["robot uses "],
        UPPER,
        64,
        " here",
    ),
];

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

/// Secrets that are known by their place or by a name.
#[expect(clippy::too_many_lines, reason = "it is a table: one entry a class")]
pub(super) fn by_name(random: &mut Random) -> Vec<Planted> {
    use base64::Engine as _;
    let encode = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
    let none = Value::Null;
    let container = |fields: Value| json!({"spec": {"containers": [fields]}});
    let mut all = Vec::new();
    for name in NAMES {
        let mut value = || random.value(ALNUM, 24);
        let mut add = |class, place, resource, metadata: &Value, members: &Value, secret| {
            all.push(planted(class, place, resource, metadata, members, secret));
        };
        let v = value();
        add(
            "Secret, data",
            name,
            "secrets",
            &none,
            &json!({"data": {name: encode(&v)}}),
            v.clone(),
        );
        let v = value();
        add(
            "Secret, stringData",
            name,
            "secrets",
            &none,
            &json!({"stringData": {name: v}}),
            v.clone(),
        );
        let v = value();
        add(
            "ConfigMap, data",
            name,
            "configmaps",
            &none,
            &json!({"data": {"file.conf": format!("a {v}")}}),
            v.clone(),
        );
        let v = value();
        add(
            "ConfigMap, binaryData",
            name,
            "configmaps",
            &none,
            &json!({"binaryData": {"file": encode(&v)}}),
            v.clone(),
        );
        let v = value();
        let upper = format!("DB_{}", name.to_uppercase());
        add(
            "variable by name",
            name,
            "pods",
            &none,
            &container(json!({"name": "a", "env": [{"name": upper, "value": v}]})),
            v.clone(),
        );
        let v = value();
        add(
            "flag by name",
            name,
            "pods",
            &none,
            &container(json!({"name": "a", "args": [format!("--{name}={v}")]})),
            v.clone(),
        );
        let v = value();
        add(
            "flag, two arguments",
            name,
            "pods",
            &none,
            &container(json!({"name": "a", "command": ["run", format!("--{name}"), v]})),
            v.clone(),
        );
        let v = value();
        add(
            "field by name",
            name,
            "pods",
            &none,
            &json!({"spec": {"backend": {name: v}}}),
            v.clone(),
        );
        let v = value();
        add(
            "annotation by name",
            name,
            "pods",
            &json!({"annotations": {format!("acme.io/{name}"): v}}),
            &json!({"spec": {}}),
            v.clone(),
        );
        let v = value();
        add(
            "pair of name and value",
            name,
            "pods",
            &none,
            &json!({"spec": {"buildArgs": [{"name": name, "value": v}]}}),
            v.clone(),
        );
        let v = value();
        add(
            "YAML in a text",
            name,
            "events",
            &none,
            &json!({"message": format!("server:\n  {name}: {v}\n  port: 80\n")}),
            v.clone(),
        );
        let v = value();
        add(
            "JSON in a text",
            name,
            "events",
            &none,
            &json!({"message": json!({"server": {name: v}}).to_string()}),
            v.clone(),
        );
        let v = value();
        let applied = json!({"kind": "Secret", "stringData": {name: v}}).to_string();
        add(
            "last applied",
            name,
            "pods",
            &json!({"annotations": {"kubectl.kubernetes.io/last-applied-configuration": applied}}),
            &json!({"spec": {}}),
            v.clone(),
        );
        let v = value();
        let owned = json!([{"manager": "m", "operation": "Update", "fieldsV1": {"f:spec": {(format!("f:{name}s")): {(format!("v:{}", json!(v))): {}}}}}]);
        add(
            "value in managedFields",
            name,
            "pods",
            &json!({"managedFields": owned}),
            &json!({"spec": {(format!("{name}s")): [v]}}),
            v.clone(),
        );
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
