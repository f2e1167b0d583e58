//! The documented forms of tokens with a prefix.
//!
//! One table: prefix, alphabet and length are facts that the vendor documents or that public rule
//! collections list; the last column names the source. A form without a prefix of its own is in
//! `patterns`.

use super::announced_names::{count, count_back};
use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use std::ops::Range;
use std::sync::LazyLock;

/// The characters of a token after its prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Alphabet {
    /// Hexadecimal digits in small letters.
    Hex,
    /// Capital letters and digits.
    Upper,
    /// Letters and digits.
    Alnum,
    /// Letters, digits, `-` and `_`: base64 for URLs.
    Word,
    /// As `Word`, and `.`: several parts.
    Dotted,
    /// Both alphabets of base64, with padding.
    Base64,
}

impl Alphabet {
    const fn contains(self, byte: u8) -> bool {
        match self {
            Self::Hex => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
            Self::Upper => matches!(byte, b'0'..=b'9' | b'A'..=b'Z'),
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Word => is_word(byte),
            Self::Dotted => is_word(byte) || byte == b'.',
            Self::Base64 => is_word(byte) || matches!(byte, b'+' | b'/' | b'='),
        }
    }
}

pub(super) const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// How certain the prefix alone is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TokenBound {
    /// The prefix occurs nowhere else: a longer run is a token too, and other text may adjoin it.
    Open,
    /// The prefix occurs in ordinary names: the token must stand alone, be at most this long, and have a digit or mixed
    /// letters.
    Alone(usize),
    /// As `Alone`, and the token must mix letters of both cases with digits or many capitals.
    Mixed(usize),
    /// The text after the prefix is the secret, the prefix is not: the path of a URL.
    Path,
}

/// One form.
#[derive(Debug)]
struct TokenForm {
    prefix: &'static str,
    alphabet: Alphabet,
    /// The fewest characters after the prefix.
    least: usize,
    bound: TokenBound,
    /// The vendor, for the scan's finding.
    vendor: &'static str,
    /// The document with the form.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "evidence for readers of the table")
    )]
    source: &'static str,
}

const fn form(
    prefix: &'static str,
    alphabet: Alphabet,
    least: usize,
    bound: TokenBound,
    vendor: &'static str,
    source: &'static str,
) -> TokenForm {
    TokenForm {
        prefix,
        alphabet,
        least,
        bound,
        vendor,
        source,
    }
}

use Alphabet::{Alnum, Base64, Dotted, Hex, Upper, Word};
use TokenBound::{Alone, Mixed, Open, Path};

const AGE: &str = "age-encryption.org/v1, X25519 recipients";
const ANTHROPIC: &str = "Anthropic, API keys; GitHub secret scanning patterns";
const ATLASSIAN: &str = "Atlassian, API token format change 2023; gitleaks";
const AWS: &str = "AWS IAM User Guide, Bedrock API keys; gitleaks";
const DATABRICKS: &str = "Databricks, personal access tokens; gitleaks";
const DIGITALOCEAN: &str = "DigitalOcean blog, token prefixes 2022";
const DOCKER: &str = "Docker, personal and organization access tokens";
const DYNATRACE: &str = "Dynatrace, access token format";
const GITHUB: &str = "GitHub Docs, About authentication, token formats";
const GITLAB: &str = "GitLab Docs, Token overview, token prefixes";
const GITLEAKS: &str = "gitleaks default rules";
const GOOGLE: &str = "Google Cloud, API keys and OAuth tokens; gitleaks";
const GRAFANA: &str = "Grafana, service account tokens and access policies; gitleaks";
const HASHICORP: &str = "Vault docs, token prefixes (1.10 and before)";
const HUGGING_FACE: &str = "Hugging Face Hub, user access tokens";
const JFROG: &str = "JFrog, API keys and reference tokens; gitleaks";
const NEW_RELIC: &str = "New Relic, API keys";
const NPM: &str = "npm docs, About access tokens; GitHub blog 2021";
const OPENAI: &str = "OpenAI, API keys; gitleaks";
const OPENSHIFT: &str = "OpenShift 4.6 release notes, OAuth tokens as sha256~";
const PYPI: &str = "PyPI help, API tokens (macaroons)";
const SENDGRID: &str = "SendGrid docs, API key format; gitleaks";
const SHOPIFY: &str = "Shopify changelog, length and prefix of access tokens";
const SLACK: &str = "Slack API docs, Token types";
const SLACK_HOOKS: &str = "Slack API docs, Incoming webhooks";
const STRIPE: &str = "Stripe docs, API keys, webhook signing secrets";
const TWILIO: &str = "Twilio docs, API keys; gitleaks";

