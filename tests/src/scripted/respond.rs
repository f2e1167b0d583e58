//! The life of a connection: requests in turn, the faults they meet, the answers driven onto the
//! wire. It does not decide what a healthy answer says.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};

use super::cluster;
use super::cluster::State;
use super::cluster::{Gzip, Settings};
use super::fault::{End, Fault, LongList, json_type};
use super::log::{Ending, RequestHead, locked};
use super::stream::{Delivered, Delivery};
use super::stream::{Stream, StreamPoll};
use super::wire::response_head;
use super::wire::{self, Answer, Body, Line};
use super::wire::{Orders, Wire};

/// Accepts connections until told to stop, then closes the listener and says so by dropping `closed`.
pub(crate) async fn accept(
    state: Arc<State>,
    listener: TcpListener,
    stop: oneshot::Receiver<()>,
    closed: std::sync::mpsc::SyncSender<()>,
) {
    let accepting = async {
        loop {
            // A connection that failed before it was accepted is the client's business.
            if let Ok((stream, _)) = listener.accept().await {
                let resets = state.resets();
                tokio::spawn(connection(Arc::clone(&state), stream, resets));
            }
        }
    };
    tokio::select! {
        _ = stop => {}
        () = accepting => {}
    }
    drop(listener);
    drop(closed);
}

async fn connection(state: Arc<State>, stream: TcpStream, mut resets: watch::Receiver<usize>) {
    // Without it small chunks wait for each other; failing only costs time.
    stream.set_nodelay(true).ok();
    let number = state.next_connection();
    let mut wire = Wire::new(stream);
    loop {
        let asked = tokio::select! {
            biased;
            _ = resets.changed() => return wire.reset(),
            asked = wire.request() => asked,
        };
        let Some(asked) = asked else {
            return;
        };
        let close = asked.header("connection") == Some("close");
        let settings = locked(&state.settings).clone();
        let (exchange, ordered) = state.begin(number, asked);
        if resets.has_changed().unwrap_or(true) {
            state.finish(&exchange, Ending::Server(End::Reset));
            return wire.reset();
        }
        let mut orders = Orders {
            ordered,
            pulse: Arc::clone(&state.pulse),
            stall_limit: settings.stall_limit,
            exchange: Arc::clone(&exchange),
        };
        let ending = respond(&state, &settings, &exchange.asked, &mut wire, &mut orders).await;
        match ending {
            Ending::Server(End::Finished) if !close => state.finish(&exchange, ending),
            Ending::Server(end) => {
                let ended = wire.end(end, &mut orders).await;
                state.finish(&exchange, ended);
                return;
            }
            Ending::Client => {
                state.finish(&exchange, ending);
                return;
            }
        }
    }
}

async fn respond(
    state: &State,
    settings: &Settings,
    asked: &RequestHead,
    wire: &mut Wire,
    orders: &mut Orders,
) -> Ending {
    let faults = locked(&state.rules).meet(asked);
    for fault in &faults {
        if let Fault::Delay(delay) = fault
            && let Some(ending) = wait(*delay, wire, orders).await
        {
            return ending;
        }
    }
    if let Some((bytes, end)) = faults.iter().find_map(|fault| match fault {
        Fault::Raw(bytes, end) => Some((bytes, *end)),
        _ => None,
    }) {
        return match wire.send(bytes, orders).await {
            Ok(()) => Ending::Server(end),
            Err(ending) => ending,
        };
    }
    if let Some(list) = faults.iter().find_map(|fault| match fault {
        Fault::LongList(list) => Some(list),
        _ => None,
    }) {
        let revision = locked(&state.model).revision;
        return match send_list(list, revision, wire, orders).await {
            Ok(()) => Ending::Server(End::Finished),
            Err(ending) => ending,
        };
    }
    let canned = faults.iter().find_map(|fault| match fault {
        Fault::Answer(canned) => Some(canned.clone()),
        _ => None,
    });
    let answer = canned.map_or_else(
        || {
            let flap = asked.path == "/apis" && state.flap();
            wire::to(asked, &locked(&state.model), settings, flap)
        },
        Answer::from,
    );
    if let Some(ending) = wait(answer.wait, wire, orders).await {
        return ending;
    }
    send(state, settings, asked, answer, faults, wire, orders).await
}

