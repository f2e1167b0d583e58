//! Tests secrets in texts, each in every encoding that a text can have.

use crate::{redacted, redactor};
use kubereel_redact::{Extra, Redactor, ResourceType};
use serde_json::json;

const KEY: &str = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEAcanarycanary\nAAECAwQFBgcICQoLDA0ODxAR\n-----END RSA PRIVATE KEY-----\n";

/// A text, and the part of it that is the secret.
#[rustfmt::skip]
fn secrets() -> Vec<(String, &'static str)> {
    [
        (KEY, "MIIEpAIBAAKCAQEAcanarycanary\nAAECAwQFBgcICQoLDA0ODxAR"),
        (
            "token eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.c2lnbmF0dXJlY2FuYXJ5 end",
            "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.c2lnbmF0dXJlY2FuYXJ5",
        ),
        ("got sha256~canaryCanaryCanaryCanaryCanaryCanary012345 from", "canaryCanaryCanaryCanaryCanaryCanary012345"),
        ("id AKIACANARYCANARY1234 of", "AKIACANARYCANARY1234"),
        ("aws_secret_access_key = wJalrXUtnFEMICANARYbPxRfiCYEXAMPLEKEY012", "wJalrXUtnFEMICANARYbPxRfiCYEXAMPLEKEY012"),
        ("AccountKey=Y2FuYXJ5Y2FuYXJ5Y2FuYXJ5Y2FuYXJ5; x", "Y2FuYXJ5Y2FuYXJ5Y2FuYXJ5Y2FuYXJ5"),
        ("\"private_key_id\": \"x\", \"private_key\": \"canary-of-google\"", "canary-of-google"),
        ("AZURE_CLIENT_SECRET=canary.of~azure", "canary.of~azure"),
        ("dial http://canary:canaries@proxy.example:3128 failed", "canary:canaries"),
        ("GET https://s3.example/b?X-Amz-Date=1&X-Amz-Signature=c0ffee00canary&x=1", "c0ffee00canary"),
        ("https://x.blob.example/c?sv=2020&sig=canary%2Fcanary%3D", "canary%2Fcanary%3D"),
        ("{\"auths\":{\"quay.io\":{\"auth\":\"Y2FuYXJ5OmNhbmFyeQ==\"}}}", "Y2FuYXJ5OmNhbmFyeQ=="),
        ("Authorization: Bearer canarycanary0canary", "canarycanary0canary"),
        ("header Basic Y2FuYXJ5OmNhbmFyeTE= sent", "Y2FuYXJ5OmNhbmFyeTE="),
        ("ran oc login --token=canary-0-canary here", "canary-0-canary"),
        ("admin:$2y$05$canarycanarycanarycanarycanary", "$2y$05$canarycanarycanarycanarycanary"),
        ("ghp_canarycanarycanarycanarycanary012345 x", "ghp_canarycanarycanarycanarycanary012345"),
        ("AIzaSycanarycanarycanarycanarycanary0123", "AIzaSycanarycanarycanarycanarycanary0123"),
        ("password: canary-pass", "canary-pass"),
        ("sh -c redis-cli -a canary-redis ping", "canary-redis"),
        ("CREATE USER 'a' IDENTIFIED BY 'canary-sql'", "canary-sql"),
        ("dial app:canary-dsn@tcp(db:3306)/shop failed", "canary-dsn"),
    ]
    .into_iter()
    .chain(tokens())
    .map(|(text, secret)| (text.to_owned(), secret))
    .collect()
}

/// Assembled here, so that no scanner takes them for tokens.
#[rustfmt::skip]
fn tokens() -> [(&'static str, &'static str); 5] {
    [
        (concat!("runner glrt", "-t1_Canary0Canary0Canary00 is new"), "t1_Canary0Canary0Canary00"),
        (concat!("use s", ".CanaryCanary0CanaryCana1 now"), "CanaryCanary0CanaryCana1"),
        (
            concat!("POST https://hooks.slack.com", "/services/T0CANARY0/B0CANARY0/CanaryCanaryCanary01 failed"),
            "T0CANARY0/B0CANARY0/CanaryCanaryCanary01",
        ),
        (concat!("key ", "SG.", "CanaryCanaryCanaryCana.CanaryCanaryCanaryCanaryCanaryCanaryCanar01" ), "CanaryCanaryCanaryCana.Canary"),
        (concat!("AGE-SECRET", "-KEY-1CANARYCANARYCANARYCANARYCANARYCANARYCANARYCANARYCANARY00" ), "CANARYCANARYCANARYCANARY"),
    ]
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let word = (0..3).fold(0_u32, |word, at| {
            word << 8 | u32::from(group.get(at).copied().unwrap_or(0))
        });
        for place in 0..4_usize {
            let digit = usize::try_from((word >> (18 - 6 * place)) & 63).unwrap();
            text.push(if place > group.len() {
                '='
            } else {
                char::from(DIGITS[digit])
            });
        }
    }
    text
}