/// Every form. The order does not matter: if two prefixes begin at one place, the longer one
/// applies.
#[rustfmt::skip]
const FORMS: [TokenForm; 132] = [
    form("AGE-SECRET-KEY-1", Upper, 20, Open, "age", AGE),
    form("AGE-SECRET-KEY-PQ-1", Upper, 20, Open, "age", AGE),
    form("LTAI", Alnum, 12, Mixed(24), "alibaba", GITLEAKS),
    form("sk-ant-", Word, 20, Open, "anthropic", ANTHROPIC),
    form("AKCp", Alnum, 60, Open, "artifactory", JFROG),
    form("cmVmdGtu", Alnum, 50, Open, "artifactory", JFROG),
    form("ATATT3", Base64, 20, Open, "atlassian", ATLASSIAN),
    form("ATCTT3", Base64, 20, Open, "atlassian", ATLASSIAN),
    form("ATBB", Alnum, 28, Mixed(40), "bitbucket", ATLASSIAN),
    form("ABSK", Base64, 80, Open, "aws", AWS),
    form("bkua_", Hex, 40, Open, "buildkite", "Buildkite, API access tokens"),
    form("CCIPAT_", Word, 20, Open, "circleci", "CircleCI, personal API tokens"),
    form("dapi", Hex, 32, Alone(32), "databricks", DATABRICKS),
    form("dop_v1_", Hex, 32, Open, "digitalocean", DIGITALOCEAN),
    form("doo_v1_", Hex, 32, Open, "digitalocean", DIGITALOCEAN),
    form("dor_v1_", Hex, 32, Open, "digitalocean", DIGITALOCEAN),
    form("discord.com/api/webhooks/", Base64, 40, Path, "discord", "Discord docs, webhooks"),
    form("discordapp.com/api/webhooks/", Base64, 40, Path, "discord", "Discord docs, webhooks"),
    form("dckr_pat_", Word, 20, Open, "docker", DOCKER),
    form("dckr_oat_", Word, 20, Open, "docker", DOCKER),
    form("dp.pt.", Alnum, 40, Open, "doppler", GITLEAKS),
    form("dp.st.", Dotted, 40, Open, "doppler", GITLEAKS),
    form("dp.ct.", Alnum, 40, Open, "doppler", GITLEAKS),
    form("dp.sa.", Alnum, 40, Open, "doppler", GITLEAKS),
    form("dt0c01.", Dotted, 60, Open, "dynatrace", DYNATRACE),
    form("dt0s01.", Dotted, 60, Open, "dynatrace", DYNATRACE),
    form("dt0s02.", Dotted, 60, Open, "dynatrace", DYNATRACE),
    form("dt0s16.", Dotted, 60, Open, "dynatrace", DYNATRACE),
    form("figd_", Word, 30, Open, "figma", "Figma, personal access tokens"),
    form("fm1r_", Base64, 40, Open, "fly", GITLEAKS),
    form("fm2_", Base64, 40, Open, "fly", GITLEAKS),
    form("fo1_", Word, 40, Open, "fly", GITLEAKS),
    form("ghp_", Alnum, 30, Open, "github", GITHUB),
    form("gho_", Alnum, 30, Open, "github", GITHUB),
    form("ghu_", Alnum, 30, Open, "github", GITHUB),
    form("ghs_", Dotted, 30, Open, "github", GITHUB),
    form("ghr_", Alnum, 30, Open, "github", GITHUB),
    form("github_pat_", Word, 22, Open, "github", GITHUB),
    form("glpat-", Dotted, 20, Open, "gitlab", GITLAB),
    form("gloas-", Dotted, 20, Open, "gitlab", GITLAB),
    form("gldt-", Dotted, 20, Open, "gitlab", GITLAB),
    form("glrt-", Dotted, 20, Open, "gitlab", GITLAB),
    form("glrtr-", Dotted, 20, Open, "gitlab", GITLAB),
    form("glcbt-", Dotted, 20, Open, "gitlab", GITLAB),
    form("glptt-", Dotted, 20, Open, "gitlab", GITLAB),
    form("glft-", Dotted, 20, Open, "gitlab", GITLAB),
    form("glimt-", Dotted, 20, Open, "gitlab", GITLAB),
    form("glagent-", Dotted, 20, Open, "gitlab", GITLAB),
    form("glsoat-", Dotted, 20, Open, "gitlab", GITLAB),
    form("glwt-", Dotted, 20, Open, "gitlab", GITLAB),
    form("glffct-", Dotted, 20, Open, "gitlab", GITLAB),
    form("GR1348941", Word, 20, Open, "gitlab", GITLAB),
    form("AIza", Word, 30, Open, "google", GOOGLE),
    form("ya29.", Word, 20, Open, "google", GOOGLE),
    form("GOCSPX-", Word, 20, Open, "google", GOOGLE),
    form("1//0", Word, 40, Alone(400), "google", GOOGLE),
    form("glsa_", Word, 32, Open, "grafana", GRAFANA),
    form("glc_", Base64, 32, Open, "grafana", GRAFANA),
    form("eyJrIjoi", Base64, 40, Open, "grafana", GRAFANA),
    form("gsk_", Alnum, 40, Open, "groq", "Groq, API keys; GitHub secret scanning patterns"),
    form("HRKU-", Word, 36, Open, "heroku", GITLEAKS),
    form("hf_", Alnum, 30, Alone(64), "hugging-face", HUGGING_FACE),
    form("api_org_", Alnum, 30, Alone(64), "hugging-face", HUGGING_FACE),
    form("lsv2_pt_", Word, 30, Open, "langsmith", "LangSmith, API keys"),
    form("lsv2_sk_", Word, 30, Open, "langsmith", "LangSmith, API keys"),
    form("lin_api_", Alnum, 30, Open, "linear", GITLEAKS),
    form("lin_oauth_", Alnum, 30, Open, "linear", GITLEAKS),
    form("key-", Alnum, 32, Alone(32), "mailgun", GITLEAKS),
    form("webhook.office.com/webhookb2/", Base64, 40, Path, "microsoft", "Teams docs, incoming webhooks"),
    form("nfp_", Alnum, 30, Open, "netlify", "Netlify, personal access tokens"),
    form("NRAK-", Upper, 20, Open, "new-relic", NEW_RELIC),
    form("NRII-", Word, 20, Open, "new-relic", NEW_RELIC),
    form("NRIQ-", Word, 20, Open, "new-relic", NEW_RELIC),
    form("NRAA-", Word, 20, Open, "new-relic", NEW_RELIC),
    form("ntn_", Alnum, 40, Open, "notion", "Notion, internal integration tokens 2024"),
    form("npm_", Alnum, 36, Open, "npm", NPM),
    form("sk-proj-", Word, 20, Open, "openai", OPENAI),
    form("sk-svcacct-", Word, 20, Open, "openai", OPENAI),
    form("sk-admin-", Word, 20, Open, "openai", OPENAI),
    form("sk-or-v1-", Hex, 32, Open, "openrouter", "OpenRouter, API keys"),
    form("sk-", Alnum, 32, Alone(64), "openai", OPENAI),
    form("sha256~", Word, 8, Open, "openshift", OPENSHIFT),
    form("pplx-", Alnum, 40, Open, "perplexity", GITLEAKS),
    form("pcsk_", Word, 40, Open, "pinecone", "Pinecone, API keys"),
    form("pscale_tkn_", Dotted, 30, Open, "planetscale", GITLEAKS),
    form("pscale_pw_", Dotted, 30, Open, "planetscale", GITLEAKS),
    form("pscale_oauth_", Dotted, 30, Open, "planetscale", GITLEAKS),
    form("PMAK-", Word, 40, Open, "postman", GITLEAKS),
    form("pul-", Hex, 40, Alone(40), "pulumi", GITLEAKS),
    form("pypi-AgE", Word, 30, Open, "pypi", PYPI),
    form("r8_", Alnum, 30, Alone(48), "replicate", "Replicate, API tokens"),
    form("rubygems_", Hex, 40, Open, "rubygems", GITLEAKS),
    form("SG.", Dotted, 50, Alone(80), "sendgrid", SENDGRID),
    form("sntrys_", Base64, 40, Open, "sentry", GITLEAKS),
    form("sntryu_", Hex, 40, Open, "sentry", GITLEAKS),
    form("shpat_", Alnum, 32, Open, "shopify", SHOPIFY),
    form("shpca_", Alnum, 32, Open, "shopify", SHOPIFY),
    form("shppa_", Alnum, 32, Open, "shopify", SHOPIFY),
    form("shpss_", Alnum, 32, Open, "shopify", SHOPIFY),
    form("xoxa-", Word, 10, Open, "slack", SLACK),
    form("xoxb-", Word, 10, Open, "slack", SLACK),
    form("xoxc-", Word, 10, Open, "slack", SLACK),
    form("xoxd-", Base64, 10, Open, "slack", SLACK),
    form("xoxe-", Word, 10, Open, "slack", SLACK),
    form("xoxe.xox", Word, 10, Open, "slack", SLACK),
    form("xoxo-", Word, 10, Open, "slack", SLACK),
    form("xoxp-", Word, 10, Open, "slack", SLACK),
    form("xoxr-", Word, 10, Open, "slack", SLACK),
    form("xoxs-", Word, 10, Open, "slack", SLACK),
    form("xapp-", Word, 20, Open, "slack", SLACK),
    form("xwfp-", Word, 20, Open, "slack", SLACK),
    form("hooks.slack.com/services/", Base64, 20, Path, "slack", SLACK_HOOKS),
    form("hooks.slack.com/workflows/", Base64, 20, Path, "slack", SLACK_HOOKS),
    form("hooks.slack.com/triggers/", Base64, 20, Path, "slack", SLACK_HOOKS),
    form("sgp_", Word, 40, Open, "sourcegraph", GITLEAKS),
    form("sq0atp-", Word, 20, Open, "square", GITLEAKS),
    form("sq0csp-", Word, 30, Open, "square", GITLEAKS),
    form("sk_live_", Alnum, 10, Open, "stripe", STRIPE),
    form("sk_test_", Alnum, 10, Open, "stripe", STRIPE),
    form("rk_live_", Alnum, 10, Open, "stripe", STRIPE),
    form("rk_test_", Alnum, 10, Open, "stripe", STRIPE),
    form("whsec_", Base64, 24, Open, "stripe", STRIPE),
    form("sbp_", Hex, 40, Open, "supabase", "Supabase, personal access tokens"),
    form("tskey-", Word, 20, Open, "tailscale", "Tailscale docs, key prefixes"),
    form("AKID", Alnum, 32, Mixed(36), "tencent", GITLEAKS),
    form("SK", Hex, 32, Alone(32), "twilio", TWILIO),
    form("hvs.", Dotted, 20, Open, "vault", HASHICORP),
    form("hvb.", Dotted, 20, Open, "vault", HASHICORP),
    form("hvr.", Dotted, 20, Open, "vault", HASHICORP),
    form("s.", Alnum, 24, Mixed(24), "vault", HASHICORP),
    form("b.AAAAA", Word, 60, Open, "vault", HASHICORP),
    form("xai-", Alnum, 70, Open, "xai", "xAI, API keys"),
];

