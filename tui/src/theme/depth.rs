//! Owns how many colours a terminal shows, and which of its own comes nearest to one. Refuses to ask the
//! terminal: its variables tell.

use ratatui::style::Color;

/// How many colours a terminal shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Depth {
    /// The 16 that every terminal has; what they look like is the user's choice.
    #[default]
    Sixteen,
    /// The 256 of xterm.
    Indexed,
    /// All.
    True,
}

/// Red, green and blue.
pub(super) type Rgb = (u8, u8, u8);

/// The steps of each part in the cube of xterm's colours.
const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];

impl Depth {
    /// Reads it from what a terminal says of itself.
    pub fn told(says: impl Fn(&str) -> String) -> Self {
        let color = says("COLORTERM");
        if color == "truecolor" || color == "24bit" {
            Self::True
        } else if says("TERM").contains("256color") || !color.is_empty() {
            Self::Indexed
        } else {
            Self::Sixteen
        }
    }

    /// Gives the terminal's color for one; of 16 colours the one that is named.
    pub(super) fn color(self, rgb: Rgb, of_sixteen: Color) -> Color {
        match self {
            Self::Sixteen => of_sixteen,
            Self::Indexed => Color::Indexed(nearest(rgb)),
            Self::True => Color::Rgb(rgb.0, rgb.1, rgb.2),
        }
    }
}

/// Gives the colours of xterm that look the same everywhere, with their numbers: a cube and greys.
fn xterm() -> impl Iterator<Item = (u8, Rgb)> {
    let cube = STEPS.into_iter().flat_map(|red| {
        STEPS
            .into_iter()
            .flat_map(move |green| STEPS.into_iter().map(move |blue| (red, green, blue)))
    });
    let greys = (0_u8..24).map(|grey| {
        let level = 8 + grey * 10;
        (level, level, level)
    });
    (16_u8..=255).zip(cube.chain(greys))
}

/// Gives the number of the nearest of xterm's colours.
fn nearest(rgb: Rgb) -> u8 {
    let apart = |own: Rgb| {
        [(own.0, rgb.0), (own.1, rgb.1), (own.2, rgb.2)]
            .into_iter()
            .map(|(one, other)| u32::from(one.abs_diff(other)).pow(2))
            .sum::<u32>()
    };
    xterm()
        .min_by_key(|(_, own)| apart(*own))
        .map_or(15, |(number, _)| number)
}

/// Gives what a number of xterm's colours looks like.
#[cfg(test)]
pub(super) fn looks(number: u8) -> Option<Rgb> {
    xterm().find(|(own, _)| *own == number).map(|(_, rgb)| rgb)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_terminal_tells_its_depth() {
        let told = |color: &str, term: &str| {
            Depth::told(|name| match name {
                "COLORTERM" => color.to_owned(),
                "TERM" => term.to_owned(),
                other => panic!("{other} was asked for"),
            })
        };
        assert_eq!(told("truecolor", "xterm"), Depth::True);
        assert_eq!(told("24bit", "xterm-256color"), Depth::True);
        assert_eq!(told("", "tmux-256color"), Depth::Indexed);
        assert_eq!(told("yes", "xterm"), Depth::Indexed);
        assert_eq!(told("", "xterm"), Depth::Sixteen);
        assert_eq!(told("", ""), Depth::Sixteen);
    }

    #[test]
    fn the_nearest_color_is_found() {
        assert_eq!(nearest((255, 0, 0)), 196);
        assert_eq!(nearest((0, 95, 135)), 24);
        assert_eq!(nearest((138, 138, 138)), 245);
        assert!(
            (16..=255).all(|number| looks(number).map(nearest).and_then(looks) == looks(number))
        );
    }
}
