//! Kubeconfigs with credentials, and damaged forms of them, for tests of messages. The tests of the
//! whole program include this file too.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;

/// The length of a part of a credential that no message may contain.
const WINDOW: usize = 12;

/// A kubeconfig, and the credentials in it.
pub(crate) struct Planted {
    /// The kind of its credential.
    pub(crate) name: &'static str,
    /// The file.
    pub(crate) text: String,
    /// The credentials; the first one stands in the text unchanged, on a line of its own.
    pub(crate) secrets: Vec<String>,
}

/// Makes the kubeconfigs. A credential plugin is written into the folder.
pub(crate) fn planted(server: &str, folder: &Path) -> std::io::Result<Vec<Planted>> {
    let plugin = folder.join("plugin.sh");
    // One has the secret at the place of the error, the other at the place of the credential.
    std::fs::write(
        &plugin,
        "echo \"refused: $PLUGIN_TOKEN\" >&2\nif [ \"$1\" = fails ]; then exit 3; fi\nprintf 'status: {token: [\"%s\" x\\n' \"$PLUGIN_TOKEN\"\n",
    )?;
    let plugin = plugin.display();
    let exec = |argument: &str, secrets: &[String]| {
        let [token, word] = secrets else {
            return String::new();
        };
        format!(
            "    exec:\n      apiVersion: client.authentication.k8s.io/v1\n      command: sh\n      args: [{plugin}, {argument}]\n      env:\n      - name: PLUGIN_TOKEN\n        value: {token}\n      - name: PLUGIN_REGION\n        value: {word}\n"
        )
    };
    let make = |name, cluster: &str, user: &str, secrets: Vec<String>| Planted {
        name,
        text: format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts:\n- name: c\n  context: {{cluster: k, user: u}}\nclusters:\n- name: k\n  cluster:\n    server: {server}\n{cluster}users:\n- name: u\n  user:\n{user}"
        ),
        secrets,
    };
    let (token, password) = (random(48, TOKEN), random(20, TOKEN));
    let key: Vec<String> = (0..6).map(|_| random(64, BASE64)).collect();
    let pem = pem(&key.join("\n"));
    let encoded = base64(pem.as_bytes());
    let certificate = base64(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    let plugins = [
        vec![random(40, TOKEN), random(16, TOKEN)],
        vec![random(40, TOKEN), random(16, TOKEN)],
    ];
    let provider: Vec<String> = (0..3).map(|_| random(40, TOKEN)).collect();
    Ok(vec![
        make(
            "token",
            "",
            &format!("    token: {token}\n"),
            vec![token.clone()],
        ),
        make(
            "key",
            "",
            &format!(
                "    client-certificate-data: {certificate}\n    client-key-data: {encoded}\n"
            ),
            [vec![encoded.clone()], key].concat(),
        ),
        make(
            "plugin",
            "",
            &exec("broken", &plugins[0]),
            plugins[0].clone(),
        ),
        make(
            "failing plugin",
            "",
            &exec("fails", &plugins[1]),
            plugins[1].clone(),
        ),
        make(
            "proxy",
            &format!("    proxy-url: http://user:{password}@127.0.0.1:1\n"),
            "    username: u\n",
            vec![
                password.clone(),
                base64(format!("user:{password}").as_bytes()),
            ],
        ),
        make(
            "provider",
            "",
            &format!(
                "    auth-provider:\n      name: oidc\n      config:\n        id-token: {}\n        refresh-token: {}\n        client-secret: {}\n",
                provider[0], provider[1], provider[2]
            ),
            provider.clone(),
        ),
    ])
}

