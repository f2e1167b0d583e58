//! Keys and certificates of one control plane, made anew for each.
//!
//! Two certificate authorities, because the API server refuses to start when clients and the
//! front proxy share one. Nothing here is worth protecting: it dies with the temporary folder.

use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SanType, date_time_ymd,
};

use crate::rest::now;

/// The name the API server trusts in the front proxy's certificate.
pub(crate) const FRONT_PROXY: &str = "front-proxy";

/// A client's certificate and key as PEM text.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) certificate_pem: String,
    pub(crate) key_pem: String,
}

/// Paths of what the components read, and the identities that go into kubeconfigs.
#[derive(Debug)]
pub(crate) struct Certificates {
    authority: Authority,
    pub(crate) ca_pem: String,
    pub(crate) ca_der: Vec<u8>,
    pub(crate) ca: PathBuf,
    pub(crate) serving: PathBuf,
    pub(crate) serving_key: PathBuf,
    pub(crate) service_account: PathBuf,
    pub(crate) service_account_key: PathBuf,
    pub(crate) front_proxy_ca: PathBuf,
    pub(crate) front_proxy: PathBuf,
    pub(crate) front_proxy_key: PathBuf,
    pub(crate) admin: Identity,
    pub(crate) controller_manager: Identity,
    pub(crate) scheduler: Identity,
}

impl Certificates {
    /// Makes everything and writes into `dir` what the components read.
    pub(crate) fn write(dir: &Path) -> anyhow::Result<Self> {
        std::fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
        let authority = Authority::new("kubereel-tests")?;
        let front_proxy_authority = Authority::new("kubereel-tests-front-proxy")?;
        let serving = authority.sign(serving_params()?)?;
        let front_proxy = front_proxy_authority.sign(client_params(FRONT_PROXY, None))?;
        let tokens = KeyPair::generate()?;
        let file = |name: &str, pem: &str| -> anyhow::Result<PathBuf> {
            let path = dir.join(name);
            std::fs::write(&path, pem)
                .with_context(|| format!("cannot write {}", path.display()))?;
            Ok(path)
        };
        Ok(Self {
            ca: file("ca.crt", &authority.certificate_pem)?,
            serving: file("serving.crt", &serving.certificate_pem)?,
            serving_key: file("serving.key", &serving.key_pem)?,
            service_account: file("service-account.pub", &tokens.public_key_pem())?,
            service_account_key: file("service-account.key", &tokens.serialize_pem())?,
            front_proxy_ca: file("front-proxy-ca.crt", &front_proxy_authority.certificate_pem)?,
            front_proxy: file("front-proxy.crt", &front_proxy.certificate_pem)?,
            front_proxy_key: file("front-proxy.key", &front_proxy.key_pem)?,
            admin: authority.sign(client_params("kubereel-admin", Some("system:masters")))?,
            controller_manager: authority
                .sign(client_params("system:kube-controller-manager", None))?,
            scheduler: authority.sign(client_params("system:kube-scheduler", None))?,
            ca_pem: authority.certificate_pem.clone(),
            ca_der: authority.certificate_der.clone(),
            authority,
        })
    }

    /// An administrator whose certificate is over after so long.
    pub(crate) fn expiring_admin(&self, after: Duration) -> anyhow::Result<Identity> {
        let mut params = client_params("kubereel-admin", Some("system:masters"));
        let secs = u64::try_from(now().as_second())?;
        params.not_after = date_time_ymd(1970, 1, 1) + Duration::from_secs(secs) + after;
        self.authority.sign(params)
    }
}

impl Certificates {
    /// Replaces the serving certificate by one of a new authority and gives that one's certificate.
    /// Clients are known by the old authority still.
    pub(crate) fn renew_serving(&self) -> anyhow::Result<String> {
        let authority = Authority::new("kubereel-tests-renewed")?;
        let serving = authority.sign(serving_params()?)?;
        for (path, pem) in [
            (&self.serving_key, &serving.key_pem),
            (&self.serving, &serving.certificate_pem),
        ] {
            std::fs::write(path, pem)
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(authority.certificate_pem)
    }
}

#[derive(Debug)]
struct Authority {
    certificate_pem: String,
    certificate_der: Vec<u8>,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new(name: &str) -> anyhow::Result<Self> {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![
            KeyUsagePurpose::KeyCertSign,
            KeyUsagePurpose::DigitalSignature,
        ];
        let key = KeyPair::generate()?;
        let certificate = params.self_signed(&key)?;
        Ok(Self {
            certificate_pem: certificate.pem(),
            certificate_der: certificate.der().to_vec(),
            issuer: Issuer::new(params, key),
        })
    }

    fn sign(&self, mut params: CertificateParams) -> anyhow::Result<Identity> {
        params.use_authority_key_identifier_extension = true;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        Ok(Identity {
            certificate_pem: certificate.pem(),
            key_pem: key.serialize_pem(),
        })
    }
}

/// One serving certificate for every component: they all listen on loopback only.
fn serving_params() -> anyhow::Result<CertificateParams> {
    let mut params = CertificateParams::default();
    params
        .distinguished_name
        .push(DnType::CommonName, "kubereel-tests-serving");
    params.subject_alt_names = vec![
        SanType::IpAddress(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        SanType::DnsName("localhost".try_into()?),
        SanType::DnsName("kubernetes.default.svc".try_into()?),
    ];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    Ok(params)
}

fn client_params(user: &str, group: Option<&str>) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, user);
    if let Some(group) = group {
        params
            .distinguished_name
            .push(DnType::OrganizationName, group);
    }
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    params
}
