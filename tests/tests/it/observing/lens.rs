//! The observer's page in a browser: opened directly, and pasted into a frame as Prow's Spyglass does it.
//! Texts of the job and of the server stay text.

use crate::observing::{Job, SURE};
use anyhow::{Context as _, Result, ensure};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use kubereel_tests::chromium::{self, dump_dom};
use kubereel_tests::scripted::{Canned, Fault, Kubeconfig, On, RawClient, Resource};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// What a script of the hostile texts does if it runs: it leaves a mark on the outermost window.
const RUN: &str = "top.hit=1,top.document.title=1";

/// What a server, a job or an object may be called. `RUN` is put where a script would be.
const HOSTILE: [&str; 39] = [
    "<script>RUN</script>",
    "&lt;script&gt;RUN&lt;/script&gt;",
    "&amp;lt;script&amp;gt;RUN&amp;lt;/script&amp;gt;",
    "&#60;script&#62;RUN&#60;/script&#62;",
    "&#x3c;script&#x3e;RUN&#x3C;/script&#x3E;",
    "&ltscript&gtRUN&lt/script&gt",
    "&LT;script&GT;RUN&LT;/script&GT;",
    "&amp;#60;img/src=x/onerror=RUN&amp;#62;",
    "<img/src=x/onerror=RUN>",
    "&lt;img src=x onerror=RUN&gt;",
    "&lt;img src=x onerror=&quot;RUN&quot;&gt;",
    "<svg/onload=RUN>",
    "&lt;svg onload=RUN&gt;",
    "<body/onload=RUN>",
    "&lt;iframe srcdoc='&lt;script&gt;RUN&lt;/script&gt;'&gt;",
    "<iframe src=javascript:RUN>",
    "&lt;a href=javascript:RUN&gt;click&lt;/a&gt;",
    "<details/open/ontoggle=RUN>",
    "&lt;input autofocus onfocus=RUN&gt;",
    "&lt;style onload=RUN&gt;*{display:none}&lt;/style&gt;",
    "</script><script>RUN</script>",
    "</pre></div></body><script>RUN</script>",
    "&lt;/script&gt;&lt;script&gt;RUN&lt;/script&gt;",
    "<!--<script>",
    "--><script>RUN</script><!--",
    "]]><script>RUN</script>",
    "<![CDATA[<script>RUN</script>]]>",
    "\"></iframe><script>RUN</script>",
    "&quot;&gt;&lt;/iframe&gt;&lt;script&gt;RUN&lt;/script&gt;",
    "'><script>RUN</script>",
    "`;RUN;`",
    "');RUN;('",
    "${RUN}",
    "{{.Title}}{{RUN}}",
    "{{define \"body\"}}x{{end}}",
    "PHNjcmlwdD50b3AuaGl0PTE8L3NjcmlwdD4=",
    "</title><script>RUN</script>",
    "<base href=javascript:RUN//><meta http-equiv=refresh content=0;url=javascript:RUN>",
    "&NewLine;&Tab;&nbsp;&notit;&amp",
];

/// More of them: what is no plain text, and how a terminal's letters write it out.
const ODD: [(&str, &str); 11] = [
    ("nul \u{0} within", "nul \\u0000 within"),
    ("\u{1b}[2J\u{7}", "\\u001b[2J\\u0007"),
    ("\u{202e}>tpircs<\u{202c}", "\\u202e>tpircs<\\u202c"),
    ("\u{2066}isolated\u{2069}", "\\u2066isolated\\u2069"),
    ("line\u{2028}end\u{2029}", "line\\u2028end\\u2029"),
    ("zero\u{200b}width\u{feff}", "zero\\u200bwidth\\ufeff"),
    ("first\nNO  second", "first\\nNO  second"),
    ("astral 👩\u{200d}🚀 𝕊", "astral 👩\u{200d}🚀 𝕊"),
    ("no letter \u{fffe}\u{ffff}", "no letter \u{fffe}\u{ffff}"),
    ("日本語 é नमस्ते", "日本語 é नमस्ते"),
    ("שלום <b>مرحبا</b>", "שלום <b>مرحبا</b>"),
];

/// Pastes a page as Prow's HTML lens does: `pkg/spyglass/lenses/html`, `html.go` and `template.html`.
fn pasted(page: &str, id: &str) -> String {
    format!(
        r#"<div id="wrapper">{page}</div><script type="text/javascript">
window.addEventListener("load", function(){{
    if(window.self === window.top) return;
    send_height_to_parent_function = function(){{
        var height = document.getElementById("wrapper").offsetHeight;
        parent.postMessage({{"height" : height , "id": "{id}"}}, "*");
    }}
    send_height_to_parent_function();
    window.addEventListener("resize", send_height_to_parent_function);
    var observer = new MutationObserver(send_height_to_parent_function);
    var config = {{ attributes: true, childList: true, characterData: true, subtree:true}};
    observer.observe(window.document, config);
}});
</script>"#
    )
}

