//! The README's pictures as a browser draws them: whether their text can be read, and whether the cast moves.

use anyhow::{Context as _, Result, ensure};
use kubereel_tests::chromium::{self, dump_dom};
use std::path::{Path, PathBuf};

/// The least contrast of text, by WCAG 2.2, level AA.
const LEAST: f64 = 4.5;

/// Draws a picture as a page does that shows it, four times as large, and measures each text: the contrast of the
/// commonest colour around it and of that of its pixels which differs most from it.
const MEASURE: &str = r"
const picture = new DOMParser().parseFromString(svg, 'image/svg+xml');
const root = picture.documentElement, scale = 4;
const image = new Image();
const light = (pixels, at) => {
  const part = byte => { byte /= 255; return byte <= 0.04045 ? byte / 12.92 : ((byte + 0.055) / 1.055) ** 2.4 };
  return 0.2126 * part(pixels[at]) + 0.7152 * part(pixels[at + 1]) + 0.0722 * part(pixels[at + 2]);
};
const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
image.onload = () => {
  const canvas = document.createElement('canvas');
  canvas.width = root.getAttribute('width') * scale;
  canvas.height = root.getAttribute('height') * scale;
  const drawing = canvas.getContext('2d', { willReadFrequently: true });
  drawing.drawImage(image, 0, 0, canvas.width, canvas.height);
  let worst = [99, ''], count = 0;
  for (const text of picture.querySelectorAll('text[textLength]')) {
    const [x, y, width] = ['x', 'y', 'textLength'].map(name => Number(text.getAttribute(name)));
    const pixels = drawing.getImageData(x * scale, (y - 12) * scale, width * scale, 16 * scale).data;
    const seen = new Map();
    for (let at = 0; at < pixels.length; at += 4) {
      const ink = light(pixels, at);
      seen.set(ink, (seen.get(ink) || 0) + 1);
    }
    const ground = [...seen].reduce((most, one) => one[1] > most[1] ? one : most)[0];
    const best = Math.max(...[...seen.keys()].map(ink => contrast(ink, ground)));
    // A full block has no ground in its own cell.
    if (seen.size > 1) {
      count += 1;
      if (best < worst[0]) worst = [best, text.textContent];
    }
  }
  document.body.textContent = `worst ${worst[0].toFixed(2)} of ${count}: ${worst[1]} end`;
};
image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(svg);
";

fn pictures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/pictures")
}

fn dom_of(script: &str, svg: &str) -> Result<String> {
    let folder = tempfile::tempdir()?;
    let page = folder.path().join("page.html");
    let svg = serde_json::to_string(svg)?.replace("</", "<\\/");
    let html = format!(
        "<!doctype html><meta charset=utf-8><body><script>const svg = {svg};{script}</script>"
    );
    std::fs::write(&page, html)?;
    dump_dom(&page)
}

/// The lowest contrast of a picture, how many texts were measured, and which is the worst.
fn worst_contrast(svg: &str) -> Result<(f64, usize, String)> {
    let document = dom_of(MEASURE, svg)?;
    let (_, said) = document
        .split_once("<body>worst ")
        .with_context(|| document.clone())?;
    let (worst, rest) = said.split_once(" of ").context("a number")?;
    let (count, rest) = rest.split_once(": ").context("a count")?;
    let (text, _) = rest.split_once(" end").context("a text")?;
    Ok((worst.parse()?, count.parse()?, text.to_owned()))
}

#[test]
fn the_text_of_the_pictures_can_be_read() -> Result<()> {
    if chromium::skipped() {
        return Ok(());
    }
    for name in ["lanes-120x40", "problems-80x24", "small-40x12"] {
        let svg = std::fs::read_to_string(pictures().join(format!("{name}.svg")))?;
        let (worst, count, text) = worst_contrast(&svg)?;
        ensure!(count > 30, "{name}: {count} texts");
        ensure!(worst >= LEAST, "{name}: {worst} for {text:?}");
        // Text without a colour of its own is black where the picture does not say otherwise.
        let black = svg.replacen("fill=\"#d0d4dc\"", "", 1);
        ensure!(black != svg, "{name}: its text has another colour");
        let (worst, ..) = worst_contrast(&black)?;
        ensure!(worst < 2.0, "{name}: black on near-black is {worst}");
    }
    Ok(())
}

#[test]
fn the_cast_moves_and_begins_with_its_first_frame() -> Result<()> {
    if chromium::skipped() {
        return Ok(());
    }
    let svg = std::fs::read_to_string(pictures().join("cast.svg"))?;
    let frames = svg.matches("<g id=").count();
    ensure!(frames > 5, "{frames} frames");
    let script = "document.body.innerHTML = svg;\
        const frames = [...document.querySelectorAll('g')];\
        const shown = frames.filter(one => getComputedStyle(one).visibility === 'visible').map(one => one.id);\
        document.body.textContent = `${document.getAnimations().length} run, ${shown} shown`;";
    let document = dom_of(script, &svg)?;
    let expected = format!("<body>{frames} run, f0 shown");
    ensure!(document.contains(&expected), "{document}");
    Ok(())
}
