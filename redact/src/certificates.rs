//! Owns the question whether a text is certificates or public keys and nothing else: those are public by nature.
//! Refuses to look into one.

/// What is public: certificates, and the public halves of keys.
const PUBLIC: [&str; 4] = [
    "CERTIFICATE",
    "PUBLIC KEY",
    "RSA PUBLIC KEY",
    "EC PUBLIC KEY",
];

/// Tells whether a line begins or ends something public.
fn is_bound(line: &str, bound: &str) -> bool {
    let what = line
        .strip_prefix("-----")
        .and_then(|line| line.strip_prefix(bound))
        .and_then(|line| line.strip_suffix("-----"));
    what.is_some_and(|what| PUBLIC.contains(&what))
}

/// Tells whether a text is one certificate or public key or more, with at most comments between them.
pub(crate) fn is_only_certificates(text: &str) -> bool {
    let mut is_inside = false;
    let mut count = 0_usize;
    for line in text.lines().map(str::trim) {
        match (is_inside, line) {
            (false, line) if is_bound(line, "BEGIN ") => is_inside = true,
            (true, line) if is_bound(line, "END ") => {
                is_inside = false;
                count += 1;
            }
            (false, "") => {}
            (false, comment) if comment.starts_with('#') => {}
            (true, line) if line.bytes().all(is_digit) => {}
            _ => return false,
        }
    }
    count > 0 && !is_inside
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
    const END: &str = "-----END CERTIFICATE-----";

    #[test]
    fn a_key_beside_a_certificate_is_no_certificate() {
        let certificate = format!("{BEGIN}\nMIIB+/=\nAAAA\n{END}\n");
        assert!(is_only_certificates(&certificate));
        assert!(is_only_certificates(&format!(
            "# root\n{certificate}\n{certificate}"
        )));
        let public = certificate.replace("CERTIFICATE", "RSA PUBLIC KEY");
        assert!(is_only_certificates(&public));
        for text in [
            String::new(),
            certificate.replace("CERTIFICATE", "PRIVATE KEY"),
            "# nothing".to_owned(),
            format!("{certificate}-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----\n"),
            format!("{certificate}password: x"),
            format!("{BEGIN}\nMIIB"),
            format!("{BEGIN}\nuser: x\n{END}"),
        ] {
            assert!(!is_only_certificates(&text), "{text}");
        }
    }
}