static PREFIXES: LazyLock<AhoCorasick> = LazyLock::new(|| {
    #[expect(
        clippy::expect_used,
        reason = "a search that is dropped would leave tokens in a reel; a test builds it"
    )]
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .kind(Some(AhoCorasickKind::DFA))
        .build(FORMS.iter().map(|form| form.prefix))
        .expect("constant prefixes")
});

/// Finds the tokens of a text: the rule's name and the place.
pub(crate) fn find(text: &[u8]) -> impl Iterator<Item = (String, Range<usize>)> {
    candidates(text).filter_map(|(form, at)| {
        let place = form.token(text, at)?;
        form.stands_alone(text, at)
            .then(|| (format!("{}-token", form.vendor), place))
    })
}

/// Returns the prefixes, in the order of the table.
pub(super) fn prefixes() -> impl Iterator<Item = &'static str> {
    FORMS.iter().map(|form| form.prefix)
}

/// Returns whether a form's token may begin at a place. The text before it is not checked: in JSON
/// it may be spelled differently.
pub(super) fn begins(form: usize, text: &[u8], at: usize) -> bool {
    let rest = text.get(at..).unwrap_or_default();
    FORMS.get(form).is_some_and(|form| {
        rest.starts_with(form.prefix.as_bytes()) && form.token(text, at).is_some()
    })
}