/// Returns damaged forms of a kubeconfig, each with a name.
pub(crate) fn damages(planted: &Planted) -> Vec<(&'static str, Vec<u8>)> {
    let text = planted.text.as_str();
    let secret = planted.secrets[0].as_str();
    let line = text
        .lines()
        .find(|line| line.contains(secret))
        .unwrap_or("");
    let front = text.split_once(secret).map_or(text, |(front, _)| front);
    let (key, _) = line.split_once(':').unwrap_or((line, ""));
    let at_secret = |with: &str| text.replacen(secret, with, 1).into_bytes();
    let at_line = |with: &str| text.replacen(line, with, 1).into_bytes();
    let at_cluster = |with: &str| {
        let with = format!("  cluster:\n    {with}\n");
        text.replacen("  cluster:\n", &with, 1).into_bytes()
    };
    let middle = secret.len() / 2;
    let (first, second) = secret.split_at(middle);
    let cut = front.len() + middle;
    let units = text.encode_utf16().flat_map(u16::to_le_bytes);
    let wide: Vec<u8> = [0xff, 0xfe].into_iter().chain(units).collect();
    vec![
        ("tabs", text.replace("\n    ", "\n\t").into_bytes()),
        ("deeper", at_line(&format!("       {line}"))),
        ("shallower", at_line(&format!(" {}", line.trim_start()))),
        ("unclosed quote", at_secret(&format!("\"{secret}"))),
        ("unclosed single quote", at_secret(&format!("'{secret}"))),
        ("duplicate key", at_line(&format!("{line}\n{line}"))),
        ("a list", at_secret(&format!("[{secret}]"))),
        ("a map", at_secret(&format!("{{{secret}: x}}"))),
        ("not UTF-8", [&text.as_bytes()[..cut], &[0xff], &text.as_bytes()[cut..]].concat()),
        ("not base64", at_secret(&format!("{first}!{second}"))),
        ("not PEM", at_line(&format!("{key}: {}", base64(format!("-----BEGIN KEY-----\n{secret}\n-----BEGIN {secret}").as_bytes())))),
        ("plain PEM", at_line(&format!("{key}: |\n{}-----BEGIN {secret}", " ".repeat(10)))),
        ("proxy not a URL", at_cluster(&format!("proxy-url: 'ht tp://user:{secret}@ho st'"))),
        ("proxy of an unknown scheme", at_cluster(&format!("proxy-url: ftp://user:{secret}@127.0.0.1:1"))),
        ("server not a URL", text.replacen("server: ", &format!("server: http://user:{secret}@ho^st "), 1).into_bytes()),
        ("NUL bytes", at_secret(&format!("{secret}\0\0\0"))),
        ("a mark amid", at_secret(&format!("{first}\u{feff}{second}"))),
        ("a mark and half", format!("\u{feff}{front}{first}: {second}\n").into_bytes()),
        ("half of UTF-16", wide[..wide.len().min(2 * cut + 1)].to_vec()),
        ("half of JSON", format!("{{\"apiVersion\": \"v1\", \"users\": [{{\"name\": \"u\", \"user\": {{\"token\": \"{secret}\"").into_bytes()),
        ("an alias", at_secret(&format!("*{secret}"))),
        ("an anchor", at_secret(&format!("&{secret}"))),
        ("a tag", at_secret(&format!("!!binary {secret}!"))),
        ("huge", [text.as_bytes(), secret.repeat(5 * 1024 * 1024 / secret.len()).as_bytes()].concat()),
        ("long", at_secret(&format!("\"{}", secret.repeat(1000)))),
        ("two documents", at_line(&format!("---\n{line}"))),
        ("no colon", at_line(&line.replacen(": ", " ", 1))),
        ("in another field", text.replacen("  user:\n", &format!("  user:\n    client-certificate: x\n    client-key: {secret}\n    tokenFile: {secret}\n"), 1).into_bytes()),
        ("a name twice", text.replacen("users:", &format!("users: {secret}\nusers:"), 1).into_bytes()),
        ("a number", text.replacen("  user:\n", &format!("  user: {secret}\n  x:\n"), 1).into_bytes()),
    ]
}

/// Returns the part of a credential that a text contains.
pub(crate) fn leaked<'a>(planted: &Planted, text: &'a [u8]) -> Option<&'a [u8]> {
    let secrets = planted.secrets.iter();
    let parts: HashSet<&[u8]> = secrets
        .flat_map(|secret| secret.as_bytes().windows(WINDOW))
        .collect();
    text.windows(WINDOW).find(|part| parts.contains(part))
}

const TOKEN: &[u8] = b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789-_";
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Draws letters.
fn random(len: usize, letters: &[u8]) -> String {
    let draw = |at: usize| {
        let number = RandomState::new().hash_one(at);
        let count = u64::try_from(letters.len()).unwrap_or(1);
        let place = usize::try_from(number % count).unwrap_or(0);
        char::from(letters[place])
    };
    // A letter first: neither a number nor a word with a meaning in YAML.
    std::iter::once('k').chain((1..len).map(draw)).collect()
}

fn pem(body: &str) -> String {
    let kind = "RSA PRIVATE KEY";
    format!("-----BEGIN {kind}-----\n{body}\n-----END {kind}-----\n")
}

fn base64(bytes: &[u8]) -> String {
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4_u32 {
            let place = usize::try_from((word >> (18 - 6 * at)) & 63).unwrap_or(0);
            let is_padding = usize::try_from(at).is_ok_and(|at| at > group.len());
            text.push(if is_padding {
                '='
            } else {
                char::from(BASE64[place])
            });
        }
    }
    text
}
