//! Colours: the style of each state and part of the screen, in as many colours as the terminal has.

use crate::answer::Ink;
use crate::lane::LaneState;
use ratatui::style::{Color, Modifier, Style};

/// Which colours are used, and how many of them the terminal shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Theme {
    palette: Palette,
    depth: Depth,
}

/// A part of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StyleRole {
    /// Text.
    Plain,
    /// What can be passed over.
    Faint,
    /// What matters.
    Strong,
    /// The head of a group or table.
    Head,
    /// The row that is chosen.
    Chosen,
    /// The cursor.
    Cursor,
    /// The span of time that is selected.
    Picked,
    /// Nodes and pools that are being updated.
    NodeUpdate,
    /// How many events there were.
    Density,
    /// A stage of the cluster's life; every other one differs.
    Stage(bool),
    /// The bars at the top and at the bottom.
    Bar,
}

impl Theme {
    /// Makes a theme.
    pub const fn new(palette: Palette, depth: Depth) -> Self {
        Self { palette, depth }
    }

    /// Decides by the option and the terminal's variables.
    pub fn told(asked: Option<Palette>, says: impl Fn(&str) -> String) -> Self {
        let is_plain = !says("NO_COLOR").is_empty() || says("TERM") == "dumb";
        let palette = match asked {
            Some(palette) => palette,
            None if is_plain => Palette::Mono,
            None => Palette::Dark,
        };
        Self::new(palette, Depth::told(says))
    }

    /// Gives the theme with other colours, as many as the terminal has.
    pub(crate) const fn with(self, palette: Palette) -> Self {
        Self::new(palette, self.depth)
    }

    fn is_mono(self) -> bool {
        self.palette == Palette::Mono
    }

    fn color(self, (rgb, of_sixteen): Shade) -> Color {
        self.depth.color(rgb, of_sixteen)
    }

    /// Gives a style of a color; without colours, none.
    fn colored(self, shade: Shade) -> Style {
        if self.is_mono() {
            Style::new()
        } else {
            Style::new().fg(self.color(shade))
        }
    }

    /// Gives the style of a state.
    pub(crate) fn state(self, state: LaneState) -> Style {
        let style = self.colored(self.palette.state(state));
        match state {
            LaneState::Down => style.add_modifier(Modifier::BOLD),
            LaneState::Absent if self.is_mono() => style.add_modifier(Modifier::DIM),
            _ => style,
        }
    }

    /// Gives the style of a part of the screen.
    pub(crate) fn role(self, role: StyleRole) -> Style {
        let plain = Style::new();
        match role {
            StyleRole::Plain => plain,
            StyleRole::Faint if self.is_mono() => plain.add_modifier(Modifier::DIM),
            StyleRole::Faint => self.colored(self.palette.faint()),
            StyleRole::Strong | StyleRole::Chosen => plain.add_modifier(Modifier::BOLD),
            StyleRole::Head => self
                .colored(self.palette.head())
                .add_modifier(Modifier::BOLD),
            StyleRole::Picked => plain.add_modifier(Modifier::UNDERLINED | Modifier::BOLD),
            StyleRole::Cursor | StyleRole::Bar => plain.add_modifier(Modifier::REVERSED),
            StyleRole::NodeUpdate => self.colored(self.palette.node_update()),
            StyleRole::Density => self.colored(self.palette.density()),
            StyleRole::Stage(true) if self.is_mono() => plain.add_modifier(Modifier::REVERSED),
            StyleRole::Stage(false) if self.is_mono() => plain,
            StyleRole::Stage(is_odd) => {
                let (letters, behind) = self.palette.stage(is_odd);
                plain.fg(self.color(letters)).bg(self.color(behind))
            }
        }
    }