fn percent(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() {
            out.push(char::from(byte));
        } else {
            out.extend(["%".to_owned(), format!("{byte:02x}")]);
        }
    }
    out
}

/// Spells the letters that servers escape, or all of them, as JSON within a text may do.
fn spelled(text: &str, slashes: &str, is_meant: impl Fn(char) -> bool) -> String {
    let spell = |letter: char| match letter {
        ' '..='~' if is_meant(letter) => format!("{slashes}u{:04x}", u32::from(letter)),
        letter => letter.to_string(),
    };
    text.chars().map(spell).collect()
}

fn wrapped(text: &str, width: usize, end: &str) -> String {
    let lines: Vec<&str> = text
        .as_bytes()
        .chunks(width)
        .map(|line| std::str::from_utf8(line).unwrap())
        .collect();
    lines.join(end)
}

/// Every form in which a text can arrive.
#[rustfmt::skip]
fn encodings(text: &str) -> Vec<(&'static str, String)> {
    let encoded = base64(text.as_bytes());
    let nested = base64(encoded.as_bytes());
    vec![
        ("plain", text.to_owned()),
        ("base64", encoded.clone()),
        ("base64, one later", base64(format!("x{text}").as_bytes())),
        ("base64, two later", base64(format!("xy{text}").as_bytes())),
        ("base64, glued", format!("ab{encoded}")),
        ("base64, unpadded", encoded.trim_end_matches('=').to_owned()),
        ("base64, for URLs", encoded.replace('+', "-").replace('/', "_")),
        ("base64, in lines", wrapped(&encoded, 64, "\n  ")),
        ("base64, in escaped lines", wrapped(&encoded, 76, "\\n")),
        ("base64 twice", nested.clone()),
        ("base64 three times", base64(nested.as_bytes())),
        ("percent", percent(text)),
        ("percent twice", percent(&percent(text))),
        ("percent of base64", percent(&encoded)),
        ("base64 of percent", base64(percent(text).as_bytes())),
        ("a data URL", format!("data:text/plain;charset=utf-8;base64,{encoded}")),
        ("JSON in JSON", json!({"a": text}).to_string()),
        ("JSON in JSON in JSON", json!({"a": json!({"b": text}).to_string()}).to_string()),
        ("letters as escapes", format!("got {}", spelled(text, "\\", |_| true))),
        ("letters as escapes twice", spelled(text, "\\\\\\", |_| true)),
        ("signs as escapes", spelled(text, "\\", |letter| "=<>&'".contains(letter)) + "\\u003d"),
        ("YAML", format!("a:\n  b: |\n    {}\n", text.replace('\n', "\n    "))),
    ]
}

/// Every form in which a secret could still be found.
fn forms(secret: &str) -> Vec<String> {
    let quoted = json!(secret).to_string();
    let mut forms = vec![
        secret.to_owned(),
        percent(secret),
        quoted.trim_matches('"').to_owned(),
    ];
    // The inner characters are the same at any alignment.
    for before in ["", "x", "xy"] {
        let text = base64(format!("{before}{secret}").as_bytes());
        let inner = text.trim_end_matches('=');
        let from = if before.is_empty() { 0 } else { 4 };
        forms.push(inner.get(from..inner.len() - 2).unwrap().to_owned());
    }
    forms.retain(|form| form.len() > 6);
    forms
}

