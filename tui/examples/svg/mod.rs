//! A frame as an SVG picture, for manuals. Each run of letters is as long as its cells, whatever font
//! draws it.

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

/// The width of a cell, in the picture's units.
const WIDE: u32 = 8;
/// The height of a cell.
const HIGH: u32 = 17;
/// What surrounds the cells.
const EDGE: u32 = 10;
/// The terminal's own colours: of letters, and behind them.
const INK: &str = "#d0d4dc";
const PAPER: &str = "#14171c";
/// The 16 colours that every terminal has, as many terminals show them.
const SIXTEEN: [&str; 16] = [
    "#14171c", "#d2605a", "#6fae6f", "#d9b45c", "#5b8fd6", "#b778c9", "#57b3b8", "#c3c8d0",
    "#6b727e", "#f08a80", "#98cf8f", "#f0d58a", "#8ab4f8", "#d7a1e4", "#8ad8dc", "#ffffff",
];

/// What a run of cells looks like.
#[derive(Clone, PartialEq, Eq)]
struct CellStyle {
    ink: String,
    paper: String,
    is_bold: bool,
    is_underlined: bool,
    is_dim: bool,
}

/// Draws a frame.
pub(crate) fn svg(buffer: &Buffer) -> String {
    let (columns, rows) = (u32::from(buffer.area.width), u32::from(buffer.area.height));
    let (width, height) = (columns * WIDE + 2 * EDGE, rows * HIGH + 2 * EDGE);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" font-family=\"ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,monospace\" font-size=\"13\" fill=\"{INK}\" xml:space=\"preserve\">\n<rect width=\"{width}\" height=\"{height}\" rx=\"6\" fill=\"{PAPER}\"/>\n"
    );
    let wide = usize::from(buffer.area.width).max(1);
    for (y, row) in (0_u32..).zip(buffer.content().chunks(wide)) {
        line(row, EDGE + y * HIGH, &mut out);
    }
    out.push_str("</svg>\n");
    out
}

/// Draws a row: first what is behind the letters, then the letters, both in runs.
fn line(row: &[Cell], top: u32, out: &mut String) {
    let mut start = 0_u32;
    for run in row.chunk_by(|one, other| look(one) == look(other)) {
        let cells = count(run);
        if let Some(first) = run.first() {
            draw(run, &look(first), EDGE + start * WIDE, top, out);
        }
        start = start.saturating_add(cells);
    }
}

#[expect(
    clippy::expect_used,
    reason = "the columns of a buffer are counted by a u16"
)]
fn count(cells: &[Cell]) -> u32 {
    u32::try_from(cells.len()).expect("a row has at most 65,535 cells")
}

fn draw(run: &[Cell], look: &CellStyle, left: u32, top: u32, out: &mut String) {
    let width = count(run) * WIDE;
    if look.paper != PAPER {
        let paper = &look.paper;
        rect((left, top, width, HIGH), paper, out);
    }
    let mut at = left;
    for part in run.chunk_by(|one, other| kind(one) == kind(other)) {
        let cells = count(part);
        let long = cells * WIDE;
        match part.first().map(kind) {
            Some(CellShape::Letters) => letters(part, look, at, top, out),
            Some(CellShape::Block(eighths)) => {
                let high = HIGH * eighths / 8;
                // A hairline separates rows of full blocks.
                let high = high.min(HIGH - 1);
                rect((at, top + HIGH - high, long, high), &look.ink, out);
            }
            _ => {}
        }
        at += long;
    }
    if look.is_underlined {
        rect((left, top + HIGH - 1, width, 1), INK, out);
    }
}

#[derive(PartialEq, Eq)]
enum CellShape {
    Blank,
    /// A block, filled from below; in eighths.
    Block(u32),
    Letters,
}

fn kind(cell: &Cell) -> CellShape {
    match cell.symbol() {
        " " | "" => CellShape::Blank,
        "▁" => CellShape::Block(1),
        "▂" => CellShape::Block(2),
        "▃" => CellShape::Block(3),
        "▄" => CellShape::Block(4),
        "▅" => CellShape::Block(5),
        "▆" => CellShape::Block(6),
        "▇" => CellShape::Block(7),
        "█" => CellShape::Block(8),
        _ => CellShape::Letters,
    }
}