fn candidates(text: &[u8]) -> impl Iterator<Item = (&'static TokenForm, usize)> {
    PREFIXES
        .find_iter(text)
        .filter_map(|found| Some((FORMS.get(found.pattern().as_usize())?, found.start())))
}

impl TokenForm {
    /// Returns the place of the token that begins here, if its end is valid.
    fn token(&self, text: &[u8], at: usize) -> Option<Range<usize>> {
        let start = at + self.prefix.len();
        let rest = text.get(start..)?;
        let len = count(rest, |byte| self.alphabet.contains(byte));
        // The full stop after a sentence, and adjoining dashes.
        let value = rest.get(..len)?;
        let len = len - count_back(value, |byte| byte == b'.');
        let value = rest.get(..len)?;
        if len < self.least {
            return None;
        }
        let is_whole = !rest.get(len).copied().is_some_and(is_word);
        let is_met = match self.bound {
            Open | Path => true,
            Alone(most) => len <= most && is_whole && (has_digit(value) || is_mixed(value)),
            Mixed(most) => len <= most && is_whole && is_mixed(value),
        };
        let first = if self.bound == Path { start } else { at };
        is_met.then(|| first..start + len)
    }

    /// Returns whether nothing adjoins the front of a token whose prefix is also part of names.
    fn stands_alone(&self, text: &[u8], at: usize) -> bool {
        match self.bound {
            Open | Path => true,
            Alone(_) | Mixed(_) => {
                let before = text.get(..at).unwrap_or_default();
                match before {
                    // A line break or a tab, escaped in JSON within a string.
                    [.., b'\\', b'n' | b'r' | b't'] | [] => true,
                    [.., byte] => !is_word(*byte) && *byte != b'.',
                }
            }
        }
    }
}

