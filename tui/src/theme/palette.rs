//! Owns which colours states and parts have, by what somebody chose. Refuses to know the terminal.

use super::depth::Rgb;
use crate::lane::LaneState;
use ratatui::style::Color;

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

/// A color, and the one of 16 that stands for it.
pub(super) type Shade = (Rgb, Color);

impl Palette {
    /// Gives the color of a state.
    ///
    /// Those of operators are the ones of openshift-tests' timeline, made readable: unavailable is red,
    /// degraded orange, progressing yellow. Of 16 colours those are taken that every terminal tells apart.
    pub(super) const fn state(self, state: LaneState) -> Shade {
        use LaneState::{Absent, Bad, Changing, Down, Good, Unknown};
        match (self, state) {
            (Self::Dark | Self::Mono, Good) => ((86, 176, 110), Color::Green),
            (Self::Dark | Self::Mono, Changing) => ((250, 218, 94), Color::Blue),
            (Self::Dark | Self::Mono, Bad) => ((255, 165, 0), Color::Red),
            (Self::Dark | Self::Mono, Down) => ((255, 95, 95), Color::Magenta),
            (Self::Dark | Self::Mono, Unknown) => ((175, 160, 225), Color::Yellow),
            (Self::Dark | Self::ColorBlind | Self::Mono, Absent) => {
                ((138, 138, 138), Color::DarkGray)
            }
            (Self::Light, Good) => ((0, 110, 40), Color::Green),
            (Self::Light, Changing) => ((110, 88, 0), Color::Blue),
            (Self::Light, Bad) => ((170, 78, 0), Color::Red),
            (Self::Light, Down) => ((175, 0, 0), Color::Magenta),
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
    pub(super) const fn node_update(self) -> Shade {
        match self {
            Self::Light => ((0, 85, 175), Color::Blue),
            Self::ColorBlind => self.state(LaneState::Changing),
            Self::Dark | Self::Mono => ((110, 170, 255), Color::Blue),
        }
    }

    /// Gives the color of what can be passed over.
    pub(super) const fn faint(self) -> Shade {
        match self {
            Self::Light => ((90, 90, 90), Color::DarkGray),
            _ => ((148, 148, 148), Color::DarkGray),
        }
    }

    /// Gives the color of heads.
    pub(super) const fn head(self) -> Shade {
        match self {
            Self::Light => ((0, 95, 115), Color::Cyan),
            _ => ((95, 205, 215), Color::Cyan),
        }
    }

    /// Gives the color of counts.
    pub(super) const fn density(self) -> Shade {
        match self {
            Self::Light => ((0, 95, 135), Color::Cyan),
            _ => ((95, 175, 215), Color::Cyan),
        }
    }

    /// Gives the colours of a stage, its letters and what is behind them; every other one differs.
    pub(super) const fn stage(self, is_odd: bool) -> (Shade, Shade) {
        let (black, white) = (((0, 0, 0), Color::Black), ((255, 255, 255), Color::White));
        match (self, is_odd) {
            (Self::Light, true) => (white, ((0, 95, 135), Color::Blue)),
            (Self::Light, false) => (white, ((88, 88, 88), Color::DarkGray)),
            (_, true) => (black, ((95, 175, 175), Color::Cyan)),
            (_, false) => (black, ((168, 168, 168), Color::Gray)),
        }
    }
}
