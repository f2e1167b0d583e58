//! Draws the pictures of the README: real frames of the real program on the demo.
//!
//! `pictures FOLDER KUBEREEL`: the program judges the reel; the same reel gives the same bytes.

mod svg;

use kubereel_tui::headless::Headless;
use kubereel_tui::{Depth, Executable, Palette, Theme, TuiRequest};
use std::error::Error;
use std::path::{Path, PathBuf};
use svg::svg;

/// A picture: its name, its columns and rows, the keys that lead there from the first screen.
const PICTURES: [(&str, (u16, u16), &[&str]); 5] = [
    ("lanes-120x40", (120, 40), &["<Down>", "<Down>", "<Enter>"]),
    ("problems-80x24", (80, 24), &[]),
    (
        "history-120x40",
        (120, 40),
        &["<Down>", "<Down>", "<Enter>", "i", "H"],
    ),
    ("first-80x24", (80, 24), &["<Enter>"]),
    ("small-40x12", (40, 12), &["<Enter>"]),
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(folder), Some(path)) = (args.next(), args.next()) else {
        return Err("usage: pictures FOLDER KUBEREEL".into());
    };
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/demo.reel");
    for (name, size, keys) in PICTURES {
        let request = TuiRequest {
            path: demo.clone(),
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
        let executable = Executable {
            path: path.clone(),
            cache: None,
        };
        let theme = Theme::new(Palette::Dark, Depth::Indexed);
        let mut program = Headless::begin(request, theme, Some(executable), size)?;
        program.settle_judged()?;
        for key in keys {
            program.press(key);
            program.wait()?;
            program.settle()?;
        }
        std::fs::write(folder.join(format!("{name}.svg")), svg(&program.screen()))?;
    }
    Ok(())
}