const SANDBOX: &str = "allow-scripts allow-popups allow-same-origin allow-forms";

/// A page around the lens's frame in both of its forms (the content as an attribute, the content set by a
/// script), and what a script that may look inside reports: it is the last element.
fn lens(page: &str) -> Result<String> {
    let attribute = pasted(page, "attribute").replace('"', "&quot;");
    let lazy = serde_json::to_string(&pasted(page, "lazy"))?.replace('<', "\\u003c");
    Ok(format!(
        r#"<!DOCTYPE html><meta charset="utf-8"><title>deck</title>
<script>
window.addEventListener("message", function (sent) {{
  document.getElementById(sent.data.id).style.height = (sent.data.height + 40) + "px";
}});
</script>
<iframe srcdoc="{attribute}" sandbox="{SANDBOX}" id="attribute" width="100%" scrolling="no"></iframe>
<iframe sandbox="{SANDBOX}" id="lazy" width="100%" scrolling="no"></iframe>
<script>
document.getElementById("lazy").srcdoc = {lazy};
window.addEventListener("load", function () {{ setTimeout(function () {{
  var frames = {{}};
  ["attribute", "lazy"].forEach(function (id) {{
    var frame = document.getElementById(id), inside = frame.contentDocument;
    var shown = inside.getElementById("kubereel-summary");
    frames[id] = {{
      text: shown ? shown.textContent : "",
      tags: Array.from(inside.querySelectorAll("*"), function (one) {{ return one.localName; }}),
      title: inside.title,
      is_cut: inside.documentElement.scrollHeight > frame.offsetHeight,
    }};
  }});
  var report = JSON.stringify({{ hit: window.hit === 1, title: document.title, frames: frames }});
  var bytes = new TextEncoder().encode(report), letters = "";
  bytes.forEach(function (byte) {{ letters += String.fromCharCode(byte); }});
  var said = document.createElement("p");
  said.id = "report";
  said.textContent = btoa(letters);
  document.body.append(said);
}}, 1000); }});
</script>"#
    ))
}

#[derive(Debug, Deserialize)]
struct Report {
    /// Whether a script of a hostile text ran.
    hit: bool,
    title: String,
    frames: BTreeMap<String, Frame>,
}

#[derive(Debug, Deserialize)]
struct Frame {
    text: String,
    tags: Vec<String>,
    title: String,
    is_cut: bool,
}

fn between<'a>(text: &'a str, begin: &str, end: &str) -> Result<&'a str> {
    let (_, rest) = text.split_once(begin).with_context(|| begin.to_owned())?;
    let (found, _) = rest.split_once(end).with_context(|| end.to_owned())?;
    Ok(found)
}

/// Opens a page within the lens.
fn open_in_lens(folder: &Path, page: &str) -> Result<Report> {
    let deck = folder.join("deck.html");
    std::fs::write(&deck, lens(page)?)?;
    let document = dump_dom(&deck)?;
    let report = between(&document, "<p id=\"report\">", "</p>")?;
    Ok(serde_json::from_slice(&BASE64_STANDARD.decode(report)?)?)
}

const DATA: &str = "id=\"kubereel-data\">";

/// The same page with another text in it.
fn with_text(page: &str, text: &str) -> Result<String> {
    let data = between(page, DATA, "</script>")?;
    Ok(page.replace(data, &BASE64_STANDARD.encode(text)))
}