#[test]
fn every_secret_is_found_in_every_encoding() {
    let event = ResourceType::new("", "events").with_kind("Event");
    let mut tried = 0;
    for (text, secret) in secrets() {
        for (how, encoded) in encodings(&text) {
            for object in [
                json!({"kind": "Event", "message": encoded, "count": 1}),
                json!({"kind": "Event", "message": format!("before \"{encoded}\" after\ttab")}),
            ] {
                let before = object.to_string();
                let after = redacted(&event, &before);
                assert_ne!(before, after, "{how}: {text}");
                for form in forms(secret) {
                    assert!(!after.contains(&form), "{how}: {form} of {text} in {after}");
                }
                tried += 1;
            }
        }
    }
    assert!(tried > 500, "{tried}");
}

#[test]
fn base64_ends_where_another_line_begins() {
    let event = ResourceType::new("", "events").with_kind("Event");
    for (text, secret) in secrets() {
        for before in ["", "x ", "xy "] {
            let encoded = base64(format!("{before}{text}").as_bytes());
            for encoded in [encoded.trim_end_matches('='), &encoded] {
                for behind in [
                    "\nsleep 1\n",
                    "\\nb: 2\\n",
                    "\n  path: /etc/x\n",
                    "\nDEBUG=1",
                    "\n- a: b",
                ] {
                    let object = json!({"message": format!("cfg: {encoded}{behind}")});
                    let after = redacted(&event, &object.to_string());
                    for form in forms(secret) {
                        assert!(!after.contains(&form), "{form} of {object} in {after}");
                    }
                    let behind = json!(behind).to_string();
                    let end = format!("{}}}", &behind[1..]);
                    assert!(after.ends_with(&end), "{object}: {after}");
                }
            }
        }
    }
}

#[test]
fn only_the_secret_goes() {
    let event = ResourceType::new("", "events").with_kind("Event");
    for (text, secret) in secrets() {
        let before =
            json!({"message": format!("\u{2028}<a & b> {text} \"é\""), "n": 1}).to_string();
        let after = redacted(&event, &before);
        let (head, tail) = (&before[..20], &before[before.len() - 10..]);
        assert!(
            after.starts_with(head) && after.ends_with(tail),
            "{secret}: {after}"
        );
        assert_eq!(after.matches("redacted-by-kubereel-").count(), 1, "{after}");
    }
}

#[test]
fn base64_can_still_be_decoded() {
    let redactor = redactor();
    let inner = "user: bob\npassword: canary-pass\nhost: example\n";
    for text in [
        base64(inner.as_bytes()),
        base64(base64(inner.as_bytes()).as_bytes()),
    ] {
        let after = redactor.words(&text).into_owned();
        assert_ne!(after, text);
        assert_eq!(after.len() % 4, 0, "{after}");
        assert_eq!(redactor.words(&after), after);
    }
}

/// A text in every format of compression that has a signature or is deflate.
fn compressed(text: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let raw = miniz_oxide::deflate::compress_to_vec(text, 6);
    let stored = miniz_oxide::deflate::compress_to_vec(text, 0);
    // Formats with a signature are recognized by it: the content does not matter.
    let signed = |signature: &[u8]| [signature, &raw, &[7; 30]].concat();
    vec![
        ("gzip", signed(b"\x1f\x8b\x08\0\0\0\0\0\0\x03")),
        ("zlib", miniz_oxide::deflate::compress_to_vec_zlib(text, 6)),
        (
            "zlib, fast",
            miniz_oxide::deflate::compress_to_vec_zlib(text, 1),
        ),
        (
            "zlib, stored",
            miniz_oxide::deflate::compress_to_vec_zlib(text, 0),
        ),
        ("deflate", raw.clone()),
        ("deflate, stored", stored),
        ("zip", signed(b"PK\x03\x04\x14\0\0\0\x08\0")),
        ("bzip2", signed(b"BZh91AY&SY")),
        ("xz", signed(b"\xfd7zXZ\0\0\x04")),
        (
            "lzma",
            signed(b"\x5d\0\0\x80\0\xff\xff\xff\xff\xff\xff\xff\xff\0"),
        ),
        ("zstd", signed(b"\x28\xb5\x2f\xfd\x24")),
        ("lz4", signed(b"\x04\x22\x4d\x18\x64\x40")),
        ("7z", signed(b"7z\xbc\xaf\x27\x1c\0\x04")),
        ("snappy", signed(b"\xff\x06\0\0sNaPpY")),
    ]
}

