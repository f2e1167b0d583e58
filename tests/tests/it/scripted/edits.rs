//! Lines that are not what they should be, and lines that arrive oddly packed.

use anyhow::{Context as _, Result};
use kubereel_tests::scripted::{
    Chunking, Edit, End, Fault, Gzip, On, Pick, ScriptedCluster, Tail, chunks,
};

use crate::scripted::{WATCH_LIST, client, get, json, quiet, with_configmaps};

const PATH: &str = "/api/v1/configmaps";

type Lines = Vec<Vec<u8>>;

/// The lines of a watch from before three config maps, of which some are edited, and their plain form.
fn edited(edits: &[(Pick, Edit)], count: usize) -> Result<(Lines, Lines, u128)> {
    let (cluster, before) = with_configmaps(3)?;
    let target = format!("{PATH}?watch=true&resourceVersion={before}");
    let mut plain = client(&cluster)?;
    plain.ask(&target, &[])?;
    let plain = plain.lines(3)?;
    for (pick, edit) in edits {
        cluster.fault(On::watch(PATH), Fault::Edit(pick.clone(), edit.clone()));
    }
    let mut stream = client(&cluster)?;
    stream.ask(&target, &[])?;
    Ok((stream.lines(count)?, plain, before))
}

#[test]
fn lines_are_replaced_doubled_dropped_and_surrounded() -> Result<()> {
    let bad = b"{\"type\":\"ADDED\",\"object\":{\xff\xfe}}\n".to_vec();
    let (lines, plain, _) = edited(&[(Pick::Line(1), Edit::Replace(bad.clone()))], 3)?;
    assert_eq!(lines, [plain[0].clone(), bad.clone(), plain[2].clone()]);

    let (lines, plain, _) = edited(&[(Pick::Line(0), Edit::Twice)], 4)?;
    assert_eq!(
        (&lines[0], &lines[1], &lines[2]),
        (&plain[0], &plain[0], &plain[1])
    );

    let (lines, plain, before) = edited(&[(Pick::Line(0), Edit::Drop)], 2)?;
    assert_eq!(lines, plain[1..]);

    let (lines, plain, _) = edited(
        &[
            (Pick::Revision(before + 2), Edit::Before(bad.clone())),
            (Pick::Revision(before + 2), Edit::After(b"\n".to_vec())),
        ],
        5,
    )?;
    assert_eq!(
        lines,
        [
            plain[0].clone(),
            bad,
            plain[1].clone(),
            b"\n".to_vec(),
            plain[2].clone()
        ]
    );
    Ok(())
}