/// Observes a cluster that refuses many resources in hostile words, as a job with hostile labels; gives the
/// folder, the summary and the page.
fn observed_hostility() -> Result<(Job, String, String)> {
    let job = Job::new()?;
    let plain = HOSTILE.map(|text| (text.replace("RUN", RUN), text.replace("RUN", RUN)));
    let odd = ODD.map(|(text, shown)| (text.to_owned(), shown.to_owned()));
    let long = ["<img src=x onerror=RUN>&lt;".repeat(2_000)];
    let messages = plain.iter().chain(&odd).map(|(text, _)| text);
    for (number, text) in messages.chain(&long).enumerate() {
        let plural = format!("hostile{number}");
        job.cluster
            .serve(Resource::built_in("hostile.io", "v1", &plural, &plural));
        let path = format!("/apis/hostile.io/v1/{plural}");
        let answer = Fault::Answer(Canned::status(403, "Forbidden", text));
        job.cluster.fault(On::path(&path), answer);
        // The scripted server writes names as they are; these are names in JSON, too.
        if !text.contains(['"', '\\', '\n']) && !text.contains(char::is_control) {
            job.cluster
                .put("endpoints", "default", text, r#""data":{}"#)?;
        }
    }
    let labels = [
        "JOB_NAME",
        "JOB_TYPE",
        "BUILD_ID",
        "REPO_OWNER",
        "REPO_NAME",
    ];
    let labels: Vec<(&str, &str)> = labels
        .into_iter()
        .zip(plain.iter().map(|(text, _)| text.as_str()))
        .collect();
    job.deliver(&job.full(), &Kubeconfig::Good)?;
    let observing = job.observe_with(&labels, &["--listen", "0", "--status-host", "scripted"])?;
    job.await_live(&observing)?;
    let address = observing.page(SURE)?.parse()?;
    // Ready: nothing is behind, so each refusal is known.
    let ready = job.cluster.wait_until("every refusal is known", SURE, |_| {
        let mut client = RawClient::connect(address, SURE).ok()?;
        (client.get("/readyz", &[]).ok()?.status == 200).then_some(())
    });
    ready.with_context(|| observing.log())?;
    let observed = observing.end(SURE)?;
    let summary = observed.text("artifacts", "-summary.txt")?;
    let page = observed.text("artifacts", ".html")?;
    for (text, shown) in plain.iter().chain(&odd) {
        let line = format!("forbidden: {shown}");
        let lines = summary.lines().filter(|found| found.contains(&line));
        ensure!(lines.count() > 0, "{text:?} is not in {summary}");
    }
    for (name, text) in labels {
        ensure!(
            summary.contains(&format!("label       {name}={text}\n")),
            "{name}"
        );
    }
    Ok((job, summary, page))
}

#[test]
fn hostile_words_stay_words_in_every_frame() -> Result<()> {
    if chromium::skipped() {
        return Ok(());
    }
    let (job, summary, page) = observed_hostility()?;
    let harmless = with_text(&page, "nothing to see")?;

    // In the lens.
    let expected = open_in_lens(job.folder.path(), &harmless)?;
    let report = open_in_lens(job.folder.path(), &page)?;
    ensure!(!report.hit, "a script ran");
    assert_eq!(report.title, "deck");
    for (id, frame) in &report.frames {
        let expected = expected.frames.get(id).context("the same frame")?;
        assert_eq!(expected.text, "nothing to see", "{id}");
        assert_eq!(frame.text, summary, "{id}");
        assert_eq!(frame.tags, expected.tags, "{id}");
        assert_eq!(frame.title, "kubereel: recording of the cluster", "{id}");
        ensure!(!frame.is_cut, "{id} is cut");
    }
    assert_eq!(report.frames.len(), 2);

    // Opened directly.
    let file = job.folder.path().join("page.html");
    let open = |page: &str| -> Result<(String, String)> {
        std::fs::write(&file, page)?;
        let document = dump_dom(&file)?;
        let shown = between(&document, "<pre id=\"kubereel-summary\">", "</pre>")?.to_owned();
        let data = between(&document, DATA, "</script>")?.to_owned();
        Ok((document.replace(&data, "").replace(&shown, ""), shown))
    };
    let (expected, _) = open(&harmless)?;
    let (document, shown) = open(&page)?;
    assert_eq!(document, expected);
    ensure!(!shown.contains('<'), "an element: {shown}");
    let shown = shown.replace("&lt;", "<").replace("&gt;", ">");
    let shown = shown.replace("&nbsp;", "\u{a0}").replace("&amp;", "&");
    assert_eq!(shown, summary);
    Ok(())
}

#[test]
fn the_imitated_lens_decodes_references_once_more() -> Result<()> {
    if chromium::skipped() {
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let text = format!("&lt;script&gt;{RUN}&lt;/script&gt;");
    let page = format!("<!DOCTYPE html><title>x</title><pre>{text}</pre>");
    let report = open_in_lens(folder.path(), &page)?;
    ensure!(
        report.hit,
        "the frame does not do what Prow's does: {report:?}"
    );
    let scripts = |id: &str| {
        let frame = report.frames.get(id);
        frame.map(|frame| frame.tags.iter().filter(|tag| *tag == "script").count())
    };
    assert_eq!((scripts("attribute"), scripts("lazy")), (Some(2), Some(1)));
    Ok(())
}
