//! The lives of X.509 certificates, read from the certificates themselves: of each only its serial number and
//! its validity. All else may be anything.
//!
//! - A bundle is valid for as long as the last of its certificates is: old ones stay in it for a while.
//! - One that cannot be read makes the whole bundle unknown: it could be the last.

use der::asn1::{GeneralizedTime, UtcTime};
use der::{AnyRef, Decode as _, Reader as _, SliceReader, Tag, TagNumber, Tagged as _};
use kubereel_format::RecordedAt;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;
use std::time::Duration;

/// A longer text is not read: no object of the API is longer.
const MOST_BYTES: usize = 4 * 1024 * 1024;
/// A bundle of more certificates is not read: the authorities that browsers trust are fewer than 200.
const MOST_CERTIFICATES: usize = 2_000;
/// More of a serial number is not kept. RFC 5280 allows 20 bytes.
const MOST_SERIAL: usize = 20;

/// How long a certificate, or a bundle of them, is valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CertificateLife {
    pub(crate) begin: RecordedAt,
    pub(crate) end: RecordedAt,
    /// The serial number in hexadecimal, as `openssl x509 -serial` prints it.
    pub(crate) serial: String,
    /// How many certificates end no later.
    pub(crate) certificates: usize,
}

impl CertificateLife {
    /// Reads the life of a bundle in PEM: that of its last certificate.
    pub(crate) fn of_bundle(pem: &[u8]) -> Option<Self> {
        if pem.len() > MOST_BYTES {
            return None;
        }
        let mut last: Option<Self> = None;
        for (count, certificate) in CertificateDer::pem_slice_iter(pem).enumerate() {
            if count >= MOST_CERTIFICATES {
                return None;
            }
            let life = Self::of_der(&certificate.ok()?).ok()?;
            let certificates = count + 1;
            last = match last {
                Some(last) if last.end >= life.end => Some(Self {
                    certificates,
                    ..last
                }),
                _ => Some(Self {
                    certificates,
                    ..life
                }),
            };
        }
        last
    }

    fn of_der(bytes: &[u8]) -> der::Result<Self> {
        let mut certificate = members(AnyRef::decode(&mut SliceReader::new(bytes)?)?)?;
        let mut fields = members(AnyRef::decode(&mut certificate)?)?;
        let version = Tag::ContextSpecific {
            constructed: true,
            number: TagNumber::N0,
        };
        if fields.peek_tag()? == version {
            AnyRef::decode(&mut fields)?;
        }
        let serial = AnyRef::decode(&mut fields)?;
        serial.tag().assert_eq(Tag::Integer)?;
        let _algorithm = AnyRef::decode(&mut fields)?;
        let _issuer = AnyRef::decode(&mut fields)?;
        let mut validity = members(AnyRef::decode(&mut fields)?)?;
        Ok(Self {
            begin: time(&mut validity)?,
            end: time(&mut validity)?,
            serial: hexadecimal(serial.value()),
            certificates: 1,
        })
    }
}

/// Returns a reader of what a sequence holds.
fn members(sequence: AnyRef<'_>) -> der::Result<SliceReader<'_>> {
    sequence.tag().assert_eq(Tag::Sequence)?;
    SliceReader::new(sequence.value())
}

fn time(from: &mut SliceReader<'_>) -> der::Result<RecordedAt> {
    let since_epoch: Duration = match from.peek_tag()? {
        Tag::UtcTime => UtcTime::decode(from)?.to_unix_duration(),
        _ => GeneralizedTime::decode(from)?.to_unix_duration(),
    };
    let micros = i64::try_from(since_epoch.as_micros());
    Ok(RecordedAt::from_micros(
        micros.map_err(|_error| der::ErrorKind::Overflow)?,
    ))
}

fn hexadecimal(bytes: &[u8]) -> String {
    // A zero before it only says that the number is not negative.
    let number = match bytes {
        [0, rest @ ..] if !rest.is_empty() => rest,
        all => all,
    };
    let kept: Vec<String> = number
        .iter()
        .take(MOST_SERIAL)
        .map(|byte| format!("{byte:02X}"))
        .collect();
    kept.concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubereel_history::timetext;
    use rcgen::{CertificateParams, KeyPair, SerialNumber, date_time_ymd};

    /// Makes a certificate that is valid from the beginning of one year to that of another.
    fn pem(serial: u64, from: i32, to: i32) -> String {
        let mut params = CertificateParams::default();
        params.not_before = date_time_ymd(from, 1, 1);
        params.not_after = date_time_ymd(to, 1, 1);
        params.serial_number = Some(SerialNumber::from(serial));
        let key = KeyPair::generate().expect("a key");
        params.self_signed(&key).expect("a certificate").pem()
    }

    fn life(pem: &str) -> Option<Life> {
        let life = CertificateLife::of_bundle(pem.as_bytes())?;
        let year = |at| timetext::rfc3339_secs(at).get(..4).map(str::to_owned);
        Some((
            year(life.begin)?,
            year(life.end)?,
            life.serial,
            life.certificates,
        ))
    }

    type Life = (String, String, String, usize);

    fn found(begin: &str, end: &str, serial: &str, count: usize) -> Life {
        (begin.to_owned(), end.to_owned(), serial.to_owned(), count)
    }

    #[test]
    fn a_bundle_lives_as_long_as_its_last_certificate() {
        // Until 2049 the times are written in one form, from then on in another.
        let one = pem(0x00ab_cdef, 2026, 2051);
        assert_eq!(life(&one), Some(found("2026", "2051", "ABCDEF", 1)));
        let old = pem(0x80, 2020, 2027);
        assert_eq!(life(&old), Some(found("2020", "2027", "80", 1)));
        for bundle in [
            format!("{old}{one}"),
            format!("# the new one\n{one}\n{old}"),
        ] {
            assert_eq!(life(&bundle), Some(found("2026", "2051", "ABCDEF", 2)));
        }
    }

    #[test]
    fn a_bundle_with_what_cannot_be_read_is_unknown() {
        let good = pem(1, 2026, 2027);
        assert_eq!(life(""), None);
        assert_eq!(life("no certificate"), None);
        let broken = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
        assert_eq!(life(&format!("{good}{broken}")), None);
        assert_eq!(life(&"x".repeat(MOST_BYTES + 1)), None);
        // Each of its bytes is needed, up to the end of its times.
        let end = good.find("-----END").expect("its end");
        let cut = |at: usize| format!("{}\n-----END CERTIFICATE-----\n", &good[..at]);
        for at in (0..end.min(200)).step_by(7) {
            assert_eq!(life(&cut(at)), None, "{at}");
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused() {
        let good = pem(7, 2026, 2027);
        let certificate = CertificateDer::from_pem_slice(good.as_bytes()).expect("PEM");
        for at in 0..certificate.len().min(160) {
            for change in [0x00, 0x7f, 0x80, 0x84, 0xff] {
                let mut bytes = certificate.to_vec();
                bytes[at] = change;
                drop(CertificateLife::of_der(&bytes));
                drop(CertificateLife::of_der(&bytes[..at]));
            }
        }
    }
}
