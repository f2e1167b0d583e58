//! Programs that take a password by a flag whose name announces none: `redis-cli -a`, `mysql -p`, `curl -u`.

use super::patterns::constant_regex;
use regex::bytes::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// How the value of a flag is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FlagValue {
    /// Attached, as in `-pVALUE`: alone, the flag asks for the password.
    Attached,
    /// Attached, or as the next word.
    Any,
    /// As the next word, `USER:PASSWORD`.
    Pair,
}

/// Programs with the same flags.
#[derive(Debug)]
pub(crate) struct PasswordFlags {
    programs: &'static [&'static str],
    flags: &'static [&'static str],
    value: FlagValue,
}

/// The manual of each program names the flag.
static ALL: [PasswordFlags; 7] = [
    PasswordFlags {
        programs: &["curl"],
        flags: &["-u", "--user", "-U", "--proxy-user"],
        value: FlagValue::Pair,
    },
    PasswordFlags {
        programs: &["sshpass"],
        flags: &["-p"],
        value: FlagValue::Any,
    },
    PasswordFlags {
        programs: &["redis-cli", "valkey-cli"],
        flags: &["-a"],
        value: FlagValue::Any,
    },
    PasswordFlags {
        programs: &[
            "mysql",
            "mysqldump",
            "mysqladmin",
            "mysqlcheck",
            "mariadb",
            "mariadb-dump",
            "mariadb-admin",
        ],
        flags: &["-p"],
        value: FlagValue::Attached,
    },
    PasswordFlags {
        programs: &[
            "mongo",
            "mongosh",
            "mongodump",
            "mongorestore",
            "mongoexport",
        ],
        flags: &["-p"],
        value: FlagValue::Any,
    },
    PasswordFlags {
        programs: &[
            "ldapsearch",
            "ldapadd",
            "ldapmodify",
            "ldapdelete",
            "ldapwhoami",
            "ldappasswd",
        ],
        flags: &["-w"],
        value: FlagValue::Any,
    },
    // `docker login`, `oc login` and the like.
    PasswordFlags {
        programs: &["login"],
        flags: &["-p"],
        value: FlagValue::Any,
    },
];

/// The flags in texts, by program; the secret is the group `s`.
static PATTERNS: LazyLock<Vec<(&'static str, Regex)>> = LazyLock::new(|| {
    let all = ALL.iter();
    all.flat_map(|row| {
        row.programs
            .iter()
            .map(|program| (*program, row.pattern(program)))
    })
    .collect()
});

impl PasswordFlags {
    /// Returns the flags of the program that an argument runs.
    pub(crate) fn of_argument(argument: &str) -> Option<&'static Self> {
        let name = argument.rsplit('/').next().unwrap_or(argument);
        ALL.iter().find(|row| row.programs.contains(&name))
    }

    /// Returns whether an argument is a flag whose value is the next one.
    pub(crate) fn announces(&self, argument: &str) -> bool {
        let is_grouped = |flag: &&str| {
            let letters = argument.strip_prefix('-').unwrap_or_default();
            flag.len() == 2
                && argument.ends_with(flag.trim_start_matches('-'))
                && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
        };
        match self.value {
            FlagValue::Attached => false,
            FlagValue::Any => self.flags.contains(&argument),
            // The flags before it have no values: `-sku`.
            FlagValue::Pair => self.flags.contains(&argument) || self.flags.iter().any(is_grouped),
        }
    }

    /// Finds the value that is attached to a flag.
    pub(crate) fn attached(&self, argument: &str) -> Option<Range<usize>> {
        let mut flags = self.flags.iter();
        let rest = flags.find_map(|flag| argument.strip_prefix(flag))?;
        let value = rest.strip_prefix('=').unwrap_or(rest);
        let is_value = !value.is_empty()
            && !value.starts_with(['-', '$', '{'])
            && (self.value != FlagValue::Pair || value.contains(':'));
        is_value.then(|| argument.len() - value.len()..argument.len())
    }

    fn pattern(&self, program: &str) -> Regex {
        let between = match self.value {
            FlagValue::Attached => "",
            FlagValue::Any => r"[\s=]{0,4}",
            FlagValue::Pair => r#"[\s=]{0,4}["'\\]{0,4}[^\s:"'\\]{1,128}:"#,
        };
        let flags = self.flags.iter().map(|flag| match flag.as_bytes() {
            [b'-', letter] if self.value == FlagValue::Pair => {
                format!("-[A-Za-z]{{0,8}}{}", char::from(*letter))
            }
            _ => (*flag).to_owned(),
        });
        let (program, flags) = (regex::escape(program), flags.collect::<Vec<_>>().join("|"));
        constant_regex(&format!(
            r#"(?-u)(?:^|[^A-Za-z0-9_.-]){program}["'\\]{{0,4}}\s(?:[^\n;|&]*?[\s"'])?(?:{flags}){between}["'\\]{{0,4}}(?P<s>[^\s"'\\$<{{=-][^\s"'\\]*)"#
        ))
    }
}

/// Returns the names of the programs.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().flat_map(|row| row.programs.iter().copied())
}

/// Finds the passwords in the command lines of a text.
pub(crate) fn passwords(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (program, pattern) in &*PATTERNS {
        if memchr::memmem::find(text, program.as_bytes()).is_none() {
            continue;
        }
        let values = pattern.captures_iter(text);
        found.extend(values.filter_map(|one| Some(one.name("s")?.range())));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let places = passwords(text.as_bytes()).into_iter();
        places.map(|place| &text[place]).collect()
    }

    #[test]
    fn passwords_of_flags_without_a_name_are_found() {
        for (text, expected) in [
            ("curl -s -u admin:canary https://x/y", "canary"),
            ("curl --user 'admin:canary' x", "canary"),
            ("curl -sku admin:canary x", "canary"),
            ("/usr/bin/curl\t--proxy-user=u:canary x", "canary"),
            ("sshpass -p canary ssh core@x", "canary"),
            ("exec sshpass -pcanary ssh x", "canary"),
            ("redis-cli -h x -a \"canary\" ping", "canary"),
            ("timeout 5 mysqladmin ping -uroot -pcanary", "canary"),
            ("mongosh -u root -p canary --eval x", "canary"),
            ("ldapsearch -x -D cn=a -w canary -b x", "canary"),
            ("oc login -u kubeadmin -p canary https://x:6443", "canary"),
        ] {
            assert_eq!(found(text), [expected], "{text}");
        }
        for text in [
            "curl -u admin https://x",
            "curl -u \"$USER:$PASSWORD\" https://x",
            "mysqladmin ping -uroot -p$MYSQL_ROOT_PASSWORD",
            "mysql -p mydb",
            "Pod mysql-0 with -p80",
            "docker run -p 8080:80 x",
            "sshpass -e ssh x",
            "curl x; tar -u a:b",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn arguments_of_a_list_are_those_of_its_program() {
        let row = PasswordFlags::of_argument("/usr/bin/redis-cli").expect("a program");
        assert!(row.announces("-a") && !row.announces("-h"));
        assert_eq!(row.attached("-acanary"), Some(2..8));
        let row = PasswordFlags::of_argument("curl").expect("a program");
        assert!(row.announces("-sku") && !row.announces("--url") && !row.announces("-s"));
        let row = PasswordFlags::of_argument("mysqladmin").expect("a program");
        assert!(!row.announces("-p"));
        assert_eq!(row.attached("-pcanary"), Some(2..8));
        assert_eq!(row.attached("-p$(PASSWORD)"), None);
        assert!(PasswordFlags::of_argument("mysqld").is_none());
    }
}