    /// Gives the style of a part of a line.
    pub(crate) fn ink(self, ink: Ink) -> Style {
        match ink {
            Ink::Plain => self.role(StyleRole::Plain),
            Ink::Faint | Ink::Gone => self.role(StyleRole::Faint),
            Ink::Strong => self.role(StyleRole::Strong),
            Ink::Changed => self.role(StyleRole::Density).add_modifier(Modifier::BOLD),
            Ink::Good => self.state(LaneState::Good),
            Ink::Bad => self.state(LaneState::Bad).add_modifier(Modifier::BOLD),
            Ink::Wary => self.state(LaneState::Unknown),
            Ink::Found => self.role(StyleRole::Cursor),
        }
    }
}

/// Which colours are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Palette {
    /// Bright on a dark terminal.
    #[default]
    Dark,
    /// Dark on a bright terminal.
    Light,
    /// Blue and orange instead of green and red, on a dark terminal.
    ColorBlind,
    /// No colour at all.
    Mono,
}

impl Palette {
    /// Every one, with its name.
    pub(crate) const ALL: [(Self, &'static str); 4] = [
        (Self::Dark, "dark"),
        (Self::Light, "light"),
        (Self::ColorBlind, "color-blind"),
        (Self::Mono, "mono"),
    ];
}

/// A color, and the one of 16 that stands for it.
type Shade = (Rgb, Color);

impl Palette {
    /// Gives the color of a state.
    ///
    /// Green is well and red is bad, of lanes and of values alike; what does not work at all is magenta, what
    /// changes yellow. Of 16 colours those are taken that every terminal tells apart.
    const fn state(self, state: LaneState) -> Shade {
        use LaneState::{Absent, Bad, Changing, Down, Good, Unknown};
        match (self, state) {
            (Self::Dark | Self::Mono, Good) => ((86, 176, 110), Color::Green),
            (Self::Dark | Self::Mono, Changing) => ((250, 218, 94), Color::Blue),
            (Self::Dark | Self::Mono, Bad) => ((255, 110, 90), Color::Red),
            (Self::Dark | Self::Mono, Down) => ((255, 95, 175), Color::Magenta),
            (Self::Dark | Self::Mono, Unknown) => ((175, 160, 225), Color::Yellow),
            (Self::Dark | Self::ColorBlind | Self::Mono, Absent) => {
                ((138, 138, 138), Color::DarkGray)
            }
            (Self::Light, Good) => ((0, 110, 40), Color::Green),
            (Self::Light, Changing) => ((110, 88, 0), Color::Blue),
            (Self::Light, Bad) => ((175, 0, 0), Color::Red),
            (Self::Light, Down) => ((140, 0, 120), Color::Magenta),
            (Self::Light, Unknown) => ((95, 60, 175), Color::Yellow),
            (Self::Light, Absent) => ((108, 108, 108), Color::DarkGray),
            (Self::ColorBlind, Good) => ((86, 160, 233), Color::LightBlue),
            (Self::ColorBlind, Changing) => ((175, 205, 225), Color::Cyan),
            (Self::ColorBlind, Bad) => ((230, 159, 0), Color::Yellow),
            (Self::ColorBlind, Down) => ((240, 120, 60), Color::LightRed),
            (Self::ColorBlind, Unknown) => ((240, 228, 66), Color::White),
        }
    }

    /// Gives the color of nodes and pools that are being updated: blue, as in openshift-tests' timeline.
    const fn node_update(self) -> Shade {
        match self {
            Self::Light => ((0, 85, 175), Color::Blue),
            Self::ColorBlind => self.state(LaneState::Changing),
            Self::Dark | Self::Mono => ((110, 170, 255), Color::Blue),
        }
    }

    /// Gives the color of what can be passed over.
    const fn faint(self) -> Shade {
        match self {
            Self::Light => ((90, 90, 90), Color::DarkGray),
            _ => ((148, 148, 148), Color::DarkGray),
        }
    }

    /// Gives the color of heads.
    const fn head(self) -> Shade {
        match self {
            Self::Light => ((0, 95, 115), Color::Cyan),
            _ => ((95, 205, 215), Color::Cyan),
        }
    }