#[test]
fn what_is_compressed_cannot_be_searched_and_goes() {
    let event = ResourceType::new("", "events").with_kind("Event");
    let text = b"user: bob\npassword: canary-pass-0123456789\nhost: example\n";
    let nested = base64(text);
    let mut tried = 0;
    for inner in [&text[..], nested.as_bytes()] {
        for (format, bytes) in compressed(inner) {
            for (how, encoded) in encodings_of(&base64(&bytes)) {
                for object in [
                    json!({"message": encoded}),
                    json!({"message": format!("data \"{encoded}\" end")}),
                    json!({"message": json!({"a": encoded}).to_string()}),
                ] {
                    let after = redacted(&event, &object.to_string());
                    let part = encoded.get(6..encoded.len() - 6).unwrap();
                    let windows = part.as_bytes().windows(16);
                    for window in windows {
                        let window = std::str::from_utf8(window).unwrap();
                        assert!(!after.contains(window), "{format}, {how}: {after}");
                    }
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 400, "{tried}");
}

/// Every spelling of base64.
fn encodings_of(encoded: &str) -> Vec<(&'static str, String)> {
    vec![
        ("base64", encoded.to_owned()),
        ("unpadded", encoded.trim_end_matches('=').to_owned()),
        ("for URLs", encoded.replace('+', "-").replace('/', "_")),
        ("in lines", wrapped(encoded, 64, "\n")),
        ("in indented lines", wrapped(encoded, 76, "\n    ")),
        ("in escaped lines", wrapped(encoded, 76, "\\n")),
        ("twice", base64(encoded.as_bytes())),
    ]
}

#[test]
fn public_bytes_in_base64_stay() {
    let event = ResourceType::new("", "events").with_kind("Event");
    let random: Vec<u8> = (0..600_u32)
        .map(|at| u8::try_from((at * at * 37 + at * 101) % 251).unwrap())
        .collect();
    let bytes = |head: &[u8]| base64(&[head, &random].concat());
    for text in [
        // A certificate in DER and in PEM, a public key, a key of SSH, a picture.
        bytes(b"\x30\x82\x03\x4a\x30\x82\x02\x32\xa0\x03\x02\x01\x02\x02"),
        base64(
            format!(
                "-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n",
                wrapped(&bytes(b"\x30\x82\x03\x4a\x30"), 64, "\n")
            )
            .as_bytes(),
        ),
        bytes(b"\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01"),
        format!(
            "ssh-rsa {} core@host",
            bytes(b"\0\0\0\x07ssh-rsa\0\0\0\x03")
        ),
        bytes(b"\x89PNG\r\n\x1a\n"),
        base64(&miniz_oxide::deflate::compress_to_vec(
            b"nothing of interest here",
            6,
        )),
    ] {
        let object = json!({"caBundle": text, "message": text}).to_string();
        assert_eq!(redacted(&event, &object), object);
    }
}

#[test]
fn private_keys_in_binary_form_go() {
    for head in [
        &b"\x30\x82\x04\xbe\x02\x01\x00\x30\x0d"[..],
        b"\x30\x82\x04\xa4\x02\x01\x00\x02\x82",
        b"\x30\x77\x02\x01\x01\x04\x20",
        b"openssh-key-v1\0",
    ] {
        let encoded = base64(&[head, &[0x5a; 64]].concat());
        let after = redactor().words(&encoded).into_owned();
        assert!(after.starts_with("redacted-by-kubereel-"), "{after}");
    }
}

#[test]
fn json_web_keys_lose_their_private_members_only() {
    let widget = ResourceType::new("acme.io", "widgets").with_kind("Widget");
    let key = json!({"kty": "RSA", "kid": "one", "n": "publicpublicpublicpublic", "e": "AQAB",
        "d": "canarycanarycanary0", "p": "canarycanarycanary1", "dp": "canarycanarycanary2", "qi": "canarycanarycanary3"});
    let other = json!({"d": "1", "k": "a value of something else", "p": "a-part-of-something"});
    for object in [
        json!({"spec": {"keys": [key], "other": other}}),
        json!({"spec": {"keys": json!({"keys": [key]}).to_string(), "other": other}}),
        json!({"spec": {"text": format!("the set is {key} now"), "other": other}}),
        json!({"spec": {"text": base64(key.to_string().as_bytes()), "other": other}}),
    ] {
        let after = redacted(&widget, &object.to_string());
        assert!(!after.contains("canarycan"), "{after}");
        assert!(
            !after.contains(&base64(b"canarycanarycanary0")[..20]),
            "{after}"
        );
        assert!(after.contains(&other.to_string()), "{after}");
    }
    let public = json!({"kty": "EC", "crv": "P-256", "x": "publicpublicpublic0", "y": "publicpublicpublic1"});
    assert_eq!(redacted(&widget, &public.to_string()), public.to_string());
}

#[test]
fn ordinary_messages_are_kept_byte_by_byte() {
    let event = ResourceType::new("", "events").with_kind("Event");
    for text in [
        "Successfully assigned openshift-etcd/etcd-0 to master-0",
        "MountVolume.SetUp failed for volume \"kube-api-access\" : secret \"token\" not found",
        "Get \"https://10.0.0.1:6443/readyz?timeout=10s\": dial tcp 10.0.0.1:6443: connect: connection refused",
        "Pulling image \"quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:3e9a9708a3b2b94d2b7f8f9a3a29a7d8e4e8b9f3d4a4e2c7d1c5a1f0e9b8c7d6\"",
        "Updated Deployment.apps/oauth-openshift -n openshift-authentication because it changed",
        "password authentication failed: invalid password",
        "50% of 12 pods are ready",
        "authentication: Basic authentication is disabled",
    ] {
        for object in [
            json!({"message": text}),
            json!({"status": {"conditions": [{"message": text}]}}),
        ] {
            assert_eq!(redacted(&event, &object.to_string()), object.to_string());
        }
    }
}

#[test]
fn rules_of_ones_own_are_added() {
    let extra = Extra::read(
        "own.yaml",
        "rules:\n- {name: licences, text: 'LIC-[0-9]{6}'}\n- {name: pins, kind: widgets.acme.io, path: spec.*.code}\n",
    )
    .unwrap();
    let redactor = Redactor::new(extra).unwrap();
    let widgets = ResourceType::new("acme.io", "widgets");
    let object =
        json!({"spec": {"door": {"code": "canary"}}, "note": "uses LIC-123456 here"}).to_string();
    let after = redactor.object(&widgets, object.as_bytes()).unwrap();
    let after = String::from_utf8(after.to_vec()).unwrap();
    assert!(
        !after.contains("canary") && !after.contains("LIC-"),
        "{after}"
    );
    assert!(
        after.contains("uses redacted-by-kubereel-10-bytes-"),
        "{after}"
    );
    let encoded = json!({"note": base64(b"uses LIC-123456 here")}).to_string();
    let after = redactor
        .object(&ResourceType::default(), encoded.as_bytes())
        .unwrap();
    assert_ne!(&*after, encoded.as_bytes());
    let elsewhere = json!({"spec": {"door": {"code": "canary"}}}).to_string();
    let after = redactor
        .object(&ResourceType::new("", "pods"), elsewhere.as_bytes())
        .unwrap();
    assert_eq!(&*after, elsewhere.as_bytes());
}

#[test]
fn the_next_recording_of_a_run_leaves_equal_marks_and_counts_anew() {
    let first = redactor();
    let text = "https://user:k4mJx9vQ2ztP@example.com";
    let marked = first.words(text).into_owned();
    assert_ne!(marked, text);
    let next = first.next();
    assert_eq!(next.counts(), []);
    assert_eq!(next.words(text), marked, "the same key");
    assert_eq!(next.counts(), first.counts());
    assert_ne!(
        redactor().words(text),
        marked,
        "another run has another key"
    );
}

/// The search for the recorder's own credentials and the policy may replace parts of one value.
#[test]
fn marks_in_a_row_are_not_a_secret() {
    let mark = "redacted-by-kubereel-20-bytes-0123456789abcdef";
    for text in [
        format!("message: \"token={mark} {mark}\""),
        format!("password: {mark} {mark}"),
    ] {
        let found = redactor().text_findings(text.as_bytes());
        assert!(found.is_empty(), "{found:?}");
    }
    let text = format!("password: Rex7 {mark}");
    assert!(!redactor().text_findings(text.as_bytes()).is_empty());
}
