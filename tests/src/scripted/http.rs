//! Owns the little of HTTP/1.1 the server needs: a request's head read, a response's head written.
//! Refuses bodies of requests beyond skipping them, and everything a client of ours does not send.

use super::log::Asked;

/// A head longer than this is not one.
pub(crate) const HEAD_BYTES_MAX: usize = 64 * 1024;

/// Where the head ends in what was read so far, its blank line included.
pub(crate) fn head_end(bytes: &[u8]) -> Option<usize> {
    bytes
        .windows(4)
        .position(|window| window == b"\r\n\r\n")
        .map(|start| start + 4)
}

/// Reads a head; nothing when it is none.
pub(crate) fn parse_head(bytes: &[u8]) -> Option<Asked> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut lines = text.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let method = first.next()?.to_owned();
    let target = first.next()?.to_owned();
    if first.next()? != "HTTP/1.1" {
        return None;
    }
    let headers = lines
        .take_while(|line| !line.is_empty())
        .map(|line| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_ascii_lowercase(), value.trim().to_owned()))
        })
        .collect::<Option<Vec<_>>>()?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    Some(Asked {
        method,
        path: path.to_owned(),
        query: parse_query(query),
        headers,
        target: target.clone(),
    })
}

fn parse_query(query: &str) -> Vec<(String, String)> {
    query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(name), decode(value))
        })
        .collect()
}

/// Undoes percent encoding; what is not well encoded stands for itself.
pub(crate) fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let escaped = (first == b'%')
            .then(|| tail.split_first_chunk::<2>())
            .flatten()
            .and_then(|(digits, after)| {
                let digits = std::str::from_utf8(digits).ok()?;
                Some((u8::from_str_radix(digits, 16).ok()?, after))
            });
        match (first, escaped) {
            (_, Some((byte, after))) => {
                bytes.push(byte);
                rest = after;
            }
            (b'+', None) => {
                bytes.push(b' ');
                rest = tail;
            }
            (byte, None) => {
                bytes.push(byte);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The status line and the headers, with the blank line.
pub(crate) fn response_head(status: u16, headers: &[(String, String)]) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status} {}\r\n", reason_phrase(status));
    for (name, value) in headers {
        head.push_str(name);
        head.push_str(": ");
        head.push_str(value);
        head.push_str("\r\n");
    }
    head.push_str("\r\n");
    head.into_bytes()
}

fn reason_phrase(status: u16) -> &'static str {
    match status {
        200 => "OK",
        304 => "Not Modified",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        410 => "Gone",
        422 => "Unprocessable Entity",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Unnamed",
    }
}

#[cfg(test)]
mod tests {
    use super::{decode, head_end, parse_head};

    #[test]
    fn reads_target_query_and_headers() {
        let bytes = b"GET /api/v1/pods?watch=true&fieldSelector=metadata.name%3Da+b HTTP/1.1\r\nHost: x\r\nACCEPT:  a, b \r\n\r\nrest";
        let end = head_end(bytes).expect("there is a blank line");
        let asked = parse_head(&bytes[..end]).expect("it is a head");
        assert_eq!(asked.path, "/api/v1/pods");
        assert!(asked.is_watch());
        assert_eq!(asked.parameter("fieldSelector"), Some("metadata.name=a b"));
        assert_eq!(asked.header("accept"), Some("a, b"));
    }

    #[test]
    fn leaves_bad_escapes_alone() {
        assert_eq!(decode("%zz%4"), "%zz%4");
        assert_eq!(decode("%41%"), "A%");
    }
}
