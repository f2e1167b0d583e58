//! Owns the style of each state and part of the screen. Refuses to carry meaning alone: every state has
//! a sign, too.

use super::depth::Depth;
use super::palette::{Palette, Shade};
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
pub(crate) enum Role {
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

    /// Decides by what somebody asked for and what the terminal's variables say.
    pub fn told(asked: Option<Palette>, says: impl Fn(&str) -> String) -> Self {
        let is_plain = !says("NO_COLOR").is_empty() || says("TERM") == "dumb";
        let palette = match asked {
            Some(palette) => palette,
            None if is_plain => Palette::Mono,
            None => Palette::Dark,
        };
        Self::new(palette, Depth::told(says))
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
    pub(crate) fn role(self, role: Role) -> Style {
        let plain = Style::new();
        match role {
            Role::Plain => plain,
            Role::Faint if self.is_mono() => plain.add_modifier(Modifier::DIM),
            Role::Faint => self.colored(self.palette.faint()),
            Role::Strong | Role::Chosen => plain.add_modifier(Modifier::BOLD),
            Role::Head => self
                .colored(self.palette.head())
                .add_modifier(Modifier::BOLD),
            Role::Picked => plain.add_modifier(Modifier::UNDERLINED | Modifier::BOLD),
            Role::Cursor | Role::Bar => plain.add_modifier(Modifier::REVERSED),
            Role::NodeUpdate => self.colored(self.palette.node_update()),
            Role::Density => self.colored(self.palette.density()),
            Role::Stage(true) if self.is_mono() => plain.add_modifier(Modifier::REVERSED),
            Role::Stage(false) if self.is_mono() => plain,
            Role::Stage(is_odd) => {
                let (letters, behind) = self.palette.stage(is_odd);
                plain.fg(self.color(letters)).bg(self.color(behind))
            }
        }
    }

    /// Gives the style of a part of a line.
    pub(crate) fn ink(self, ink: Ink) -> Style {
        match ink {
            Ink::Plain => self.role(Role::Plain),
            Ink::Faint => self.role(Role::Faint),
            Ink::Strong => self.role(Role::Strong),
            Ink::Changed => self.state(LaneState::Good).add_modifier(Modifier::BOLD),
            Ink::Gone => self.state(LaneState::Bad),
            Ink::Wary => self.state(LaneState::Unknown),
            Ink::Found => self.role(Role::Cursor),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::depth::{Rgb, looks};
    use super::*;

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
    fn contrast_is_that_of_wcag() {
        assert!((contrast((0, 0, 0), (255, 255, 255)) - 21.0).abs() < 0.001);
        assert!((contrast((118, 118, 118), (255, 255, 255)) - 4.54).abs() < 0.01);
    }

    #[test]
    fn every_color_can_be_read() {
        for (palette, behind) in BEHIND {
            for depth in [Depth::Indexed, Depth::True] {
                let theme = Theme::new(palette, depth);
                let roles = [Role::Faint, Role::Head, Role::Density, Role::NodeUpdate];
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
                for stage in [true, false].map(|is_odd| theme.role(Role::Stage(is_odd))) {
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
        let roles = [Role::Head, Role::Density, Role::Stage(true), Role::Faint];
        let styles = roles.map(|role| mono.role(role));
        let states = LaneState::ALL.map(|state| mono.state(state));
        for style in styles.into_iter().chain(states) {
            assert_eq!((style.fg, style.bg), (None, None), "{style:?}");
        }
        let asked = Theme::told(Some(Palette::Light), says);
        assert_eq!(asked, Theme::new(Palette::Light, Depth::True));
    }
}
