//! Programs that take a password in a place whose name announces none: `redis-cli -a`, `mysql -p`, `curl -u`.

use super::announced_names::{count, count_back};
use super::patterns::constant_regex;
use super::shell_words::{is_open, word_len};
use super::yaml_lines::closing;
use regex::bytes::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// The part of a command line in which a password is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PasswordSide {
    /// Behind the name of the program: its arguments.
    Behind,
    /// Before it: what `echo` writes to its standard input.
    Before,
}

use PasswordSide::{Before, Behind};

/// The words in capitals of `PLACES`. The value goes on to the end of its word: see [`value_end`].
const PARTS: [(&str, &str); 7] = [
    ("FLAGS", r"(?:\s+-\S+)*"),
    ("FLAG", r#"(?:^|[\s"'])"#),
    ("WORD", r#"\s+(?:"[^"\n]*"|'[^'\n]*'|[^\s-]\S*)"#),
    ("NEXT", r"(?:[\s=]|\\\r?\n){1,8}"),
    ("USER", r#"["'\\]{0,4}[^\s:"'\\]{1,128}"#),
    (
        "ECHO",
        r#"(?:echo|printf)(?:\s+-[a-zA-Z]+)*(?:\s+["']?%s(?:\\+n)?["']?)?\s+"#,
    ),
    (
        "VALUE",
        r#"["'\\]{0,4}(?P<s>[^\s"'\\$`<>{=|&;-][^\s"'\\]*)"#,
    ),
];

/// The places of passwords, as the manual of each program names them.
const PLACES: [(PasswordSide, &[&str], &str); 24] = [
    (
        Behind,
        &["curl"],
        r"FLAG(?:-[A-Za-z]{0,8}[uU](?:NEXT)?|(?:--user|--proxy-user)NEXT)USER:VALUE",
    ),
    (Behind, &["etcdctl"], "FLAG--userNEXTUSER:VALUE"),
    (
        Behind,
        &["skopeo", "podman", "buildah"],
        "FLAG--(?:src-|dest-)?credsNEXTUSER:VALUE",
    ),
    // `docker login`, `oc login` and the like.
    (
        Behind,
        &[
            "sshpass",
            "login",
            "cqlsh",
            "mongo",
            "mongosh",
            "mongodump",
            "mongorestore",
            "mongoexport",
        ],
        "FLAG-p(?:NEXT)?VALUE",
    ),
    (Behind, &["redis-cli", "valkey-cli"], "FLAG-a(?:NEXT)?VALUE"),
    (
        Behind,
        &["redis-cli", "valkey-cli"],
        r"(?i:\sconfig\s+set\s+(?:requirepass|masterauth|primaryauth))NEXTVALUE",
    ),
    (Behind, &["sqlcmd", "ipmitool"], "FLAG-P(?:NEXT)?VALUE"),
    // Alone, the flag asks for the password.
    (
        Behind,
        &[
            "mysql",
            "mysqldump",
            "mysqladmin",
            "mysqlcheck",
            "mariadb",
            "mariadb-dump",
            "mariadb-admin",
        ],
        "FLAG-pVALUE",
    ),
    (
        Behind,
        &[
            "ldapsearch",
            "ldapadd",
            "ldapmodify",
            "ldapdelete",
            "ldapwhoami",
            "ldappasswd",
        ],
        "FLAG-w(?:NEXT)?VALUE",
    ),
    (
        Behind,
        &["keytool"],
        "FLAG-(?:new|(?:src|dest)?(?:store|key)pass)NEXTVALUE",
    ),
    (
        Behind,
        &["openssl"],
        "FLAG-pass(?:in|out)?NEXT[\"']?pass:VALUE",
    ),
    (
        Behind,
        &["sqlplus"],
        r#"^FLAGS\s+["']?[^\s/"'\\]{1,128}/VALUE"#,
    ),
    (
        Behind,
        &["smbclient"],
        "FLAG(?:-U|--user)(?:NEXT)?[\"']?[^\\s%\"']{1,128}%VALUE",
    ),
    (
        Behind,
        &["rabbitmqctl"],
        "FLAG(?:add_user|change_password|authenticate_user)WORDNEXTVALUE",
    ),
    // With `-n`, there is no file.
    (
        Behind,
        &["htpasswd"],
        "^FLAGSNEXT-[a-zA-Z]*(?:n[a-zA-Z]*b|b[a-zA-Z]*n)[a-zA-Z]*FLAGSWORDNEXTVALUE",
    ),
    (
        Behind,
        &["htpasswd"],
        r"^FLAGS\s+-[a-mo-zA-Z]*b[a-mo-zA-Z]*FLAGSWORDWORDNEXTVALUE",
    ),
    // `aws configure set`, `mc alias set`.
    (
        Behind,
        &["configure"],
        r"^\s+set\s+aws_(?:secret_access_key|session_token)NEXTVALUE",
    ),
    (Behind, &["alias"], r"^\s+setWORDWORDWORDNEXTVALUE"),
    // Other methods of `vault login` have arguments of the form `NAME=VALUE`.
    (
        Behind,
        &["vault"],
        r#"^\s+loginFLAGS\s+["']?(?:token=)?(?P<s>[^\s"'\\$`<>{=|&;-][^\s"'\\=]*)(?:[\s"'\\]|$)"#,
    ),
    // `kubectl create secret generic`.
    (
        Behind,
        &["generic"],
        r#"FLAG--from-literalNEXT["']?[^\s="'\\]{1,128}=VALUE"#,
    ),
    (Before, &["chpasswd"], "ECHOUSER:VALUE"),
    (
        Before,
        &["--password-stdin", "passwd", "kinit"],
        "ECHOVALUE",
    ),
    // A here-string.
    (Behind, &["chpasswd"], r"<<<\s*USER:VALUE"),
    (
        Behind,
        &["--password-stdin", "passwd", "kinit"],
        r"<<<\s*VALUE",
    ),
];

/// The places by the name of a program; the password is the group `s`.
static PATTERNS: LazyLock<Vec<(PasswordSide, &'static str, Regex)>> = LazyLock::new(|| {
    let mut all = Vec::new();
    for (side, programs, pattern) in PLACES {
        let mut pattern = format!("(?-u){pattern}");
        for (word, part) in PARTS {
            pattern = pattern.replace(word, part);
        }
        let pattern = constant_regex(&pattern);
        all.extend(programs.iter().map(|name| (side, *name, pattern.clone())));
    }
    all
});

/// Returns the names of the programs.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    PLACES
        .iter()
        .flat_map(|(_, names, _)| names.iter().copied())
}

/// Returns whether an argument is the name or the path of one of the programs.
pub(crate) fn is_program(argument: &str) -> bool {
    let name = argument.rsplit('/').next().unwrap_or(argument);
    names().any(|one| one == name)
}

/// Writes an argument as one word of as many bytes, in which nothing is special to a shell but what begins a
/// variable. The commands of a script are not commands of the line, as their words are joined by `_`.
pub(crate) fn as_word(argument: &[u8]) -> impl Iterator<Item = u8> {
    argument.iter().map(|byte| match byte {
        b'.' | b'/' | b':' | b'=' | b'@' | b'%' | b'$' | b'{' | b'<' | b'-' => *byte,
        byte if byte.is_ascii_alphanumeric() => *byte,
        _ => b'_',
    })
}

/// Finds the passwords in the command lines of a text.
pub(crate) fn passwords(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (side, program, pattern) in &*PATTERNS {
        // The searched parts do not overlap: no text takes the square of its length.
        let mut from = 0;
        for (start, end) in occurrences(text, program) {
            if start < from {
                continue;
            }
            let part = match side {
                Behind => end..command_end(text, end),
                Before => line_start(text, start).max(from)..start,
            };
            from = part.end.max(end);
            let line = text.get(part.clone()).unwrap_or_default();
            let values = pattern.captures_iter(line);
            let values = values.filter_map(|one| Some(one.name("s")?.start() + part.start));
            let values = values.map(|at| at..value_end(text, at));
            found.extend(values.filter(|value| {
                side == &Behind || text.get(value.end..start).is_some_and(is_piped)
            }));
        }
    }
    found
}

/// How far before a value the quote is searched that opens its word.
const WORD_BYTES: usize = 300;

/// Returns the end of the value that begins at a place: its word may have blanks in quotes or behind backslashes.
fn value_end(text: &[u8], start: usize) -> usize {
    let is_quote = |byte: u8| matches!(byte, b'"' | b'\'');
    let line = memchr::memchr(b'\n', text.get(start..).unwrap_or_default());
    let line = text.get(..line.map_or(text.len(), |len| start + len));
    let line = line.unwrap_or_default().trim_ascii_end();
    // `'user:a b'` is opened before the value.
    let before = line
        .get(start.saturating_sub(WORD_BYTES)..start)
        .unwrap_or_default();
    let stem = count_back(before, |byte| {
        !byte.is_ascii_whitespace() && !is_quote(byte)
    });
    let word = start - stem;
    let name = word.saturating_sub(1);
    let mut open = line
        .get(name..word)
        .and_then(|byte| byte.first().copied())
        .filter(|byte| is_quote(*byte))
        .map(|quote| {
            let before = line.get(..name).unwrap_or_default();
            (quote, count_back(before, |byte| byte == b'\\'))
        });
    let is_opened = open.is_some();
    let mut at = start;
    loop {
        let end = if let Some((quote, slashes)) = open {
            closing(line, at, quote, slashes)
        } else {
            let is_end = |byte: u8| byte.is_ascii_whitespace() || is_quote(byte) || byte == b'\\';
            at + word_len(line, at, is_end)
        };
        // The next part of the word; a quote of the text around the command ends it.
        let is_closed = open.is_some_and(|(_, slashes)| slashes == 0) && end < line.len();
        let next = end + usize::from(is_closed);
        let rest = line.get(next..).unwrap_or_default();
        open = None;
        at = match rest {
            [quote @ (b'"' | b'\''), inner @ ..]
                if !is_open(line, name, *quote) && memchr::memchr(*quote, inner).is_some() =>
            {
                open = Some((*quote, 0));
                next + 1
            }
            [b'\\', b'\'', b'\'', ..] if is_closed && !is_open(line, name, b'\'') => {
                open = Some((b'\'', 0));
                next + 3
            }
            [byte, ..] if is_closed && is_bare(*byte) => next,
            _ if is_opened => return end,
            _ => return next,
        };
    }
}

/// Returns whether a byte behind a quote continues the word, in shells and in nothing else.
const fn is_bare(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b'!' | b'@' | b'#')
}