/// How many items of a long list are sent at once.
const ITEMS_AT_ONCE: u64 = 500;

async fn send_list(
    list: &LongList,
    revision: u128,
    wire: &mut Wire,
    orders: &mut Orders,
) -> Result<(), Ending> {
    let (name, kind) = json_type();
    let headers = [
        (name, kind),
        ("Transfer-Encoding".to_owned(), "chunked".to_owned()),
    ];
    wire.send(&response_head(200, &headers), orders).await?;
    let mut text = format!(
        r#"{{"kind":"List","apiVersion":"v1","metadata":{{"resourceVersion":"{revision}"}},"items":["#
    );
    let count = list.count.unwrap_or(u64::MAX);
    let mut next = 0;
    while next < count {
        let end = count.min(next.saturating_add(ITEMS_AT_ONCE));
        for number in next..end {
            if number > 0 {
                text.push(',');
            }
            text.push_str(&list.item.replace('#', &format!("{number:09}")));
        }
        next = end;
        send_chunk(&text, wire, orders).await?;
        text.clear();
        // A client that reads as fast as it is written to must not keep the server from the others.
        tokio::task::yield_now().await;
    }
    text.push_str("]}");
    send_chunk(&text, wire, orders).await?;
    wire.send(b"0\r\n\r\n", orders).await
}

async fn send_chunk(text: &str, wire: &mut Wire, orders: &mut Orders) -> Result<(), Ending> {
    let chunk = format!("{:x}\r\n{text}\r\n", text.len());
    wire.send(chunk.as_bytes(), orders).await
}

/// Waits, unless the client goes or an order comes first.
async fn wait(delay: Duration, wire: &mut Wire, orders: &mut Orders) -> Option<Ending> {
    if delay.is_zero() {
        return None;
    }
    tokio::select! {
        () = tokio::time::sleep(delay) => None,
        () = wire.client_gone() => Some(Ending::Client),
        end = orders.awaited() => Some(Ending::Server(abrupt(end))),
    }
}

async fn send(
    state: &State,
    settings: &Settings,
    asked: &RequestHead,
    answer: Answer,
    faults: Vec<Fault>,
    wire: &mut Wire,
    orders: &mut Orders,
) -> Ending {
    let head_cut = faults.iter().find_map(|fault| match fault {
        Fault::Head(bytes, end) => Some((*bytes, *end)),
        _ => None,
    });
    let gzip = answer.status == 200
        && match settings.gzip {
            Gzip::Never => false,
            Gzip::Always => true,
            Gzip::WhenAccepted => asked
                .header("accept-encoding")
                .is_some_and(|accepted| accepted.contains("gzip")),
        };
    let mut delivery = Delivery::new(false, gzip, faults);
    let chunked = matches!(answer.body, Body::Lines(..)) || delivery.alters();
    delivery.set_chunked(chunked);
    let document = match &answer.body {
        Body::Document(line) => delivery.document_len(&line.bytes),
        Body::Lines(..) => 0,
    };
    let headers = headers(&answer, orders.exchange.number, gzip, chunked, document);
    let head = response_head(answer.status, &headers);
    orders
        .exchange
        .note(|progress| progress.status = Some(answer.status));
    if let Some((bytes, end)) = head_cut {
        let sent = wire.send(head.get(..bytes).unwrap_or(&head), orders).await;
        return sent.err().unwrap_or(Ending::Server(abrupt(end)));
    }
    if let Err(ending) = wire.send(&head, orders).await {
        return ending;
    }
    orders.pulse.beat();
    match answer.body {
        Body::Document(line) => document_body(state, line, &mut delivery, wire, orders).await,
        Body::Lines(lines, stream) => {
            lines_body(state, lines, stream, &mut delivery, wire, orders).await
        }
    }
}

