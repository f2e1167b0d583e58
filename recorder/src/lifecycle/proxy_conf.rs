//! Reads the proxy before the cluster from a CI job's `proxy-conf.sh`: lines that export its variables. The
//! script is never run, and a value that only a shell could compute is refused.

use http::Uri;
use kubereel_redact::KnownCredentials;
use std::net::IpAddr;

/// A proxy, and the hosts that are reached without it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProxyConf {
    http: Option<String>,
    https: Option<String>,
    none_for: Vec<String>,
}

impl ProxyConf {
    /// Reads the lines `export NAME=VALUE` of the three variables; the last line of each variable
    /// counts.
    pub(crate) fn parse(text: &str) -> Self {
        let mut conf = Self::default();
        for line in text.lines() {
            let Some((name, value)) = assignment(line) else {
                continue;
            };
            KnownCredentials::of_process().remember_url(value);
            let value = Some(value.to_owned()).filter(|value| !value.is_empty());
            match name.to_ascii_uppercase().as_str() {
                "HTTP_PROXY" => conf.http = value,
                "HTTPS_PROXY" => conf.https = value,
                "NO_PROXY" => {
                    let hosts = value.unwrap_or_default();
                    let hosts = hosts.split(',').map(str::trim);
                    conf.none_for = hosts
                        .filter(|host| !host.is_empty())
                        .map(str::to_owned)
                        .collect();
                }
                _ => {}
            }
        }
        conf
    }

    /// Returns the proxy for a server, if there is one.
    ///
    /// # Errors
    ///
    /// If the value is not a URL. The error does not contain the value, which may contain a
    /// password.
    pub(crate) fn before(&self, server: &Uri) -> Result<Option<Uri>, &'static str> {
        let host = server.host().unwrap_or("").trim_matches(['[', ']']);
        if self.none_for.iter().any(|entry| covers(entry, host)) {
            return Ok(None);
        }
        let is_plain = server.scheme_str() == Some("http");
        let proxy = if is_plain { &self.http } else { &self.https };
        let Some(proxy) = proxy else {
            return Ok(None);
        };
        let url = if proxy.contains("://") {
            proxy.clone()
        } else {
            format!("http://{proxy}")
        };
        match url.parse::<Uri>() {
            Ok(url) if url.host().is_some_and(|host| !host.is_empty()) => Ok(Some(url)),
            _ => Err("the proxy is not a URL"),
        }
    }
}

/// Reads `export NAME=VALUE`; fails if a shell would have to expand the value.
fn assignment(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim().strip_prefix("export")?;
    let rest = rest.strip_prefix([' ', '\t'])?.trim_start();
    let (name, value) = rest.split_once('=')?;
    let value = match value.as_bytes() {
        [b'\'', middle @ .., b'\''] => {
            let value = std::str::from_utf8(middle).ok()?;
            return (!value.contains('\'')).then_some((name, value));
        }
        [b'"', middle @ .., b'"'] => std::str::from_utf8(middle).ok()?,
        _ if value.contains(char::is_whitespace) => return None,
        _ => value,
    };
    let needs_shell = |letter| matches!(letter, '$' | '`' | '\\' | '"' | '\'' | ';' | '&' | '|');
    (!value.contains(needs_shell)).then_some((name, value))
}

/// Returns whether an entry of `NO_PROXY` names a host: itself, its domain, its network, or all.
fn covers(entry: &str, host: &str) -> bool {
    if entry == "*" {
        return true;
    }
    if let Ok(address) = host.parse::<IpAddr>() {
        return is_in(address, entry);
    }
    let entry = entry.strip_prefix("*.").unwrap_or(entry);
    let entry = entry.trim_start_matches('.').to_ascii_lowercase();
    let host = host.to_ascii_lowercase();
    host == entry
        || host
            .strip_suffix(entry.as_str())
            .is_some_and(|front| front.ends_with('.'))
}

