//! Draws the animated picture of the README: the real program on the demo, one frame a key.
//!
//! `cast FILE KUBEREEL`: the program judges the reel; the same reel gives the same bytes.

mod svg;

use kubereel_tui::headless::Headless;
use kubereel_tui::{Depth, Executable, Palette, Theme, TuiRequest};
use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use svg::svg;

/// Columns and rows.
const SIZE: (u16, u16) = (120, 36);

/// How long a frame stands.
const FRAME_SECS: f64 = 1.6;

/// What is pressed, and what for.
const STEPS: [(&str, &str); 10] = [
    ("p", "p: what went wrong"),
    ("<Down>", "down: the next problem"),
    ("<Down>", "down: the next problem"),
    ("<Enter>", "enter: the lanes at that moment"),
    ("c", "c: the object's next change"),
    ("c", "c: the object's next change"),
    ("t", "t: the lane's next transition"),
    ("H", "H: the changed fields of each version"),
    ("E", "E: the Events about the object"),
    ("O", "O: its owners and dependents"),
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(file), Some(path)) = (args.next(), args.next()) else {
        return Err("usage: cast FILE KUBEREEL".into());
    };
    let request = TuiRequest {
        path: Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/demo.reel"),
        file: None,
        damage: None,
        copies: None,
        at: None,
        select: None,
        namespace: "default".to_owned(),
        filter: String::new(),
        state_folder: None,
        zone: None,
        local_zone: None,
        is_fresh: true,
    };
    let executable = Executable { path, cache: None };
    let theme = Theme::new(Palette::Dark, Depth::Indexed);
    let mut program = Headless::begin(request, theme, Some(executable), SIZE)?;
    program.settle_judged()?;
    let mut frames = vec![("kubereel run.reel", svg(&program.screen()))];
    for (key, words) in STEPS {
        program.press(key);
        program.wait()?;
        program.settle()?;
        frames.push((words, svg(&program.screen())));
    }
    std::fs::write(file, animated(&frames)?)?;
    Ok(())
}

/// Joins pictures of one size to one that shows them in turn, each with its words below it. Where nothing moves, the
/// first one stands.
fn animated(frames: &[(&str, String)]) -> Result<String, Box<dyn Error>> {
    let (_, first) = frames.first().ok_or("no frame")?;
    let (open, _) = first.split_once(">\n").ok_or("no picture")?;
    let number = |name: &str| {
        let (_, rest) = open.split_once(&format!(" {name}=\""))?;
        rest.split('"').next()?.parse::<u32>().ok()
    };
    let (width, height) = number("width").zip(number("height")).ok_or("no size")?;
    let whole = height + 24;
    let open = open
        .replace(
            &format!("0 0 {width} {height}"),
            &format!("0 0 {width} {whole}"),
        )
        .replace(
            &format!("height=\"{height}\""),
            &format!("height=\"{whole}\""),
        );
    let count = f64::from(u32::try_from(frames.len())?);
    let (secs, share) = (count * FRAME_SECS, 100.0 / count);
    let mut svg = format!(
        "{open}>\n<style>g{{visibility:hidden}}#f0{{visibility:visible}}\
         @media (prefers-reduced-motion:no-preference){{g{{animation:f {secs:.1}s step-end infinite}}\
         #f0{{visibility:hidden}}}}\
         @keyframes f{{0%{{visibility:visible}}{share:.3}%{{visibility:hidden}}}}</style>\n\
         <rect width=\"{width}\" height=\"{whole}\" rx=\"6\" fill=\"#14171c\"/>\n"
    );
    for (at, (words, picture)) in frames.iter().enumerate() {
        let (_, inner) = picture.split_once(">\n").ok_or("no picture")?;
        let inner = inner.trim_end().trim_end_matches("</svg>");
        let delay = f64::from(u32::try_from(at)?) * FRAME_SECS;
        writeln!(
            svg,
            "<g id=\"f{at}\" style=\"animation-delay:{delay:.1}s\">\n{inner}\
             <text x=\"10\" y=\"{}\" font-weight=\"bold\">{words}</text>\n</g>",
            height + 12
        )?;
    }
    svg.push_str("</svg>\n");
    Ok(svg)
}