/// Returns whether a text between a value and a program is the pipe from one to the other.
fn is_piped(between: &[u8]) -> bool {
    let quotes = count(between, |byte| matches!(byte, b'"' | b'\'' | b'\\')).min(4);
    let rest = between.get(quotes..).unwrap_or_default();
    let rest = rest.trim_ascii_start().strip_prefix(b"|");
    rest.is_some_and(|rest| memchr::memchr2(b'|', b'\n', rest).is_none())
}

/// Returns the places at which a text names a program as a word.
fn occurrences(text: &[u8], program: &str) -> impl Iterator<Item = (usize, usize)> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let places = memchr::memmem::find_iter(text, program.as_bytes());
    let places = places.map(|start| (start, start + program.len()));
    places.filter(move |(start, end)| {
        let before = start.checked_sub(1).and_then(|at| text.get(at));
        !before.is_some_and(is_part) && !text.get(*end).is_some_and(is_part)
    })
}

/// Returns the end of the command that goes on at a place.
fn command_end(text: &[u8], from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    let mut quote = None;
    let mut last = b' ';
    let is_end = |byte: &u8| {
        let before = std::mem::replace(&mut last, *byte);
        match *byte {
            b'\n' => return !matches!(before, b'\\' | b'\r'),
            b';' | b'|' | b'&' => return quote.is_none(),
            byte if quote == Some(byte) => quote = None,
            // Behind a word it ends a text around the command.
            b'"' | b'\'' if quote.is_none() && (before.is_ascii_whitespace() || before == b'=') => {
                quote = Some(*byte);
            }
            _ => {}
        }
        false
    };
    let len = rest.iter().position(is_end).unwrap_or(rest.len());
    from + len
}