async fn document_body(
    state: &State,
    line: Line,
    delivery: &mut Delivery,
    wire: &mut Wire,
    orders: &mut Orders,
) -> Ending {
    let mut delivered = delivery.send(vec![line], wire, orders).await;
    // A recorder's probe reads the revision of such a list: it does not record the object.
    if orders.exchange.asked.parameter("limit") == Some("1") {
        delivered.commits.clear();
    }
    let stopped = delivered.stopped;
    note(state, delivered, false, orders);
    match stopped {
        None | Some(Ending::Server(End::Finished)) => finish(delivery, wire, orders).await,
        Some(ending) => ending,
    }
}

async fn lines_body(
    state: &State,
    mut lines: Vec<Line>,
    mut stream: Option<Box<Stream>>,
    delivery: &mut Delivery,
    wire: &mut Wire,
    orders: &mut Orders,
) -> Ending {
    loop {
        let delivered = delivery
            .send(std::mem::take(&mut lines), wire, orders)
            .await;
        let stopped = delivered.stopped;
        note(state, delivered, true, orders);
        match stopped {
            None => {}
            Some(Ending::Server(End::Finished)) => return finish(delivery, wire, orders).await,
            Some(ending) => return ending,
        }
        let ordered = orders.given();
        if let Some(end) = ordered.filter(|end| *end != End::Finished) {
            return Ending::Server(end);
        }
        let Some(stream) = stream.as_mut() else {
            return finish(delivery, wire, orders).await;
        };
        let held = state.is_held();
        if !held {
            let taken = stream.take(&locked(&state.model));
            match taken {
                StreamPoll::Lines(more) => {
                    lines = more;
                    continue;
                }
                StreamPoll::Over => return finish(delivery, wire, orders).await,
                StreamPoll::Nothing => {}
            }
        }
        // An end in order comes behind what waits.
        if ordered.is_some() {
            return finish(delivery, wire, orders).await;
        }
        tokio::select! {
            () = stream.changed(), if !held => {}
            () = state.released(), if held => {}
            () = wire.client_gone() => return Ending::Client,
            _ = orders.awaited() => {}
        }
    }
}

/// Ends the body as HTTP wants it.
async fn finish(delivery: &Delivery, wire: &mut Wire, orders: &mut Orders) -> Ending {
    let sent = wire.send(delivery.terminator(), orders).await;
    sent.err().unwrap_or(Ending::Server(End::Finished))
}

fn note(state: &State, delivered: Delivered, watched: bool, orders: &Orders) {
    orders
        .exchange
        .note(|progress| progress.lines += delivered.lines);
    state.sent(delivered, watched);
    orders.pulse.beat();
}

/// Before a body there is nothing to finish.
fn abrupt(end: End) -> End {
    if end == End::Finished {
        End::Closed
    } else {
        end
    }
}

fn headers(
    answer: &Answer,
    number: usize,
    gzip: bool,
    chunked: bool,
    document: usize,
) -> Vec<(String, String)> {
    let mut headers = vec![
        (
            "Audit-Id".to_owned(),
            format!("00000000-0000-4000-9000-{number:012x}"),
        ),
        ("Cache-Control".to_owned(), "no-cache, private".to_owned()),
    ];
    headers.extend(answer.headers.iter().cloned());
    headers.push(("Date".to_owned(), cluster::http_date()));
    if gzip {
        headers.push(("Content-Encoding".to_owned(), "gzip".to_owned()));
    }
    if chunked {
        headers.push(("Transfer-Encoding".to_owned(), "chunked".to_owned()));
    } else if answer.status != 304 {
        headers.push(("Content-Length".to_owned(), document.to_string()));
    }
    headers
}
