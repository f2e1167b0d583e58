//! The bearer token that a file holds, which is replaced while the recorder runs.
//!
//! The client library sends the file as it is: no header can contain the line break at the end of most files.

use http::HeaderValue;
use kube::client::AuthError;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a token is used before its file is read again, as by kubectl.
const KEPT: Duration = Duration::from_mins(1);

/// A file with a token.
#[derive(Debug)]
pub(super) struct TokenFile {
    path: PathBuf,
    last: Mutex<Option<(Instant, HeaderValue)>>,
}

impl TokenFile {
    pub(super) const fn new(path: PathBuf) -> Self {
        Self {
            path,
            last: Mutex::new(None),
        }
    }

    /// Returns the authorisation. If the file cannot be read again, the last token is used, as by kubectl.
    pub(super) fn header(&self) -> Result<HeaderValue, AuthError> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, header)) = &*last
            && at.elapsed() < KEPT
        {
            return Ok(header.clone());
        }
        let header = match (self.read(), &*last) {
            (Ok(header), _) => header,
            (Err(_), Some((_, header))) => header.clone(),
            (Err(error), None) => return Err(error),
        };
        *last = Some((Instant::now(), header.clone()));
        Ok(header)
    }

    fn read(&self) -> Result<HeaderValue, AuthError> {
        let failed = |error| AuthError::ReadTokenFile(error, self.path.clone());
        let text = fs::read_to_string(&self.path).map_err(failed)?;
        let token = text.trim();
        if token.is_empty() {
            return Err(failed(io::Error::from(ErrorKind::UnexpectedEof)));
        }
        let mut header = HeaderValue::try_from(format!("Bearer {token}"))
            .map_err(AuthError::InvalidBearerToken)?;
        header.set_sensitive(true);
        Ok(header)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_ends_before_the_line_break_and_is_kept_if_the_file_goes() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("token");
        let file = TokenFile::new(path.clone());
        assert!(file.header().is_err());
        for (text, expected) in [("a.b.c\n", "Bearer a.b.c"), (" d\r\n\n", "Bearer d")] {
            fs::write(&path, text).expect("written");
            *file.last.lock().expect("a lock") = None;
            assert_eq!(file.header().expect("a token"), expected);
        }
        fs::remove_file(&path).expect("removed");
        assert_eq!(file.header().expect("the last"), "Bearer d");
        for wrong in ["", "\n", "a\nb"] {
            fs::write(&path, wrong).expect("written");
            assert!(TokenFile::new(path.clone()).header().is_err(), "{wrong:?}");
        }
    }
}