fn has_digit(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit)
}

/// Distinguishes random characters from a word in camel case.
fn is_mixed(value: &[u8]) -> bool {
    let capitals = value
        .iter()
        .filter(|byte| byte.is_ascii_uppercase())
        .count();
    let has_small = value.iter().any(u8::is_ascii_lowercase);
    has_small && capitals > 0 && (has_digit(value) || capitals * 4 >= value.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let places = find(text.as_bytes());
        places.map(|(_, place)| text[place].to_owned()).collect()
    }

    /// A token of a form with the shortest length.
    fn token(form: &TokenForm) -> String {
        let parts = match form.alphabet {
            Hex => "0a1b2c3d4e5f6071",
            Upper => "Q2W3E4R5T6Y7U8P9",
            _ => "qW3eR4tY5uI6oP7a",
        };
        let value: String = parts.chars().cycle().take(form.least).collect();
        format!("{}{value}", form.prefix)
    }

    #[test]
    fn every_form_is_found_where_it_stands() {
        for form in &FORMS {
            assert!(!form.source.is_empty());
            let token = token(form);
            let secret = if form.bound == Path {
                &token[form.prefix.len()..]
            } else {
                token.as_str()
            };
            for text in [
                token.clone(),
                format!("use {token}, please"),
                format!("\"{token}\""),
                format!("a:\\n{token}\\nb"),
                format!("x={token}."),
            ] {
                assert_eq!(found(&text), [secret], "{text}");
                assert!(
                    crate::text::triggers::suspects_as_is(text.as_bytes()),
                    "{text}"
                );
            }
            let short = &token[..token.len() - 1];
            assert_eq!(found(short), Vec::<String>::new(), "{short}");
        }
    }

    #[test]
    fn tokens_of_letters_are_found() {
        for text in [
            concat!("hf_", "QwErTyUiOpAsDfGhJkLzXcVbNmQwErTyUi"),
            concat!("api_org_", "QwErTyUiOpAsDfGhJkLzXcVbNmQwErTyUi"),
        ] {
            assert_eq!(found(text), [text]);
            assert!(crate::text::triggers::suspects_as_is(text.as_bytes()));
        }
        for text in [
            "hf_transfer_of_a_model_that_is_long_enough",
            "hf_theModelThatIsDownloadedHereNow",
        ] {
            assert_eq!(found(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn prefixes_are_there_once() {
        for (place, form) in FORMS.iter().enumerate() {
            let others = FORMS.iter().skip(place + 1);
            assert!(
                others.clone().all(|other| other.prefix != form.prefix),
                "{}",
                form.prefix
            );
        }
    }

    #[test]
    fn names_of_objects_are_no_tokens() {
        for text in [
            "pods.status.containerStatuses",
            "s.containersWithUnreadyStatus",
            "disk-0123456789abcdef0123456789abcdef",
            "monkey-0123456789abcdef0123456789abcdef",
            "task-abcdefghijklmnopqrstuvwxyzabcdefghijkl",
            "sk-worker-pool-with-a-long-name-of-an-object",
            "RISK0123456789abcdef0123456789abcdef",
            "shelf_0123456789abcdef0123456789abcdef",
            "sha256:3e9a9708a3b2b94d2b7f8f9a3a29a7d8e4e8b9f3d4a4e2c7d1c5a1f0e9b8c7d6",
            "glrt-short",
        ] {
            assert_eq!(found(text), Vec::<String>::new(), "{text}");
        }
    }
}