    /// Gives the color of counts.
    const fn density(self) -> Shade {
        match self {
            Self::Light => ((0, 95, 135), Color::Cyan),
            _ => ((95, 175, 215), Color::Cyan),
        }
    }

    /// Gives the colours of a stage, its letters and what is behind them; every other one differs.
    const fn stage(self, is_odd: bool) -> (Shade, Shade) {
        let (black, white) = (((0, 0, 0), Color::Black), ((255, 255, 255), Color::White));
        match (self, is_odd) {
            (Self::Light, true) => (white, ((0, 95, 135), Color::Blue)),
            (Self::Light, false) => (white, ((88, 88, 88), Color::DarkGray)),
            (_, true) => (black, ((95, 175, 175), Color::Cyan)),
            (_, false) => (black, ((168, 168, 168), Color::Gray)),
        }
    }
}

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
type Rgb = (u8, u8, u8);

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
    fn color(self, rgb: Rgb, of_sixteen: Color) -> Color {
        match self {
            Self::Sixteen => of_sixteen,
            Self::Indexed => Color::Indexed(nearest(rgb)),
            Self::True => Color::Rgb(rgb.0, rgb.1, rgb.2),
        }
    }
}

/// The number of the first colour of the cube, and of the first grey.
const CUBE: u8 = 16;
const GREYS: u8 = 232;

/// Gives the number of the nearest of xterm's colours that look the same everywhere: of a cube and of greys.
fn nearest(rgb: Rgb) -> u8 {
    // Each part is nearest by itself, and a grey is as far as it is from the mean.
    let step = |part: u8| {
        let steps = (0_u8..).zip(STEPS);
        let nearest = steps.min_by_key(|(_, step)| step.abs_diff(part));
        nearest.unwrap_or_default()
    };
    let (red, green, blue) = (step(rgb.0), step(rgb.1), step(rgb.2));
    let in_cube = (
        CUBE + 36 * red.0 + 6 * green.0 + blue.0,
        (red.1, green.1, blue.1),
    );
    let sum = u16::from(rgb.0) + u16::from(rgb.1) + u16::from(rgb.2);
    let greys = (GREYS..=u8::MAX).zip((8_u8..).step_by(10));
    let grey = greys.min_by_key(|(_, level)| (3 * u16::from(*level)).abs_diff(sum));
    let grey = grey.map(|(number, level)| (number, (level, level, level)));
    let apart = |own: Rgb| {
        [(own.0, rgb.0), (own.1, rgb.1), (own.2, rgb.2)]
            .into_iter()
            .map(|(one, other)| u32::from(one.abs_diff(other)).pow(2))
            .sum::<u32>()
    };
    let both = [in_cube].into_iter().chain(grey);
    both.min_by_key(|(_, own)| apart(*own))
        .map_or(15, |(number, _)| number)
}

/// Gives the colours of xterm that look the same everywhere, with their numbers.
#[cfg(test)]
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
    (CUBE..=255).zip(cube.chain(greys))
}

