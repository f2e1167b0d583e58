//! Answers of the scripted API server that are not what was asked for, and answers that stop: at which byte and
//! how. What it says when nothing is spoilt is what the recorder's tests ask of it: without that they fail.

use anyhow::Result;
use kubereel_tests::scripted::{
    AnswerCut, Canned, End, Ending, Fault, Fetched, On, Pick, Place, RawClient, ScriptedCluster,
    Tail, chunks,
};
use std::time::Duration;

/// How long a client waits in silence before it calls a connection silent.
const PATIENCE: Duration = Duration::from_millis(300);

/// How long anything that is sure to come may take on a busy machine.
const SURE: Duration = Duration::from_secs(20);

const PATH: &str = "/api/v1/configmaps";

fn client(cluster: &ScriptedCluster) -> Result<RawClient> {
    RawClient::connect(cluster.address(), SURE)
}

/// What else comes before a short silence; for answers that have stopped or have nothing more to say.
fn quiet(client: &mut RawClient) -> Result<(Fetched, Tail)> {
    client.set_patience(PATIENCE)?;
    client.rest()
}

/// Waits until the last request was given all it will ever get, then reads it.
fn stopped(cluster: &ScriptedCluster, client: &mut RawClient) -> Result<(Fetched, Tail)> {
    cluster.wait_until("the last answer to stop", SURE, |cluster| {
        let progress = cluster.requests().last()?.progress();
        (progress.ended.is_some() || progress.silent_since.is_some()).then_some(())
    })?;
    quiet(client)
}

fn get(cluster: &ScriptedCluster, target: &str) -> Result<Fetched> {
    client(cluster)?.get(target, &[])
}

/// Starts a watch of config maps and reads its first lines.
fn watch_lines(cluster: &ScriptedCluster, query: &str, count: usize) -> Result<Vec<String>> {
    let mut client = client(cluster)?;
    client.ask(&format!("/api/v1/configmaps?{query}"), &[])?;
    let lines = client.lines(count)?.into_iter().map(String::from_utf8);
    Ok(lines.collect::<Result<_, _>>()?)
}

