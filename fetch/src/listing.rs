//! The objects of a bucket below a name, by the store's JSON interface.

use crate::address::StoredObject;
use crate::client::FetchClient;
use crate::error::FetchError;
use serde::Deserialize;
use std::io::Read as _;
use ureq::Body;

/// The longest page of a list, in bytes; a page has at most a thousand names of a kilobyte each.
const PAGE_BYTES: u64 = 8 << 20;

/// The largest number of pages: a job has some ten thousand artifacts.
const PAGES: usize = 500;

/// The number of reels that are named.
const NAMED: usize = 100;

/// The suffixes of a reel; an object store keeps or removes the last one.
const ENDINGS: [&str; 7] = [
    ".reel",
    ".reel.gz",
    ".reel.gzip",
    ".reel.zst",
    ".reel.zstd",
    ".reel.xz",
    ".reel.age",
];

/// The objects below a name.
#[derive(Debug, Default)]
pub(crate) struct BucketListing {
    /// Their number.
    pub(crate) files: u64,
    /// The reels among them.
    pub(crate) reels: Vec<StoredObject>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListingPage {
    #[serde(default)]
    items: Vec<ListedName>,
    next_page_token: Option<String>,
}

#[derive(Deserialize)]
struct ListedName {
    name: String,
}

/// Returns whether an object or a file has the name of a reel, or of a compressed or an encrypted one.
pub fn is_reel_name(name: impl AsRef<[u8]>) -> bool {
    let name = name.as_ref();
    ENDINGS
        .iter()
        .any(|ending| name.ends_with(ending.as_bytes()))
}

/// Lists the objects below a name; `listed` receives the number of objects so far.
pub(crate) fn list_below(
    client: &FetchClient,
    folder: &StoredObject,
    mut listed: impl FnMut(u64),
) -> Result<BucketListing, FetchError> {
    let address = folder.words();
    let failed = |why: String| FetchError::Listing {
        address: address.clone(),
        why,
    };
    let mut url = client.in_store(["storage", "v1", "b", folder.bucket.as_str(), "o"]);
    let prefix = match folder.name.as_str() {
        "" => String::new(),
        name => format!("{name}/"),
    };
    let mut found = BucketListing::default();
    let mut token: Option<String> = None;
    for _page in 0..PAGES {
        let mut query = url.query_pairs_mut();
        query.clear();
        query.append_pair("prefix", &prefix);
        query.append_pair("fields", "items(name),nextPageToken");
        if let Some(token) = &token {
            query.append_pair("pageToken", token);
        }
        drop(query);
        let response = client.get(&url, &[("accept-encoding", "identity".to_owned())])?;
        match response.status().as_u16() {
            200 => {}
            404 => return Err(FetchError::NotFound { address }),
            status => return Err(FetchError::Status { address, status }),
        }
        let page = read_page(response.into_body()).map_err(failed)?;
        for ListedName { name } in page.items {
            found.files += 1;
            if is_reel_name(&name) && found.reels.len() < NAMED {
                found.reels.push(StoredObject {
                    bucket: folder.bucket.clone(),
                    name,
                });
            }
        }
        listed(found.files);
        token = page.next_page_token;
        if token.is_none() {
            return Ok(found);
        }
    }
    Err(failed(format!("more than {} objects", found.files)))
}

fn read_page(body: Body) -> Result<ListingPage, String> {
    let mut text = Vec::new();
    let read = body
        .into_reader()
        .take(PAGE_BYTES.saturating_add(1))
        .read_to_end(&mut text);
    let read = read.map_err(|error| error.to_string())?;
    if u64::try_from(read).is_ok_and(|read| read > PAGE_BYTES) {
        return Err(format!("a page of more than {PAGE_BYTES} bytes"));
    }
    serde_json::from_slice(&text).map_err(|error| format!("not a list of objects: {error}"))
}