#[test]
fn revisions_fall_repeat_vanish_and_grow() -> Result<()> {
    let far = "340282366920938463463374607431768211455";
    for other in [Some("1"), Some(far), Some(""), None] {
        let edit = Edit::ResourceVersion(other.map(str::to_owned));
        let (lines, plain, before) = edited(&[(Pick::Line(1), edit)], 3)?;
        let was = format!(r#""resourceVersion":"{}","#, before + 2);
        let is = other.map_or_else(String::new, |other| {
            format!(r#""resourceVersion":"{other}","#)
        });
        let expected = String::from_utf8(plain[1].clone())?.replace(&was, &is);
        assert_eq!(String::from_utf8(lines[1].clone())?, expected);
        assert!(json(&lines[1]).is_ok());
    }
    Ok(())
}

#[test]
fn types_become_unknown() -> Result<()> {
    let edit = Edit::Type("PATCHED".to_owned());
    let (lines, plain, _) = edited(&[(Pick::Type("ADDED"), edit)], 3)?;
    assert_eq!(lines[0].len(), plain[0].len() + 2);
    assert!(
        lines
            .iter()
            .all(|line| line.starts_with(br#"{"type":"PATCHED","object":{"kind""#))
    );
    Ok(())
}

#[test]
fn the_oracle_counts_only_what_arrived_unaltered() -> Result<()> {
    let (cluster, before) = with_configmaps(3)?;
    cluster.fault(On::watch(PATH), Fault::Edit(Pick::Line(1), Edit::Drop));
    let mut stream = client(&cluster)?;
    stream.ask(&format!("{PATH}?watch=true&resourceVersion={before}"), &[])?;
    stream.lines(2)?;
    cluster.wait_until(
        "the third to be counted",
        crate::scripted::SURE,
        |cluster| cluster.committed().last()?.first_watched,
    )?;
    let sent: Vec<bool> = cluster
        .committed()
        .iter()
        .filter(|commit| commit.revision > before)
        .map(|commit| commit.first_sent().is_some())
        .collect();
    assert_eq!(sent, [true, false, true]);
    Ok(())
}

#[test]
fn a_thousand_lines_come_in_one_chunk() -> Result<()> {
    let cluster = ScriptedCluster::start()?;
    let from = cluster.revision();
    cluster.set(|settings| settings.chunking = Chunking::Together);
    let mut stream = client(&cluster)?;
    stream.ask(&format!("{PATH}?watch=true&resourceVersion={from}"), &[])?;
    let held = cluster.hold();
    for nth in 0..1000 {
        cluster.put("configmaps", "default", &format!("c{nth}"), "")?;
    }
    drop(held);
    stream.lines(1000)?;
    let (fetched, tail) = quiet(&mut stream)?;
    let (found, _) = chunks(&fetched.raw)?;
    assert_eq!(
        (found.len(), fetched.lines().len(), tail),
        (1, 1000, Tail::Silent)
    );
    Ok(())
}

#[test]
fn lines_come_in_chunks_of_seven_bytes() -> Result<()> {
    let (cluster, before) = with_configmaps(3)?;
    cluster.fault(On::watch(PATH), Fault::Chunking(Chunking::Bytes(7)));
    let mut stream = client(&cluster)?;
    stream.ask(&format!("{PATH}?watch=true&resourceVersion={before}"), &[])?;
    stream.lines(3)?;
    let (fetched, _) = quiet(&mut stream)?;
    assert_eq!(fetched.lines().len(), 3);
    let (found, _) = chunks(&fetched.raw)?;
    let (last, others) = found.split_last().context("chunks")?;
    assert!(others.iter().all(|chunk| chunk.len() == 7) && last.len() <= 7);
    Ok(())
}

#[test]
fn a_line_of_forty_mebibytes_arrives() -> Result<()> {
    let cluster = ScriptedCluster::start()?;
    let from = cluster.revision();
    let members = format!(r#""data":{{"big":"{}"}}"#, "x".repeat(40 << 20));
    cluster.put("configmaps", "default", "big", &members)?;
    let mut stream = client(&cluster)?;
    stream.ask(&format!("{PATH}?watch=true&resourceVersion={from}"), &[])?;
    stream.lines(1)?;
    let (fetched, _) = quiet(&mut stream)?;
    let (found, _) = chunks(&fetched.raw)?;
    assert_eq!(found.len(), 1);
    assert!(found[0].len() > 40 << 20 && found[0].ends_with(b"\"}}}\n"));
    Ok(())
}

#[test]
fn a_compressed_watch_is_one_member_a_flush() -> Result<()> {
    let (cluster, _) = with_configmaps(2)?;
    let plain = get(&cluster, PATH)?;
    assert_eq!(plain.header("content-encoding"), None);
    let target = format!("{PATH}?{WATCH_LIST}");
    let mut stream = client(&cluster)?;
    stream.ask(&target, &[("Accept-Encoding", "gzip, br")])?;
    cluster.wait_until("three lines", crate::scripted::SURE, |cluster| {
        (cluster.requests_to(PATH).get(1)?.progress().lines == 3).then_some(())
    })?;
    cluster.cut_open(&On::watch(PATH), End::Closed);
    let (fetched, _) = stream.rest()?;
    assert_eq!(fetched.header("content-encoding"), Some("gzip"));
    let (members, _) = chunks(&fetched.raw)?;
    assert_eq!(members.len(), 3);
    for member in &members {
        assert!(member.starts_with(&[0x1f, 0x8b, 8]));
        // Ten bytes of header, five of a stored block, eight behind it.
        let content = &member[15..member.len() - 8];
        assert!(json(content).is_ok());
    }
    cluster.set(|settings| settings.gzip = Gzip::Always);
    assert_eq!(
        get(&cluster, PATH)?.header("content-encoding"),
        Some("gzip")
    );
    Ok(())
}
