//! Owns what the terminal's events mean as messages. Refuses meaning of keys: `keymap` has that.

use crate::keymap::{self, Key};
use crate::model::Screen;
use crate::msg::{Msg, Way};
use crossterm::event::{
    Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};

/// Gives the message that an event is, on a screen.
pub(super) fn msg(event: &Event, screen: &Screen) -> Option<Msg> {
    match event {
        Event::Resize(width, height) => Some(Msg::Resized(*width, *height)),
        Event::Key(key) if key.kind != KeyEventKind::Release => {
            let own = own(*key)?;
            match (keymap::act(own, screen), own) {
                (Some(act), _) => Some(Msg::Act(act)),
                (None, Key::Char(letter)) => Some(Msg::Letter(letter)),
                (None, _) => None,
            }
        }
        Event::Mouse(mouse) => {
            let (x, y) = (mouse.column, mouse.row);
            match mouse.kind {
                MouseEventKind::Down(_) if is_pull(*mouse) => Some(Msg::Pulled(x, y, true)),
                MouseEventKind::Drag(_) if is_pull(*mouse) => Some(Msg::Pulled(x, y, false)),
                MouseEventKind::Down(MouseButton::Left) => Some(Msg::Pointed(x, y)),
                MouseEventKind::Drag(MouseButton::Left) => Some(Msg::Dragged(x, y)),
                MouseEventKind::Up(_) => Some(Msg::Released),
                MouseEventKind::ScrollUp => Some(Msg::Wheel(x, y, Way::Previous)),
                MouseEventKind::ScrollDown => Some(Msg::Wheel(x, y, Way::Next)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Tells whether the mouse selects: with the right button, or with Shift where the terminal tells.
const fn is_pull(mouse: MouseEvent) -> bool {
    let is_shifted = mouse.modifiers.contains(KeyModifiers::SHIFT);
    match mouse.kind {
        MouseEventKind::Down(button) | MouseEventKind::Drag(button) => match button {
            MouseButton::Right => true,
            MouseButton::Left => is_shifted,
            MouseButton::Middle => false,
        },
        _ => false,
    }
}

fn own(key: KeyEvent) -> Option<Key> {
    let has = |modifier| key.modifiers.contains(modifier);
    let named = |plain: &'static str, shifted: &'static str| {
        Some(Key::Named(if has(KeyModifiers::SHIFT) {
            shifted
        } else {
            plain
        }))
    };
    match key.code {
        KeyCode::Char(letter) if has(KeyModifiers::CONTROL) => Some(Key::Ctrl(letter)),
        KeyCode::Char(letter) if has(KeyModifiers::ALT) => Some(Key::Alt(letter)),
        KeyCode::Char(letter) => Some(Key::Char(letter)),
        KeyCode::Left => named("Left", "Shift-Left"),
        KeyCode::Right => named("Right", "Shift-Right"),
        KeyCode::Up => Some(Key::Named("Up")),
        KeyCode::Down => Some(Key::Named("Down")),
        KeyCode::PageUp => Some(Key::Named("PageUp")),
        KeyCode::PageDown => Some(Key::Named("PageDown")),
        KeyCode::Enter => Some(Key::Named("Enter")),
        KeyCode::Esc => Some(Key::Named("Esc")),
        KeyCode::Tab => Some(Key::Named("Tab")),
        KeyCode::Delete => Some(Key::Named("Delete")),
        KeyCode::Backspace => Some(Key::Named("Backspace")),
        _ => None,
    }
}
