//! Downloads: what is fetched, what is refused, and what a second request costs.

use super::object_store::{DeclaredLength, ObjectStore, StoredFile};
use kubereel_fetch::{
    FetchClient, FetchError, FetchOptions, FetchProgress, FetchedFile, ReelAddress, WantedFile,
    fetch,
};
use std::fs;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// Bytes without repetition.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let bytes = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        u8::try_from(state >> 24).expect("a byte")
    });
    bytes.take(len).collect()
}

fn bytes_of(file: &FetchedFile) -> Vec<u8> {
    fs::read(file.path()).expect("it is there")
}

struct World {
    store: ObjectStore,
    folder: TempDir,
}

impl World {
    fn new() -> Self {
        Self {
            store: ObjectStore::start(),
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    fn options(&self) -> FetchOptions {
        FetchOptions {
            folder: Some(self.folder.path().join("cache")),
            most_bytes: 1_000_000,
            retry_wait: Duration::ZERO,
            wanted: WantedFile::Reel,
        }
    }

    fn ask(&self, word: &str) -> Result<FetchedFile, FetchError> {
        let base = self.store.base.clone();
        let client =
            FetchClient::new(|name| (name == "STORAGE_EMULATOR_HOST").then(|| base.clone()))?;
        let mut last = 0;
        fetch(
            &client,
            &ReelAddress::parse(word)?,
            &self.options(),
            |progress| {
                if let FetchProgress::Downloaded { done, total } = progress {
                    assert!(total.is_none_or(|total| done <= total));
                    last = done;
                }
            },
        )
    }

    /// Fetches a file of the server.
    fn file(&self, path: &str) -> Result<Vec<u8>, String> {
        let word = format!("{}{path}", self.store.base);
        let fetched = self.ask(&word).map_err(|error| error.to_string())?;
        Ok(bytes_of(&fetched))
    }

    fn bucket(&self, word: &str) -> Result<Vec<u8>, FetchError> {
        self.ask(word).map(|fetched| bytes_of(&fetched))
    }
}

#[test]
fn a_download_is_kept_and_asked_for_again_only_by_its_etag() {
    let world = World::new();
    world.store.put("/a.reel", StoredFile::of(noise(300_000)));
    assert_eq!(world.file("/a.reel"), Ok(noise(300_000)));
    assert_eq!(world.file("/a.reel"), Ok(noise(300_000)));
    let asked = world.store.requests();
    assert_eq!(asked.len(), 2);
    assert!(asked[1].headers.contains_key("if-none-match"), "{asked:?}");
    // A file that changed is another one; two addresses of one file share it.
    world.store.put("/a.reel", StoredFile::of("other"));
    world.store.put("/b.reel", StoredFile::of("other"));
    assert_eq!(world.file("/a.reel"), Ok(b"other".to_vec()));
    assert_eq!(world.file("/b.reel"), Ok(b"other".to_vec()));
    let cache = fs::read_dir(world.folder.path().join("cache")).expect("a cache");
    let reels = cache.map(|entry| entry.expect("an entry").path());
    let reels = reels.filter(|path| path.extension().is_some_and(|ending| ending == "reel"));
    assert_eq!(reels.count(), 2);
}

/// Without a length, nothing shows that a connection ended too early: the etag is that of the whole file.
#[test]
fn a_download_of_unknown_length_is_not_taken_for_the_file_of_its_etag() {
    let world = World::new();
    let mut file = StoredFile::of(noise(300_000));
    file.length = DeclaredLength::Nowhere;
    file.cuts = vec![100_000];
    world.store.put("/a.reel", file);
    assert_eq!(world.file("/a.reel").map(|cut| cut.len()), Ok(100_000));
    assert_eq!(world.file("/a.reel"), Ok(noise(300_000)));
    let mut file = StoredFile::of(noise(300_000));
    file.length = DeclaredLength::Chunked;
    world.store.put("/b.reel", file);
    assert_eq!(world.file("/b.reel"), Ok(noise(300_000)));
    assert_eq!(world.file("/b.reel"), Ok(noise(300_000)));
    let asked = world.store.requests().into_iter();
    let asked: Vec<bool> = asked
        .map(|one| one.headers.contains_key("if-none-match"))
        .collect();
    assert_eq!(asked, [false, false, false, true]);
}

#[test]
fn a_cut_connection_is_continued_where_it_ended() {
    let world = World::new();
    let mut file = StoredFile::of(noise(300_000));
    file.cuts = vec![100_000, 0, 50_000, 70_000];
    file.refusals = vec![503];
    world.store.put("/a.reel", file);
    assert_eq!(world.file("/a.reel"), Ok(noise(300_000)));
    let ranges: Vec<Option<String>> = world
        .store
        .requests()
        .into_iter()
        .map(|mut one| one.headers.remove("range"))
        .collect();
    let from = |bytes: u32| Some(format!("bytes={bytes}-"));
    let expected = [
        None,
        None,
        from(100_000),
        from(100_000),
        from(150_000),
        from(220_000),
    ];
    assert_eq!(ranges, expected);
}

#[test]
fn a_download_that_ended_early_goes_on_in_the_next_process() {
    let world = World::new();
    let mut file = StoredFile::of(noise(300_000));
    file.cuts = vec![200_000, 0, 0, 0];
    world.store.put("/a.reel", file);
    let error = world.file("/a.reel").expect_err("cut");
    assert!(
        error.starts_with("cannot download: the connection ended after 200000 of 300000 bytes: "),
        "{error}"
    );
    world.store.requests();
    assert_eq!(world.file("/a.reel"), Ok(noise(300_000)));
    let asked = world.store.requests();
    let expected = Some("bytes=200000-");
    assert_eq!(asked[0].headers.get("range").map(String::as_str), expected);
    assert_eq!(asked.len(), 1);
}

#[test]
fn a_file_that_changes_meanwhile_is_never_mixed() {
    let world = World::new();
    let mut file = StoredFile::of(noise(300_000));
    file.cuts = vec![100_000];
    file.changes = Some((1, b"another".to_vec()));
    world.store.put("/a.reel", file);
    assert_eq!(world.file("/a.reel"), Ok(b"another".to_vec()));
    // Without a validator a download cannot be resumed: it starts over, but not forever.
    let mut file = StoredFile::of(noise(3000));
    file.cuts = vec![1000, 2000];
    file.is_anonymous = true;
    world.store.put("/b.reel", file.clone());
    assert_eq!(world.file("/b.reel"), Ok(noise(3000)));
    file.cuts = vec![1000; 20];
    world.store.put("/c.reel", file);
    let error = world.file("/c.reel").expect_err("cut");
    assert!(error.contains("after 1000 of 3000 bytes"), "{error}");
}

#[test]
fn a_cut_of_a_file_that_changed_does_not_bring_the_kept_one_back() {
    let world = World::new();
    world.store.put("/a.reel", StoredFile::of("before"));
    assert_eq!(world.file("/a.reel"), Ok(b"before".to_vec()));
    let mut file = StoredFile::of(noise(300_000));
    file.cuts = vec![100_000];
    world.store.put("/a.reel", file);
    world.store.requests();
    assert_eq!(world.file("/a.reel"), Ok(noise(300_000)));
    let asked = world.store.requests();
    let expected = Some("bytes=100000-");
    assert_eq!(asked[1].headers.get("range").map(String::as_str), expected);
}

#[test]
fn a_cache_folder_that_cannot_be_written_is_as_good_as_none() {
    let world = World::new();
    world.store.put("/a.reel", StoredFile::of("x"));
    let client = FetchClient::new(|_| None).expect("no proxy");
    let address = ReelAddress::parse(&format!("{}/a.reel", world.store.base)).expect("an address");
    let file = world.folder.path().join("file");
    fs::write(&file, "").expect("a file");
    let options = FetchOptions {
        folder: Some(file.join("downloads")),
        ..world.options()
    };
    let fetched = fetch(&client, &address, &options, |_| {}).expect("fetched");
    assert_eq!(bytes_of(&fetched), b"x");
}

#[test]
fn what_the_store_keeps_compressed_comes_compressed_with_a_length_and_in_parts() {
    let world = World::new();
    let mut file = StoredFile::of(noise(300_000));
    file.transcoded = Some(vec![0; 900_000]);
    file.cuts = vec![123_456];
    world.store.put("/a.reel", file);
    assert_eq!(world.file("/a.reel"), Ok(noise(300_000)));
}

#[test]
fn what_is_too_large_or_endless_or_lies_about_its_length_is_refused() {
    let world = World::new();
    world
        .store
        .put("/large.reel", StoredFile::of(noise(1_000_001)));
    let mut endless = StoredFile::of(noise(5000));
    endless.is_endless = true;
    world.store.put("/endless.reel", endless);
    let mut liar = StoredFile::of(noise(5000));
    liar.length = DeclaredLength::Other(6000);
    world.store.put("/liar.reel", liar);
    let limit = "larger than the limit of 1000000 bytes: ";
    for (path, words) in [
        ("/large.reel", limit),
        ("/endless.reel", limit),
        ("/liar.reel", "the file changes while it is read"),
    ] {
        let error = world.file(path).expect_err(path);
        assert!(error.contains(words), "{error}");
    }
    let parts = fs::read_dir(world.folder.path().join("cache")).expect("a cache");
    let bytes: u64 = parts
        .map(|entry| entry.expect("an entry").metadata().expect("there").len())
        .sum();
    assert!(bytes < 10_000, "{bytes} bytes are left of what was refused");
}

#[test]
fn redirects_stay_in_the_scheme_and_take_no_credentials_along() {
    let world = World::new();
    let other = ObjectStore::start();
    other.put("/there.reel", StoredFile::of("there"));
    let redirect = |to: String| StoredFile {
        redirect: Some(to),
        ..StoredFile::default()
    };
    let base = world.store.base.clone();
    world
        .store
        .put("/here.reel", redirect("/next.reel".to_owned()));
    world
        .store
        .put("/next.reel", redirect(format!("{}/there.reel", other.base)));
    world.store.put(
        "/tls.reel",
        redirect("https://u:s3cret@example.com/a.reel?s3cret".to_owned()),
    );
    world
        .store
        .put("/file.reel", redirect("file:///etc/passwd".to_owned()));
    world
        .store
        .put("/loop.reel", redirect("/loop.reel".to_owned()));
    let with_password = base.replace("http://", "http://me:s3cret@");
    let fetched = world
        .ask(&format!("{with_password}/here.reel?key=s3cret"))
        .expect("followed");
    assert_eq!(fs::read(fetched.path()).expect("there"), b"there");
    let asked = world.store.requests();
    // me:s3cret
    assert!(asked.iter().all(|one| {
        one.headers
            .get("authorization")
            .is_some_and(|given| given == "Basic bWU6czNjcmV0")
    }));
    assert!(!other.requests()[0].headers.contains_key("authorization"));
    for (path, words) in [
        (
            "/tls.reel",
            "redirected to https://example.com/a.reel?…, another scheme: ",
        ),
        (
            "/file.reel",
            "redirected to file:///etc/passwd, another scheme: ",
        ),
        ("/loop.reel", "redirected again and again: "),
    ] {
        let error = world
            .ask(&format!("{with_password}{path}?key=s3cret"))
            .expect_err(path)
            .to_string();
        assert!(
            error.contains(words) && !error.contains("s3cret"),
            "{error}"
        );
        assert!(error.ends_with(&format!("{base}{path}?…")), "{error}");
    }
}

#[test]
fn pages_and_refusals_are_said() {
    let world = World::new();
    world.store.put(
        "/page",
        StoredFile {
            is_page: true,
            ..StoredFile::default()
        },
    );
    for (path, status) in [("/private", 403), ("/login", 401)] {
        world.store.put(
            path,
            StoredFile {
                refusals: vec![status],
                ..StoredFile::default()
            },
        );
    }
    world.store.put(
        "/down",
        StoredFile {
            refusals: vec![500; 9],
            ..StoredFile::default()
        },
    );
    for (path, words) in [
        ("/none.reel", "nothing found: "),
        ("/page", "a web page, not a file: "),
        ("/private", "HTTP status 403: "),
        ("/login", "HTTP status 401: "),
        ("/down", "HTTP status 500: "),
    ] {
        let error = world.file(path).expect_err(path);
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn the_reel_below_a_job_is_found_by_the_list_of_objects() {
    let world = World::new();
    for name in [
        "build-log.txt",
        "finished.json",
        "artifacts/e2e/observe/artifacts/run.reel.sha256",
        "prowjob.json",
    ] {
        world
            .store
            .put(&format!("/results/logs/job/1/{name}"), StoredFile::of("x"));
        world
            .store
            .put(&format!("/results/logs/job/2/{name}"), StoredFile::of("x"));
        world
            .store
            .put(&format!("/results/logs/job/3/{name}"), StoredFile::of("x"));
    }
    let below = "artifacts/e2e/observe/artifacts";
    world.store.put(
        &format!("/results/logs/job/1/{below}/a b%23.reel"),
        StoredFile::of("one"),
    );
    // Another job whose number begins with this one's.
    world.store.put(
        &format!("/results/logs/job/12/{below}/run.reel"),
        StoredFile::of("twelve"),
    );
    for name in ["a.reel", "b.reel.gz"] {
        world.store.put(
            &format!("/results/logs/job/2/{below}/{name}"),
            StoredFile::of("two"),
        );
    }
    world.store.put("/results/odd-name", StoredFile::of("odd"));
    for word in [
        "gs://results/logs/job/1",
        "gs://results/logs/job/1/artifacts/",
        "https://prow.ci.openshift.org/view/gs/results/logs/job/1",
        "https://gcsweb-ci.apps.example/gcs/results/logs/job/1/",
        "https://storage.googleapis.com/results/logs/job/1",
        "gs://results/logs/job/1/artifacts/e2e/observe/artifacts/a b%23.reel",
    ] {
        assert_eq!(world.bucket(word).expect(word), b"one", "{word}");
    }
    assert_eq!(
        world.bucket("gs://results/odd-name").expect("any name"),
        b"odd"
    );
    let several = world.bucket("gs://results/logs/job/2").expect_err("two");
    let FetchError::Several { reels, .. } = &several else {
        panic!("{several}");
    };
    let path = format!("gs://results/logs/job/2/{below}");
    let expected = [format!("{path}/a.reel"), format!("{path}/b.reel.gz")];
    assert_eq!(*reels, expected);
    for (word, words) in [
        (
            "gs://results/logs/job/3",
            "no reel among 4 files: gs://results/logs/job/3",
        ),
        ("gs://results/logs/job/4", "nothing found: "),
        (
            "gs://no-such-bucket/x",
            "nothing found: gs://no-such-bucket/x",
        ),
    ] {
        let error = world.bucket(word).expect_err(word).to_string();
        assert!(error.starts_with(words), "{error}");
    }
}

#[test]
fn a_proxy_of_the_environment_is_used_and_its_exceptions_are_not() {
    let proxy = ObjectStore::start();
    let target = ObjectStore::start();
    target.put("/a.reel", StoredFile::of("direct"));
    let fetched = |exceptions: &str| {
        let client = FetchClient::new(|name| match name {
            "http_proxy" => Some(proxy.base.clone()),
            "no_proxy" => Some(exceptions.to_owned()),
            _ => None,
        })
        .expect("a proxy");
        let options = FetchOptions {
            folder: None,
            most_bytes: 100,
            retry_wait: Duration::ZERO,
            wanted: WantedFile::Reel,
        };
        let address = ReelAddress::parse(&format!("{}/a.reel", target.base)).expect("an address");
        fetch(&client, &address, &options, |_| {}).map(|file| fs::read(file.path()).expect("there"))
    };
    // The server is not a proxy and refuses: the request reached it.
    let error = fetched("").expect_err("no proxy").to_string();
    assert!(error.starts_with("cannot download: "), "{error}");
    assert!(
        proxy.requests()[0]
            .target
            .contains(target.base.trim_start_matches("http://"))
    );
    let expected = b"direct";
    assert_eq!(fetched("example.com, 127.0.0.1").expect("direct"), expected);
    let wrong =
        FetchClient::new(|name| (name == "HTTPS_PROXY").then(|| "ftp://u:s3cret@h".to_owned()));
    let error = wrong.expect_err("no such proxy").to_string();
    assert!(
        error.starts_with("cannot use the proxy of $HTTPS_PROXY: ") && !error.contains("s3cret"),
        "{error}"
    );
}

#[test]
fn without_a_cache_the_file_lives_as_long_as_its_value() {
    let world = World::new();
    world.store.put("/a.reel", StoredFile::of("x"));
    let client = FetchClient::new(|_| None).expect("no proxy");
    let address = ReelAddress::parse(&format!("{}/a.reel", world.store.base)).expect("an address");
    let options = FetchOptions {
        folder: None,
        ..world.options()
    };
    let fetched = fetch(&client, &address, &options, |_| {}).expect("fetched");
    let path = fetched.path().to_owned();
    assert!(path.is_file());
    drop(fetched);
    assert!(!Path::new(&path).exists());
}
