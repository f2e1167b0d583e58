//! A server on the loopback interface that behaves like Google's object store, and misbehaves on
//! request.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The number of objects on a page of a list.
const PAGE: usize = 2;

/// How the length of a file is declared.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum DeclaredLength {
    #[default]
    Own,
    Other(usize),
    /// The end of the connection ends the file.
    Nowhere,
    Chunked,
}

/// The content of a path, and how the server sends it.
#[derive(Clone, Debug, Default)]
pub(crate) struct StoredFile {
    pub(crate) bytes: Vec<u8>,
    /// The same decompressed, for clients that do not accept the encoding: of unknown length, and
    /// never in ranges.
    pub(crate) transcoded: Option<Vec<u8>>,
    /// Cuts the connection after a number of bytes of a body, once for each number.
    pub(crate) cuts: Vec<usize>,
    /// Responds with these statuses first.
    pub(crate) refusals: Vec<u16>,
    /// Sends the bytes repeatedly, with or without this length.
    pub(crate) is_endless: bool,
    /// How its length is declared.
    pub(crate) length: DeclaredLength,
    /// Sends no validator.
    pub(crate) is_anonymous: bool,
    /// Redirects to another address.
    pub(crate) redirect: Option<String>,
    /// Is an HTML page.
    pub(crate) is_page: bool,
    /// Replaces the file after a number of responses.
    pub(crate) changes: Option<(usize, Vec<u8>)>,
}

impl StoredFile {
    pub(crate) fn of(bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            bytes: bytes.into(),
            ..Self::default()
        }
    }
}

#[derive(Default)]
struct Shelf {
    files: BTreeMap<String, StoredFile>,
    requests: Vec<StoreRequest>,
}

/// A request of a client.
#[derive(Clone, Debug)]
pub(crate) struct StoreRequest {
    pub(crate) target: String,
    pub(crate) headers: BTreeMap<String, String>,
}

/// The running server. Its threads end with the process.
pub(crate) struct ObjectStore {
    shelf: Arc<Mutex<Shelf>>,
    pub(crate) base: String,
}

fn spawn(work: impl FnOnce() + Send + 'static) {
    let named = thread::Builder::new().name("store".to_owned());
    named.spawn(work).expect("a thread");
}

fn lock(shelf: &Mutex<Shelf>) -> MutexGuard<'_, Shelf> {
    shelf.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ObjectStore {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let shelf = Arc::new(Mutex::new(Shelf::default()));
        let served = Arc::clone(&shelf);
        spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shelf = Arc::clone(&served);
                // Some tests let the client disconnect.
                spawn(move || drop(answer(&shelf, &stream)));
            }
        });
        Self {
            shelf,
            base: format!("http://{address}"),
        }
    }

    /// Puts a file at a path, such as `/bucket/name`.
    pub(crate) fn put(&self, path: &str, file: StoredFile) {
        lock(&self.shelf).files.insert(path.to_owned(), file);
    }

    /// Returns the requests so far, and forgets them.
    pub(crate) fn requests(&self) -> Vec<StoreRequest> {
        std::mem::take(&mut lock(&self.shelf).requests)
    }
}

fn answer(shelf: &Mutex<Shelf>, mut stream: &TcpStream) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    let target = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut headers = BTreeMap::new();
    for line in lines {
        let line = line?;
        let Some((name, value)) = line.split_once(": ") else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let request = StoreRequest { target, headers };
    let (head, body, cut) = {
        let mut shelf = lock(shelf);
        shelf.requests.push(request.clone());
        respond(&mut shelf, &request)
    };
    stream.write_all(head.as_bytes())?;
    match cut {
        Truncation::Never => stream.write_all(&body),
        Truncation::After(bytes) => stream.write_all(body.get(..bytes).unwrap_or(&body)),
        Truncation::Endless => loop {
            stream.write_all(&body)?;
        },
    }
}

enum Truncation {
    Never,
    After(usize),
    Endless,
}

fn respond(shelf: &mut Shelf, request: &StoreRequest) -> (String, Vec<u8>, Truncation) {
    let (path, query) = request
        .target
        .split_once('?')
        .unwrap_or((&request.target, ""));
    if let Some(rest) = path.strip_prefix("/storage/v1/b/") {
        let bucket = rest.trim_end_matches("/o");
        return list(shelf, bucket, query);
    }
    let path = path.replace("%20", " ").replace("%25", "%");
    let Some(file) = shelf.files.get_mut(&path) else {
        return page("404 Not Found", "<html>no such object");
    };
    if let Some((answers, bytes)) = &mut file.changes {
        if *answers == 0 {
            file.bytes.clone_from(bytes);
            file.changes = None;
        } else {
            *answers -= 1;
        }
    }
    if !file.refusals.is_empty() {
        return page(&format!("{} Refused", file.refusals.remove(0)), "later");
    }
    if let Some(to) = &file.redirect {
        return page(&format!("302 Found\r\nLocation: {to}"), "elsewhere");
    }
    if file.is_page {
        return page("200 OK", "<!doctype html><title>a page");
    }
    content(file, request)
}