fn is_in(address: IpAddr, entry: &str) -> bool {
    let (network, bits) = entry.split_once('/').unwrap_or((entry, ""));
    let Ok(network) = network.parse::<IpAddr>() else {
        return false;
    };
    let wide = match (address, network) {
        (IpAddr::V4(_), IpAddr::V4(_)) => 32,
        (IpAddr::V6(_), IpAddr::V6(_)) => 128,
        _ => return false,
    };
    let bits: u32 = match bits {
        "" => wide,
        bits => match bits.parse() {
            Ok(bits) if bits <= wide => bits,
            _ => return false,
        },
    };
    let number = |address| match address {
        IpAddr::V4(address) => u128::from(u32::from(address)),
        IpAddr::V6(address) => u128::from(address),
    };
    let differing = number(address) ^ number(network);
    differing.checked_shr(wide - bits).unwrap_or(0) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONF: &str = "#!/bin/bash\nexport HTTP_PROXY=http://u:p@10.0.0.1:3128/\nexport HTTPS_PROXY=\"http://u:p@10.0.0.1:3129/\"\n\nexport NO_PROXY='.cluster.local,10.128.0.0/14,exact.example,fd00::/8'\nexport https_proxy=$(curl evil)\nexport OTHER=1\ntouch /tmp/never\n";

    fn before(conf: &ProxyConf, server: &str) -> Option<String> {
        let server: Uri = server.parse().expect("a URL");
        let proxy = conf.before(&server).expect("a proxy or none");
        proxy.map(|proxy| proxy.to_string())
    }

    #[test]
    fn lines_are_read_and_never_run() {
        let conf = ProxyConf::parse(CONF);
        let https = Some("http://u:p@10.0.0.1:3129/".to_owned());
        assert_eq!(before(&conf, "https://api.ci.example:6443"), https);
        let http = Some("http://u:p@10.0.0.1:3128/".to_owned());
        assert_eq!(before(&conf, "http://api.ci.example"), http);
        for direct in [
            "https://api.cluster.local",
            "https://exact.example:6443",
            "https://in.exact.example",
            "https://10.131.255.255",
            "https://[fd00::1]:6443",
        ] {
            assert_eq!(before(&conf, direct), None, "{direct}");
        }
        for through in [
            "https://notexact.example",
            "https://10.132.0.0",
            "https://[fe80::1]",
        ] {
            assert_eq!(before(&conf, through), https, "{through}");
        }
    }

    #[test]
    fn what_only_a_shell_makes_out_is_left_out() {
        for line in [
            "export HTTPS_PROXY=$PROXY",
            "export HTTPS_PROXY=`id`",
            "export HTTPS_PROXY=\"a\\\"b\"",
            "export HTTPS_PROXY=a; rm -rf x",
            "export HTTPS_PROXY=a b",
            "export HTTPS_PROXY='a'b'",
            "exportHTTPS_PROXY=a",
            "HTTPS_PROXY=a",
            "export HTTPS_PROXY",
            "export HTTPS_PROXY=\"",
        ] {
            assert_eq!(ProxyConf::parse(line), ProxyConf::default(), "{line}");
        }
        assert_eq!(
            before(&ProxyConf::parse("export https_proxy=p:1"), "https://x"),
            Some("http://p:1/".to_owned())
        );
        let broken = ProxyConf::parse("export https_proxy=http://:/%%");
        assert!(broken.before(&"https://x".parse().expect("a URL")).is_err());
        let all = ProxyConf::parse("export https_proxy=p:1\nexport no_proxy=*");
        assert_eq!(before(&all, "https://x"), None);
        let zero = ProxyConf::parse("export https_proxy=p:1\nexport no_proxy=0.0.0.0/0,::/129");
        assert_eq!(before(&zero, "https://1.2.3.4"), None);
        assert!(before(&zero, "https://[::1]").is_some());
    }
}