/// Gives what a number of xterm's colours looks like.
#[cfg(test)]
fn looks(number: u8) -> Option<Rgb> {
    xterm().find(|(own, _)| *own == number).map(|(_, rgb)| rgb)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::{Rgb, looks};

    /// The darkest and the brightest of what is behind a palette, and how much text has to differ.
    const BEHIND: [(Palette, &[Rgb]); 3] = [
        (Palette::Dark, &[(0, 0, 0), (30, 30, 30)]),
        (Palette::ColorBlind, &[(0, 0, 0), (30, 30, 30)]),
        (Palette::Light, &[(255, 255, 255)]),
    ];
    const TEXT: f64 = 4.5;

    fn rgb(color: Color) -> Rgb {
        match color {
            Color::Rgb(red, green, blue) => (red, green, blue),
            Color::Indexed(number) => looks(number).expect("one that looks the same everywhere"),
            other => panic!("{other:?} looks as the user likes"),
        }
    }

    /// The relative luminance of WCAG 2.
    fn luminance((red, green, blue): Rgb) -> f64 {
        let linear = |part: u8| {
            let part = f64::from(part) / 255.0;
            if part <= 0.040_45 {
                part / 12.92
            } else {
                ((part + 0.055) / 1.055).powf(2.4)
            }
        };
        linear(red).mul_add(0.2126, linear(green).mul_add(0.7152, linear(blue) * 0.0722))
    }

    fn contrast(one: Rgb, other: Rgb) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn the_nearest_color_is_that_of_all() {
        let parts = || (0..=u8::MAX).step_by(15);
        let colors = parts().flat_map(|red| {
            parts().flat_map(move |green| parts().map(move |blue| (red, green, blue)))
        });
        for rgb in colors {
            let apart = |own: Rgb| {
                let parts = [(own.0, rgb.0), (own.1, rgb.1), (own.2, rgb.2)];
                let squares = parts.map(|(one, other)| u32::from(one.abs_diff(other)).pow(2));
                squares.iter().sum::<u32>()
            };
            let expected = xterm().min_by_key(|(_, own)| apart(*own));
            assert_eq!(
                Some(nearest(rgb)),
                expected.map(|(number, _)| number),
                "{rgb:?}"
            );
        }
    }

    #[test]
    fn contrast_is_that_of_wcag() {
        assert!((contrast((0, 0, 0), (255, 255, 255)) - 21.0).abs() < 0.001);
        assert!((contrast((118, 118, 118), (255, 255, 255)) - 4.54).abs() < 0.01);
    }

    #[test]
    fn every_color_can_be_read() {
        for (palette, behind) in BEHIND {
            for depth in [Depth::Indexed, Depth::True] {
                let theme = Theme::new(palette, depth);
                let roles = [
                    StyleRole::Faint,
                    StyleRole::Head,
                    StyleRole::Density,
                    StyleRole::NodeUpdate,
                ];
                let roles = roles.map(|role| theme.role(role));
                // States are bars, and words, too: they have to be as readable as text.
                let states = LaneState::ALL.map(|state| theme.state(state));
                for style in roles.into_iter().chain(states) {
                    let own = rgb(style.fg.expect("a color"));
                    for behind in behind {
                        let found = contrast(own, *behind);
                        assert!(
                            found >= TEXT,
                            "{palette:?} {depth:?} {own:?} on {behind:?}: {found}"
                        );
                    }
                }
                for stage in [true, false].map(|is_odd| theme.role(StyleRole::Stage(is_odd))) {
                    let (own, behind) = (stage.fg.map(rgb), stage.bg.map(rgb));
                    let found = contrast(own.expect("letters"), behind.expect("a band"));
                    assert!(found >= TEXT, "{palette:?} {depth:?} {stage:?}: {found}");
                }
            }
        }
    }

    #[test]
    fn states_differ_in_every_palette() {
        for (palette, _) in BEHIND {
            for depth in [Depth::Sixteen, Depth::Indexed, Depth::True] {
                let theme = Theme::new(palette, depth);
                let styles = LaneState::ALL.map(|state| theme.state(state));
                for (at, style) in styles.iter().enumerate() {
                    assert!(
                        !styles[at + 1..].contains(style),
                        "{palette:?} {depth:?} {style:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn without_colours_there_are_none() {
        let says = |name: &str| match name {
            "NO_COLOR" => "1".to_owned(),
            "COLORTERM" => "truecolor".to_owned(),
            _ => String::new(),
        };
        let mono = Theme::told(None, says);
        let roles = [
            StyleRole::Head,
            StyleRole::Density,
            StyleRole::Stage(true),
            StyleRole::Faint,
        ];
        let styles = roles.map(|role| mono.role(role));
        let states = LaneState::ALL.map(|state| mono.state(state));
        for style in styles.into_iter().chain(states) {
            assert_eq!((style.fg, style.bg), (None, None), "{style:?}");
        }
        let asked = Theme::told(Some(Palette::Light), says);
        assert_eq!(asked, Theme::new(Palette::Light, Depth::True));
    }

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