/// A cluster with `count` config maps, and the revision of the first of them less one.
fn with_configmaps(count: usize) -> Result<(ScriptedCluster, u128)> {
    let cluster = ScriptedCluster::start()?;
    let before = cluster.revision();
    for nth in 0..count {
        cluster.put("configmaps", "default", &format!("c{nth}"), r#""data":{}"#)?;
    }
    Ok((cluster, before))
}

fn cut(line: usize, place: Place, end: End) -> Fault {
    Fault::Cut(AnswerCut {
        line: Pick::Line(line),
        place,
        end,
    })
}

/// Everything received of a watch from before three config maps, and how it stopped.
fn cut_watch(fault: Fault) -> Result<(Vec<u8>, Tail)> {
    let (cluster, before) = with_configmaps(3)?;
    cluster.fault(On::watch(PATH), fault);
    let mut stream = client(&cluster)?;
    stream.ask(&format!("{PATH}?watch=true&resourceVersion={before}"), &[])?;
    let (fetched, tail) = stopped(&cluster, &mut stream)?;
    Ok((fetched.raw, tail))
}

#[test]
fn a_watch_stops_at_the_chosen_byte_in_the_chosen_way() -> Result<()> {
    let (cluster, before) = with_configmaps(3)?;
    let line = watch_lines(&cluster, &format!("watch=true&resourceVersion={before}"), 3)?[1].len();
    for (end, tail) in [
        (End::Closed, Tail::Closed),
        (End::Reset, Tail::Reset),
        (End::Silent, Tail::Silent),
    ] {
        for kept in [0, 1, line / 2, line - 1, line] {
            let (raw, how) = cut_watch(cut(1, Place::Line(kept), end))?;
            let (found, whole) = chunks(&raw)?;
            assert_eq!((how, whole), (tail, false), "{end:?} at {kept}");
            let got: usize = found.iter().skip(1).map(Vec::len).sum();
            assert_eq!(got, kept, "{end:?}");
            // The header of the cut chunk announced the whole line.
            let announced = format!("\r\n{line:x}\r\n");
            assert!(
                String::from_utf8(raw)?.contains(&announced),
                "{end:?} at {kept}"
            );
        }
    }
    Ok(())
}

#[test]
fn a_watch_stops_inside_a_chunk_header() -> Result<()> {
    for kept in 0..4 {
        let (raw, tail) = cut_watch(cut(2, Place::ChunkHeader(kept), End::Closed))?;
        let (found, whole) = chunks(&raw)?;
        assert_eq!((found.len(), whole, tail), (2, false, Tail::Closed));
        let first_two: usize = found
            .iter()
            .map(|chunk| format!("{:x}\r\n", chunk.len()).len() + chunk.len() + 2)
            .sum();
        assert_eq!(raw.len() - first_two, kept);
    }
    Ok(())
}

#[test]
fn a_watch_ends_well_after_a_line_or_inside_one() -> Result<()> {
    for (place, expected) in [(Place::After, None), (Place::Line(10), Some(10))] {
        let (raw, tail) = cut_watch(cut(1, place, End::Finished))?;
        let (found, whole) = chunks(&raw)?;
        assert!(whole, "the terminating chunk is there");
        assert_eq!(
            (found.len(), tail),
            (2, Tail::Silent),
            "the connection stays"
        );
        if let Some(length) = expected {
            assert_eq!(found[1].len(), length);
        } else {
            assert!(found[1].ends_with(b"}\n"));
        }
    }
    Ok(())
}

#[test]
fn a_list_stops_in_the_middle_of_its_length() -> Result<()> {
    let (cluster, _) = with_configmaps(3)?;
    let whole = get(&cluster, PATH)?.raw.len();
    let rule = cluster.fault(On::list(PATH), cut(0, Place::Line(40), End::Closed));
    let mut asking = client(&cluster)?;
    asking.ask(PATH, &[])?;
    let (fetched, tail) = asking.rest()?;
    assert_eq!((fetched.raw.len(), tail), (40, Tail::Closed));
    assert_eq!(
        fetched.header("content-length"),
        Some(whole.to_string().as_str())
    );
    cluster.lift(rule);
    assert_eq!(get(&cluster, PATH)?.raw.len(), whole);
    assert_eq!(cluster.hits(rule), 1);
    Ok(())
}

#[test]
fn heads_stop_too_and_answers_never_begin() -> Result<()> {
    let cluster = ScriptedCluster::start()?;
    for (fault, received, expected) in [
        (
            Fault::Head(15, End::Closed),
            "HTTP/1.1 200 OK",
            Tail::Closed,
        ),
        (
            Fault::Raw(b"\x16\x03\x01".to_vec(), End::Closed),
            "\x16\x03\x01",
            Tail::Closed,
        ),
        (Fault::Raw(Vec::new(), End::Reset), "", Tail::Reset),
        (Fault::Raw(Vec::new(), End::Silent), "", Tail::Silent),
    ] {
        cluster.fault(On::path("/readyz").once(), fault);
        let mut asking = client(&cluster)?;
        asking.ask("/readyz", &[])?;
        let (fetched, tail) = stopped(&cluster, &mut asking)?;
        assert_eq!(
            (fetched.raw, tail),
            (received.as_bytes().to_vec(), expected)
        );
    }
    Ok(())
}

#[test]
fn every_status_comes_with_its_body_and_headers() -> Result<()> {
    let cluster = ScriptedCluster::start()?;
    for code in [401, 403, 404, 409, 410, 422, 429, 500, 503, 504] {
        let canned = Canned::status(code, "Some", "told so").header("Retry-After", "1");
        cluster.fault(On::path(PATH).once(), Fault::Answer(canned));
        let answer = get(&cluster, PATH)?;
        assert_eq!(
            (answer.status, answer.header("retry-after")),
            (code, Some("1"))
        );
        let expected = format!(
            r#"{{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure","message":"told so","reason":"Some","code":{code}}}"#
        );
        assert_eq!(answer.body(), expected.as_bytes());
    }
    cluster.fault(
        On::path("/apis/*").once(),
        Fault::Answer(Canned::text(503, "service unavailable")),
    );
    let expected = b"service unavailable";
    assert_eq!(get(&cluster, "/apis/apps/v1")?.body(), expected);
    cluster.fault(
        On::path("*").once(),
        Fault::Answer(Canned::html(200, "<html>log in</html>")),
    );
    let page = get(&cluster, "/readyz")?;
    let expected = Some("text/html; charset=utf-8");
    assert_eq!(page.header("content-type"), expected);
    assert_eq!(get(&cluster, "/readyz")?.body(), b"ok");
    Ok(())
}

#[test]
fn rules_count_skip_select_and_run_out() -> Result<()> {
    let cluster = ScriptedCluster::start()?;
    let gone = || Fault::Answer(Canned::status(410, "Expired", "gone"));
    let second_page = cluster.fault(On::list(PATH).with_query("continue=").once(), gone());
    assert_eq!(get(&cluster, PATH)?.status, 200);
    assert_eq!(get(&cluster, &format!("{PATH}?continue=x"))?.status, 410);
    assert_eq!(cluster.hits(second_page), 1);
    cluster.fault(On::list(PATH).skip(1).times(2), gone());
    let statuses: Vec<u16> = (0..4)
        .map(|_| Ok(get(&cluster, PATH)?.status))
        .collect::<Result<_>>()?;
    assert_eq!(statuses, [200, 410, 410, 200]);
    let spent = cluster.fault(On::path(PATH).lasting(Duration::ZERO), gone());
    assert_eq!((get(&cluster, PATH)?.status, cluster.hits(spent)), (200, 0));
    Ok(())
}

#[test]
fn tokens_are_asked_for() -> Result<()> {
    let cluster = ScriptedCluster::start()?;
    cluster.set(|settings| settings.token = Some("sesame".to_owned()));
    assert_eq!(get(&cluster, PATH)?.status, 401);
    let authorised = client(&cluster)?.get(PATH, &[("Authorization", "Bearer sesame")])?;
    assert_eq!(authorised.status, 200);
    Ok(())
}

#[test]
fn a_refusing_server_comes_back_on_its_port() -> Result<()> {
    let (mut cluster, before) = with_configmaps(1)?;
    let mut stream = client(&cluster)?;
    stream.ask(&format!("{PATH}?watch=true&resourceVersion={before}"), &[])?;
    stream.lines(1)?;
    let address = cluster.address();
    cluster.refuse()?;
    let error = std::net::TcpStream::connect(address).expect_err("nobody listens");
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
    cluster.put("configmaps", "default", "meanwhile", "")?;
    stream.lines(2)?;
    cluster.accept()?;
    assert_eq!(cluster.address(), address);
    let mut idle = client(&cluster)?;
    assert_eq!(idle.get("/readyz", &[])?.status, 200);
    cluster.go_down()?;
    assert_eq!(stream.rest()?.1, Tail::Reset);
    // A client that keeps it for its next request would otherwise be answered.
    assert_eq!(idle.rest()?.1, Tail::Reset);
    assert!(client(&cluster).is_err());
    Ok(())
}

#[test]
fn open_streams_end_on_order() -> Result<()> {
    for (end, tail) in [
        (End::Finished, Tail::Silent),
        (End::Closed, Tail::Closed),
        (End::Reset, Tail::Reset),
        (End::Silent, Tail::Silent),
    ] {
        let (cluster, before) = with_configmaps(1)?;
        let mut stream = client(&cluster)?;
        stream.ask(&format!("{PATH}?watch=true&resourceVersion={before}"), &[])?;
        stream.lines(1)?;
        assert_eq!(cluster.cut_open(&On::watch("/api/v1/pods"), end), 0);
        assert_eq!(cluster.cut_open(&On::watch(PATH), end), 1);
        let (fetched, how) = stopped(&cluster, &mut stream)?;
        let (_, whole) = chunks(&fetched.raw)?;
        assert_eq!((how, whole), (tail, end == End::Finished));
    }
    Ok(())
}

#[test]
fn a_silenced_stream_says_nothing_more_until_the_client_goes() -> Result<()> {
    let (cluster, before) = with_configmaps(1)?;
    let mut stream = client(&cluster)?;
    stream.ask(&format!("{PATH}?watch=true&resourceVersion={before}"), &[])?;
    stream.lines(1)?;
    cluster.cut_open(&On::watch(PATH), End::Silent);
    cluster.put("configmaps", "default", "unseen", "")?;
    let (fetched, tail) = stopped(&cluster, &mut stream)?;
    assert_eq!((fetched.lines().len(), tail), (1, Tail::Silent));
    drop(stream);
    let ended = cluster.wait_until("the client to go", SURE, |cluster| {
        cluster.requests_to(PATH)[0].progress().ended
    })?;
    assert_eq!(ended.1, Ending::Client);
    assert!(
        cluster.wait_sent("configmaps", PATIENCE).is_err(),
        "one was never sent"
    );
    Ok(())
}