fn line_start(text: &[u8], end: usize) -> usize {
    let before = text.get(..end).unwrap_or_default();
    memchr::memrchr(b'\n', before).map_or(0, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let places = passwords(text.as_bytes()).into_iter();
        places.map(|place| &text[place]).collect()
    }

    #[test]
    fn passwords_without_a_name_are_found() {
        for text in [
            "curl -s -u admin:canary https://x/y",
            "curl --user 'admin:canary' x",
            "curl -u corp/admin:canary x",
            "curl -sku admin:canary x",
            "curl \"https://x/?a=b&c=d;e\" -u admin:canary",
            "curl -k \\\n  -u admin:canary \\\n  https://x",
            "/usr/bin/curl\t--proxy-user=u:canary x",
            "sshpass -p canary ssh core@x",
            "exec sshpass -pcanary ssh x",
            "redis-cli -h x -a \"canary\" ping",
            "timeout 5 mysqladmin ping -uroot -pcanary",
            "mongosh -u root -p canary --eval x",
            "cqlsh -u cassandra -p canary",
            "sqlcmd -S localhost -U sa -P 'canary' -Q 'SELECT 1'",
            "ipmitool -I lanplus -H x -U admin -P canary power status",
            "ldapsearch -x -D cn=a -w canary -b x",
            "oc login -u kubeadmin -p canary https://x:6443",
            "etcdctl --user root:canary get /",
            "skopeo copy --src-creds=u:canary docker://x dir:y",
            "keytool -import -storepass canary -noprompt",
            "openssl pkcs12 -export -passout pass:canary -in x",
            "sqlplus -s system/canary",
            "smbclient //x/y -U admin%canary",
            "rabbitmqctl add_user admin canary",
            "sudo rabbitmqctl change_password admin 'canary'",
            "htpasswd -bc /etc/htpasswd admin canary",
            "htpasswd -nbB admin canary > f 2>/dev/null",
            "htpasswd -nb admin canary 2>/dev/null",
            "aws configure set aws_secret_access_key canary --profile x",
            "mc alias set minio http://x:9000 minioadmin canary",
            "vault login canary",
            "vault login -no-print token=canary",
            "kubectl create secret generic x --from-literal=a=canary -n y",
            "oc create secret generic x --from-literal 'a=canary'",
            "echo \"root:canary\" | chpasswd",
            "echo core:canary | sudo chpasswd -c SHA512",
            "echo 'canary' | docker login -u x --password-stdin quay.io",
            "echo canary | passwd --stdin core",
            "echo -n canary | kinit admin",
            "printf canary | docker login --password-stdin quay.io",
            "printf '%s' 'canary' | docker login -u x --password-stdin quay.io",
            "printf \"%s\\n\" canary | kinit admin",
            "docker login -u x --password-stdin quay.io <<< 'canary'",
            "chpasswd <<<root:canary",
            "redis-cli -h x CONFIG SET requirepass canary",
            "valkey-cli config set masterauth 'canary'",
        ] {
            assert_eq!(found(text), ["canary"], "{text}");
        }
        assert_eq!(
            found("curl -u a:one -U b:two x; curl -u c:three y"),
            ["one", "two", "three"]
        );
        assert_eq!(
            found("sh -c 'htpasswd -nb a one' && htpasswd -nb b two"),
            ["one", "two"]
        );
    }

    #[test]
    fn a_password_with_blanks_is_found_to_the_end_of_its_word() {
        for (text, expected) in [
            (
                "sshpass -p 'correct horse battery' ssh x",
                "correct horse battery",
            ),
            ("sshpass -p \"my dog\" ssh x", "my dog"),
            ("sshpass -pzz\\ word ssh x", "zz\\ word"),
            ("sshpass -p zz\\ word ssh x", "zz\\ word"),
            ("sshpass -p zz' word' ssh x", "zz' word'"),
            ("sshpass -p 'it'\\''s one' ssh x", "it'\\''s one"),
            ("sshpass -p 'my dog'Rex7 ssh x", "my dog'Rex7"),
            ("sh -c \"sshpass -p 'my dog'\" now", "my dog"),
            ("sh -c 'sshpass -p \"my dog\"' now", "my dog"),
            ("sh -c \"sshpass -p canary\" \"now\"", "canary"),
            (r#"sh -c "sshpass -p \"my dog\" ssh x" now"#, "my dog"),
            ("sh -c 'sshpass -p '\\''my dog'\\'' ssh x' now", "my dog"),
            ("failed: sshpass -p 'my dog and no en", "my dog and no en"),
            ("curl -u 'admin:my secret pw' https://x", "my secret pw"),
            ("curl -u admin:'my secret' https://x", "my secret"),
            ("redis-cli -a 'my dog' ping", "my dog"),
            ("mysql -uroot -p'my dog' -e x", "my dog"),
            ("mysql -uroot '-pmy dog' -e x", "my dog"),
            ("etcdctl '--user=root:my dog' get x", "my dog"),
            ("mongosh -u root -p 'my dog' --eval x", "my dog"),
            ("ldapsearch -x -w 'my dog' -b x", "my dog"),
            ("docker login -u x -p 'my dog' quay.io", "my dog"),
            ("htpasswd -nbB admin 'my dog' > f", "my dog"),
            ("rabbitmqctl add_user 'the admin' 'my dog'", "my dog"),
            (
                "aws configure set aws_secret_access_key 'my dog' --profile x",
                "my dog",
            ),
            ("mc alias set minio http://x 'the admin' 'my dog'", "my dog"),
            ("smbclient //x/y -U 'admin%my dog'", "my dog"),
            ("sqlplus -s 'system/my dog'", "my dog"),
            ("curl -u adm:Hd7x\\!Tq9Z https://a.test", "Hd7x\\!Tq9Z"),
            ("sshpass -p Hd7x\\$Tq9Z ssh a", "Hd7x\\$Tq9Z"),
            ("mysql -u root -pHd7x\\&Tq9Z db", "Hd7x\\&Tq9Z"),
            ("mysql -pHd7x\\\"Tq9Z db", "Hd7x\\\"Tq9Z"),
            ("openssl pkcs12 -passin 'pass:my dog' -in x", "my dog"),
            ("vault login 'my dog'", "my dog"),
            (
                "kubectl create secret generic x --from-literal='a=my dog' -n y",
                "my dog",
            ),
            ("echo 'root:a b' | chpasswd", "a b"),
            ("echo 'root:a|b c' | sudo chpasswd", "a|b c"),
            (
                "echo 'my dog' | docker login -u x --password-stdin quay.io",
                "my dog",
            ),
        ] {
            assert_eq!(found(text), [expected], "{text}");
        }
    }

    #[test]
    fn other_arguments_are_kept() {
        for text in [
            "curl -u admin https://x",
            "curl -u \"$USER:$PASSWORD\" https://x",
            "curl --user-agent=kube:probe x",
            "mysqladmin ping -uroot -p$MYSQL_ROOT_PASSWORD",
            "mysql -p mydb",
            "Pod mysql-0 with -p80",
            "docker run -p 8080:80 x",
            "sshpass -e ssh x",
            "curl x; tar -u a:b",
            "curl x\ntar -u a:b",
            "keytool -list -storepass \"$(cat /x)\"",
            "openssl pkcs12 -passin file:/x -passout env:Y",
            "sqlplus /nolog",
            "vault login -method=userpass username=admin",
            "vault login $TOKEN",
            "kubectl create configmap x --from-literal=a=b",
            "kubectl create secret generic x --from-literal=a=$B",
            "rabbitmqctl list_users",
            "rabbitmqctl add_user admin $PASSWORD",
            "htpasswd -b /x admin \"${PASSWORD}\"",
            "alias set up",
            "aws configure set region us-east-1",
            "echo \"root:$PASSWORD\" | chpasswd",
            "cat /x | docker login --password-stdin",
            "docker login --password-stdin quay.io <<< \"$TOKEN\"",
            "printf '%s' \"$TOKEN\" | docker login --password-stdin",
            "redis-cli CONFIG SET maxmemory 2mb",
            "echo root:x | cat; cat /x | chpasswd",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn arguments_name_programs() {
        assert!(is_program("/usr/bin/redis-cli") && is_program("curl"));
        assert!(!is_program("mysqld") && !is_program("curl -k"));
    }
}
