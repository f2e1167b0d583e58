//! Owns colours: what each state and part of the screen looks like, with as many colours as the
//! terminal has. Refuses to carry meaning alone: every state has a sign, too.

use crate::answer::Ink;
use crate::lane::LaneState;
use ratatui::style::{Color, Modifier, Style};

/// Which colours are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Bright on a dark terminal, with the 16 colours that every terminal has.
    #[default]
    Dark,
    /// Bright on a dark terminal, with 256 colours.
    Dark256,
    /// Dark on a bright terminal, with 256 colours.
    Light,
    /// Blue and orange instead of green and red, with 256 colours.
    ColorBlind,
    /// No colour at all.
    Mono,
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
    /// How many events there were.
    Density,
    /// A stage of the cluster's life; every other one differs.
    Stage(bool),
    /// The bars at the top and at the bottom.
    Bar,
}

impl Theme {
    /// Gives the style of a state.
    pub(crate) fn state(self, state: LaneState) -> Style {
        use LaneState::{Absent, Bad, Changing, Down, Good, Unknown};
        let indexed = |[good, changing, bad, down, unknown]: [u8; 5]| match state {
            Good => Color::Indexed(good),
            Changing => Color::Indexed(changing),
            Bad => Color::Indexed(bad),
            Down => Color::Indexed(down),
            Unknown => Color::Indexed(unknown),
            Absent => Color::DarkGray,
        };
        let color = match self {
            Self::Mono => Color::Reset,
            Self::Dark => match state {
                Good => Color::Green,
                Changing => Color::Blue,
                Bad => Color::Red,
                Down => Color::Magenta,
                Unknown => Color::Yellow,
                Absent => Color::DarkGray,
            },
            Self::Dark256 => indexed([71, 68, 203, 199, 221]),
            Self::Light => indexed([28, 25, 160, 127, 136]),
            Self::ColorBlind => indexed([33, 110, 208, 202, 228]),
        };
        let style = Style::new().fg(color);
        match state {
            Down => style.add_modifier(Modifier::BOLD),
            Absent if self == Self::Mono => style.add_modifier(Modifier::DIM),
            _ => style,
        }
    }

    /// Gives the style of a part of the screen.
    pub(crate) fn role(self, role: Role) -> Style {
        let plain = Style::new();
        let is_mono = self == Self::Mono;
        let colored = |color: Color| if is_mono { plain } else { plain.fg(color) };
        match role {
            Role::Plain => plain,
            Role::Faint if is_mono => plain.add_modifier(Modifier::DIM),
            Role::Faint if self == Self::Dark => plain.fg(Color::DarkGray),
            Role::Faint => plain.fg(Color::Indexed(if self == Self::Light { 242 } else { 245 })),
            Role::Strong | Role::Chosen => plain.add_modifier(Modifier::BOLD),
            Role::Head => colored(Color::Cyan).add_modifier(Modifier::BOLD),
            Role::Picked => plain
                .add_modifier(Modifier::UNDERLINED)
                .add_modifier(Modifier::BOLD),
            Role::Cursor | Role::Bar => plain.add_modifier(Modifier::REVERSED),
            Role::Density => colored(Color::Cyan),
            Role::Stage(true) if is_mono => plain.add_modifier(Modifier::REVERSED),
            Role::Stage(false) if is_mono => plain,
            Role::Stage(true) => plain.fg(Color::Black).bg(Color::Cyan),
            Role::Stage(false) => plain.fg(Color::Black).bg(Color::Gray),
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
        }
    }
}
