//! Draws the pictures of the README: real frames of the real program on the demo.
//!
//! `pictures FOLDER`: the same reel gives the same bytes.

use kubereel_tui::headless::Headless;
use kubereel_tui::{Depth, Palette, Request, Theme};
use std::error::Error;
use std::path::{Path, PathBuf};

/// A picture: its name, its columns and rows, the keys that lead there.
const PICTURES: [(&str, (u16, u16), &[&str]); 5] = [
    (
        "lanes-120x40",
        (120, 40),
        &[
            "p", "<Down>", "<Down>", "<Down>", "<Down>", "<Down>", "<Down>", "<Enter>",
        ],
    ),
    ("problems-80x24", (80, 24), &["p"]),
    (
        "history-120x40",
        (120, 40),
        &[
            "p", "<Down>", "<Down>", "<Down>", "<Down>", "<Down>", "<Down>", "<Enter>", "i", "H",
        ],
    ),
    ("first-80x24", (80, 24), &["n"]),
    ("small-40x12", (40, 12), &["n"]),
];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).ok_or("usage: pictures FOLDER")?;
    let folder = PathBuf::from(folder);
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/demo.reel");
    for (name, size, keys) in PICTURES {
        let request = Request {
            path: demo.clone(),
            at: None,
            select: None,
            namespace: "default".to_owned(),
            filter: String::new(),
            state_folder: None,
            is_fresh: true,
        };
        let mut program =
            Headless::begin(request, Theme::new(Palette::Dark, Depth::Indexed), size)?;
        program.settle()?;
        for key in keys {
            program.press(key);
            program.wait()?;
            program.settle()?;
        }
        std::fs::write(folder.join(format!("{name}.svg")), program.picture())?;
    }
    Ok(())
}