/// Sends a file or a range, or responds that the client has it.
fn content(file: &mut StoredFile, request: &StoreRequest) -> (String, Vec<u8>, Truncation) {
    let header = |name: &str| request.headers.get(name).map(String::as_str);
    let cut = match file.cuts.first() {
        _ if file.is_endless => Truncation::Endless,
        Some(_) => Truncation::After(file.cuts.remove(0)),
        None => Truncation::Never,
    };
    let accepts = header("accept-encoding").is_some_and(|accepted| accepted.contains("gzip"));
    if let Some(plain) = file.transcoded.as_ref().filter(|_| !accepts) {
        let head =
            "HTTP/1.1 200 OK\r\nConnection: close\r\nWarning: 214 UploadServer gunzipped\r\n\r\n";
        return (head.to_owned(), plain.clone(), cut);
    }
    let etag = format!(
        "\"{:x}\"",
        file.bytes.iter().fold(7_u64, |sum, byte| sum
            .wrapping_mul(31)
            .wrapping_add(u64::from(*byte)))
    );
    let mut head = String::from("Connection: close\r\nContent-Type: application/octet-stream\r\n");
    if !file.is_anonymous {
        head.write_fmt(format_args!("ETag: {etag}\r\nAccept-Ranges: bytes\r\n"))
            .expect("memory");
    }
    if file.transcoded.is_some() {
        head.push_str("Content-Encoding: gzip\r\n");
    }
    if header("if-none-match") == Some(&etag) {
        return (
            format!("HTTP/1.1 304 Not Modified\r\n{head}\r\n"),
            Vec::new(),
            Truncation::Never,
        );
    }
    let whole = file.bytes.len();
    let from = header("range").and_then(|range| {
        range
            .strip_prefix("bytes=")?
            .strip_suffix('-')?
            .parse::<usize>()
            .ok()
    });
    let from = from.filter(|_| header("if-range") == Some(&etag));
    match from {
        Some(from) if from >= whole => page("416 Range Not Satisfiable", "beyond"),
        Some(from) => {
            let body = file.bytes.split_off(from);
            file.bytes.extend_from_slice(&body);
            let length = body.len();
            let range = format!("Content-Range: bytes {from}-{}/{whole}", whole - 1);
            (
                format!(
                    "HTTP/1.1 206 Partial Content\r\n{head}{range}\r\nContent-Length: {length}\r\n\r\n"
                ),
                body,
                cut,
            )
        }
        None => {
            let mut body = file.bytes.clone();
            let length = match file.length {
                DeclaredLength::Own if file.is_endless => String::new(),
                DeclaredLength::Own => format!("Content-Length: {whole}\r\n"),
                DeclaredLength::Other(length) => format!("Content-Length: {length}\r\n"),
                DeclaredLength::Nowhere => String::new(),
                DeclaredLength::Chunked => {
                    body.splice(0..0, format!("{whole:x}\r\n").into_bytes());
                    body.extend(b"\r\n0\r\n\r\n");
                    "Transfer-Encoding: chunked\r\n".to_owned()
                }
            };
            (format!("HTTP/1.1 200 OK\r\n{head}{length}\r\n"), body, cut)
        }
    }
}

fn page(status: &str, text: &str) -> (String, Vec<u8>, Truncation) {
    let length = text.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Type: text/html; charset=UTF-8\r\nContent-Length: {length}\r\n\r\n"
    );
    (head, text.as_bytes().to_vec(), Truncation::Never)
}

fn list(shelf: &Shelf, bucket: &str, query: &str) -> (String, Vec<u8>, Truncation) {
    let value = |name: &str| {
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let found = pairs
            .filter(|(key, _)| *key == name)
            .map(|(_, value)| value)
            .next();
        found
            .unwrap_or_default()
            .replace("%2F", "/")
            .replace("%25", "%")
            .replace('+', " ")
    };
    let (prefix, root) = (value("prefix"), format!("/{bucket}/"));
    let names: Vec<&str> = shelf
        .files
        .keys()
        .filter_map(|path| path.strip_prefix(&root))
        .collect();
    if names.is_empty() {
        return page("404 Not Found", "{\"error\":{\"code\":404}}");
    }
    let names: Vec<&str> = names
        .into_iter()
        .filter(|name| name.starts_with(&prefix))
        .collect();
    let start: usize = value("pageToken").parse().unwrap_or(0);
    let items: Vec<String> = names
        .iter()
        .skip(start)
        .take(PAGE)
        .map(|name| format!("{{\"name\":\"{name}\"}}"))
        .collect();
    let mut text = format!("{{\"items\":[{}]", items.join(","));
    if start + PAGE < names.len() {
        write!(text, ",\"nextPageToken\":\"{}\"", start + PAGE).expect("memory");
    }
    text.push('}');
    page("200 OK", &text)
}
