//! The program on a real terminal: its modes, taken at the start and given back at the end, its keys and
//! signals, and panics.

use super::event::{RuntimeEvent, TuiError, spawn};
use super::judge::Executable;
use super::looping::EventLoop;
use crate::model::{Model, ReelState, TuiRequest};
use crate::theme::Theme;
use crate::update::left;
use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, event, execute};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use std::cell::{Cell, RefCell};
use std::io::{self, BufWriter, IsTerminal as _, Stdout};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::mpsc::SyncSender;

/// Shows a reel until the user leaves; gives the address of the last place, if there was one.
///
/// # Errors
/// When there is no terminal, or it fails, or the reel cannot be opened, or the system ends the program.
pub fn run(
    request: TuiRequest,
    theme: Theme,
    executable: Executable,
) -> Result<Option<String>, TuiError> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(TuiError::NoTerminal);
    }
    if std::env::var_os("TERM").is_some_and(|name| name == "dumb") {
        return Err(TuiError::DumbTerminal);
    }
    // Before the terminal is taken: a signal in between would leave it taken.
    // In raw mode the key ^C sends no signal; another program may still send one.
    let mut signals = Signals::new([SIGTERM, SIGHUP, SIGINT, SIGQUIT])?;
    let (_held, screen) = TerminalGuard::take()?;
    let size = screen.size()?;
    let (mut looping, told) = EventLoop::begin(
        request,
        theme,
        Some(executable),
        screen,
        (size.width, size.height),
    )?;
    spawn("kubereel-input", &told, listen)?;
    spawn("kubereel-signals", &told, move |told| {
        for signal in &mut signals {
            if told.send(RuntimeEvent::Signal(signal)).is_err() {
                return;
            }
        }
    })?;
    let ended = looping.run();
    let model = &looping.model;
    leave(model);
    ended?;
    left_at(model)
}

/// Gives the address of the last place. The program that failed to open a reel fails, though the user ended it.
fn left_at(model: &Model) -> Result<Option<String>, TuiError> {
    match &model.reel {
        ReelState::Opening => Ok(None),
        ReelState::Open(open) => Ok(Some(open.address(&model.request.path))),
        ReelState::Failed(why) => Err(TuiError::NotOpened { why: why.clone() }),
    }
}

/// Writes where one was, for the next time.
fn leave(model: &Model) {
    if let (Some(open), Some(folder)) = (model.open(), &model.request.state_folder)
        && !open.id.is_empty()
    {
        // Only a place is lost, and the address of it is printed.
        drop(left(open).save(folder, &open.id));
    }
}

fn listen(told: &SyncSender<RuntimeEvent>) {
    loop {
        let heard = match event::read() {
            Ok(event) => RuntimeEvent::Terminal(event),
            Err(error) => RuntimeEvent::Nothing(error),
        };
        let is_last = matches!(heard, RuntimeEvent::Nothing(_));
        if told.send(heard).is_err() || is_last {
            return;
        }
    }
}

/// The screen, buffered so that a frame is one write.
type TerminalScreen = Terminal<CrosstermBackend<BufWriter<Stdout>>>;

/// The bytes of a frame, with room to spare: the whole of a large terminal in all colours.
const FRAME_BYTES: usize = 1 << 18;

/// The terminal while it is ours.
struct TerminalGuard(());

impl TerminalGuard {
    /// Takes the terminal.
    fn take() -> io::Result<(Self, TerminalScreen)> {
        enable_raw_mode()?;
        let mut out = io::stdout();
        if let Err(error) = execute!(
            out,
            EnterAlternateScreen,
            EnableMouseCapture,
            EnableBracketedPaste,
            cursor::Hide
        ) {
            give_back();
            return Err(error);
        }
        let held = Self(());
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            // A thread that works for the screen says on the screen the outcome.
            if noted(info) {
                return;
            }
            // The database panics on some damage; that becomes an error, and the screen stays.
            if !kubereel_format::panic_is_caught() {
                give_back();
            }
            before(info);
        }));
        let screen = Terminal::new(CrosstermBackend::new(BufWriter::with_capacity(
            FRAME_BYTES,
            out,
        )))?;
        Ok((held, screen))
    }
}

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        give_back();
    }
}

/// Gives the terminal back; there is no place to report a failure.
fn give_back() {
    drop(execute!(
        io::stdout(),
        DisableBracketedPaste,
        DisableMouseCapture,
        LeaveAlternateScreen,
        cursor::Show
    ));
    drop(disable_raw_mode());
}

thread_local! {
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
    static WHERE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Does something; a panic in it becomes words.
pub(super) fn caught<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    IS_CAUGHT.set(true);
    let done = panic::catch_unwind(AssertUnwindSafe(run));
    IS_CAUGHT.set(false);
    done.map_err(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
        let place = WHERE.take();
        format!("internal error: {}{place}", text.unwrap_or("a panic"))
    })
}

/// Takes note of a panic; tells whether it is caught, and so needs no other report.
fn noted(info: &PanicHookInfo<'_>) -> bool {
    if !IS_CAUGHT.get() {
        return false;
    }
    let place = info.location();
    let place = place.map(|place| format!(" ({}:{})", place.file(), place.line()));
    WHERE.set(place.unwrap_or_default());
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reel_that_cannot_be_opened_fails_the_program() {
        let request = crate::tests::stage::request(std::path::Path::new("gone.reel"));
        let theme = Theme::new(crate::theme::Palette::Dark, crate::theme::Depth::Indexed);
        let mut model = Model::new(request, theme, (80, 24));
        assert_eq!(left_at(&model).expect("it was left while it opened"), None);
        model.reel = ReelState::Failed("no such reel".to_owned());
        let error = left_at(&model).expect_err("it cannot be opened");
        assert!(matches!(error, TuiError::NotOpened { .. }), "{error:?}");
        assert_eq!(error.to_string(), "no such reel");
    }

    #[test]
    fn a_panic_becomes_words() {
        assert_eq!(caught(|| 7), Ok(7));
        let text = "odd".to_owned();
        let said = caught(|| panic!("it is {text}")).expect_err("it panics");
        assert!(said.starts_with("internal error: it is odd"), "{said}");
        let said = caught(|| panic!("plain")).expect_err("it panics");
        assert!(said.contains("plain"), "{said}");
        assert!(!IS_CAUGHT.get());
    }
}