fn rect((x, y, width, height): (u32, u32, u32, u32), fill: &str, out: &mut String) {
    out.extend([format!(
        "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\"/>\n"
    )]);
}

fn letters(part: &[Cell], look: &CellStyle, left: u32, top: u32, out: &mut String) {
    let mut text = String::new();
    for letter in part.iter().flat_map(|cell| cell.symbol().chars()) {
        match letter {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            letter => text.push(letter),
        }
    }
    let long = count(part) * WIDE;
    let baseline = top + HIGH - 4;
    let bold = if look.is_bold {
        " font-weight=\"bold\""
    } else {
        ""
    };
    let dim = if look.is_dim { " opacity=\".6\"" } else { "" };
    let ink = if look.ink == INK {
        String::new()
    } else {
        format!(" fill=\"{}\"", look.ink)
    };
    out.extend([format!(
        "<text x=\"{left}\" y=\"{baseline}\" textLength=\"{long}\"{ink}{bold}{dim}>{text}</text>\n"
    )]);
}

fn look(cell: &Cell) -> CellStyle {
    let (mut ink, mut paper) = (shade(cell.fg, INK), shade(cell.bg, PAPER));
    if cell.modifier.contains(Modifier::REVERSED) {
        std::mem::swap(&mut ink, &mut paper);
    }
    CellStyle {
        ink,
        paper,
        is_bold: cell.modifier.contains(Modifier::BOLD),
        is_underlined: cell.modifier.contains(Modifier::UNDERLINED),
        is_dim: cell.modifier.contains(Modifier::DIM),
    }
}

/// Gives a colour as a browser knows it.
fn shade(color: Color, own: &str) -> String {
    let of_sixteen = |at: u8| {
        SIXTEEN
            .get(usize::from(at))
            .copied()
            .unwrap_or(own)
            .to_owned()
    };
    match color {
        Color::Reset => own.to_owned(),
        Color::Black => of_sixteen(0),
        Color::Red => of_sixteen(1),
        Color::Green => of_sixteen(2),
        Color::Yellow => of_sixteen(3),
        Color::Blue => of_sixteen(4),
        Color::Magenta => of_sixteen(5),
        Color::Cyan => of_sixteen(6),
        Color::Gray => of_sixteen(7),
        Color::DarkGray => of_sixteen(8),
        Color::LightRed => of_sixteen(9),
        Color::LightGreen => of_sixteen(10),
        Color::LightYellow => of_sixteen(11),
        Color::LightBlue => of_sixteen(12),
        Color::LightMagenta => of_sixteen(13),
        Color::LightCyan => of_sixteen(14),
        Color::White => of_sixteen(15),
        Color::Rgb(red, green, blue) => format!("#{red:02x}{green:02x}{blue:02x}"),
        Color::Indexed(at @ 0..16) => of_sixteen(at),
        Color::Indexed(at @ 16..232) => {
            // A cube of 6 shades each.
            let at = at - 16;
            let part = |part: u8| if part == 0 { 0 } else { 55 + part * 40 };
            let (red, green, blue) = (part(at / 36), part(at / 6 % 6), part(at % 6));
            format!("#{red:02x}{green:02x}{blue:02x}")
        }
        Color::Indexed(at) => {
            let gray = 8 + (at - 232) * 10;
            format!("#{gray:02x}{gray:02x}{gray:02x}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    #[test]
    fn runs_of_one_style_are_one_text_and_nothing_is_left_open() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 12, 1));
        buffer.set_string(0, 0, "a<b&c", Style::new());
        buffer.set_string(5, 0, "▒▒██", Style::new().fg(Color::Indexed(203)));
        let svg = svg(&buffer);
        assert_eq!(svg.matches("<text").count(), 2, "{svg}");
        assert!(svg.contains(">a&lt;b&amp;c</text>"), "{svg}");
        assert!(svg.contains("fill=\"#ff5f5f\">▒▒</text>"), "{svg}");
        assert!(
            svg.contains("width=\"16\" height=\"16\" fill=\"#ff5f5f\"/>"),
            "{svg}"
        );
        assert!(svg.ends_with("</svg>\n"));
    }
}
