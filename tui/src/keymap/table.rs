//! The table of keys.

use super::binding::{KeyBinding, KeyContext, KeyPress};
use crate::answer::Panel;
use crate::msg::KeyAction;
use crate::time::TimeDirection;

/// Each row: where, keys, their meanings in turn; the keys for people, what they do, a word for the
/// footer (empty: not there).
macro_rules! table {
    ($($place:ident [$($key:ident($name:literal)),+] => [$($act:ident $(($of:expr))?),+],
        $shown:literal $does:literal $brief:literal;)+) => {
        &[$(KeyBinding {
            keys: &[$(KeyPress::$key($name)),+],
            place: KeyContext::$place,
            acts: &[$(KeyAction::$act $(($of))?),+],
            shown: $shown,
            does: $does,
            brief: $brief,
        }),+]
    };
}

pub(super) const KEYS: &[KeyBinding] = table! {
    Timeline [Char(' ')] => [Play],
        "space" "play, pause" "play";
    Timeline [Char(','), Char('.')] => [Event(TimeDirection::Previous), Event(TimeDirection::Next)],
        ", ." "previous, next event (of the listed resource)" "event";
    Timeline [Char('C'), Char('c')] => [Change(TimeDirection::Previous), Change(TimeDirection::Next)],
        "C c" "previous, next change of the selected object" "change";
    Timeline [Char('T'), Char('t')] => [Transition(TimeDirection::Previous), Transition(TimeDirection::Next)],
        "T t" "previous, next transition of the selected lane" "transition";
    Timeline [Char('F'), Char('f')] => [FieldChange(TimeDirection::Previous), FieldChange(TimeDirection::Next)],
        "F f" "previous, next change of the field at the panel's line" "";
    Timeline [Char('('), Char(')')] => [Anomaly(TimeDirection::Previous), Anomaly(TimeDirection::Next)],
        "( )" "previous, next gap, outage or flap" "";
    Timeline [Char('N'), Char('n')] => [Problem(TimeDirection::Previous), Problem(TimeDirection::Next)],
        "N n" "previous, next problem" "problem";
    Timeline [Named("Left"), Named("Right"), Char('h'), Char('l')] => [Cells(-1), Cells(1)],
        "← → h l" "move the cursor by a cell" "";
    Timeline [Named("Shift-Left"), Named("Shift-Right")] => [Cells(-10), Cells(10)],
        "shift-← →" "move the cursor by ten cells" "";
    Timeline [Char('g'), Char('G')] => [Start, End],
        "g G" "go to the start, the end" "";
    Timeline [Char(':')] => [AskTime],
        ":" "go to a TIME, or run a command by its name" "go to";
    Timeline [Char('-'), Char('+'), Char('s'), Char('w'), Char('_'), Char('=')] => [ZoomOut, ZoomIn],
        "- + s w" "zoom out, in at the cursor (the wheel: where it points)" "zoom";
    Timeline [Char('a'), Char('d')] => [Pan(-2), Pan(2)],
        "a d" "pan" "";
    Timeline [Char('V')] => [Pick],
        "V" "select a span of time: V fixes its end, enter zooms to it (also: drag with the right button)" "";
    Timeline [Char('z'), Char('Z')] => [FitSelection, FitAll],
        "z Z" "show what is selected (a span of time, the object's life), the whole reel" "";
    Timeline [Ctrl('o'), Alt('o')] => [Back, Forth],
        "ctrl-o alt-o" "back before the last jump, forth again" "";
    Timeline [Char('['), Char(']')] => [Slower, Faster],
        "[ ]" "play slower, faster" "";
    Timeline [Char('r')] => [Reverse],
        "r" "play the other way" "";
    Timeline [Named("Tab")] => [OtherPane],
        "tab" "list, panel" "";
    Timeline [Char('<'), Char('>')] => [Border(false), Border(true)],
        "< >" "make the list smaller, larger (also: drag its border)" "";
    Timeline [Char('/')] => [AskFilter],
        "/" "filter: words /regex/ ns:x kind:x label:a=b a.b!=c bad !not; in the panel: search" "filter";
    Timeline [Char('b')] => [Kinds],
        "b" "browse the recorded resources" "browse";
    Timeline [Char('u')] => [Namespaces],
        "u" "choose a namespace, or all of them" "";
    Timeline [Char('o')] => [Order],
        "o" "sort objects by name, or changed last first" "";
    Timeline [Char('i')] => [Conditions],
        "i" "lanes of objects; with their conditions; operators by what was wrong" "";
    Timeline [Char('x')] => [Pin],
        "x" "pin the selected object as a lane, or take its pin away" "";
    Timeline [Char('P')] => [Pods],
        "P" "lanes of the pods of the chosen namespace" "";
    Timeline [Char('p')] => [Problems],
        "p" "what looks wrong" "problems";
    Timeline [Char('!')] => [First],
        "!" "the first thing that went wrong, after the installation if there was one" "first";
    Timeline [Char('y')] => [Panel(Panel::Yaml)],
        "y" "YAML of the object, what changed last and who did" "";
    Timeline [Char('H')] => [Panel(Panel::History)],
        "H" "versions of the object, field by field" "";
    Timeline [Char('E')] => [Panel(Panel::Events)],
        "E" "Events about the object" "";
    Timeline [Char('W')] => [Panel(Panel::Nearby)],
        "W" "what changed here: the last seconds, of everything" "";
    Timeline [Char('D')] => [Panel(Panel::Diff)],
        "D" "diff to the version before, or to the one marked in H by enter" "";
    Timeline [Char('B')] => [Panel(Panel::Blame)],
        "B" "blame: who set each field, and when" "";
    Timeline [Char('O')] => [Panel(Panel::Owners)],
        "O" "owners of the object and what it owns; enter goes there" "";
    Timeline [Char('K')] => [Panel(Panel::Conditions)],
        "K" "conditions, and how they turned" "";
    Timeline [Char('R')] => [Panel(Panel::Raw)],
        "R" "raw JSON as the server sent it" "";
    Timeline [Char('S')] => [Save],
        "S" "save what panel or table shows to a file here" "";
    Timeline [Char('L')] => [Wrap],
        "L" "break long lines of the panel, or cut them" "";
    Timeline [Ctrl('y')] => [CopyText],
        "ctrl-y" "copy what panel or table shows (tmux: set-clipboard on)" "";
    Timeline [Char('Y')] => [CopyAddress],
        "Y" "copy the address of this place" "";
    Timeline [Char('m')] => [Bookmark],
        "m" "set a bookmark here, with a note" "";
    Timeline [Char('\'')] => [Bookmarks],
        "'" "list the bookmarks" "";
    Timeline [Char('{'), Char('}')] => [Mark(TimeDirection::Previous), Mark(TimeDirection::Next)],
        "{ }" "previous, next bookmark or stage" "";
    Timeline [Char('v')] => [Compare],
        "v" "set A here; then compare A with here" "";
    Bookmarks [Char('d'), Named("Delete")] => [Remove],
        "d" "remove the bookmark" "remove";
    Bookmarks [Char('m')] => [Bookmark],
        "m" "write another note" "note";
    Everywhere [Named("Up"), Named("Down"), Char('k'), Char('j')] => [Rows(-1), Rows(1)],
        "↑ ↓ k j" "move by a row" "";
    Everywhere [Named("PageUp"), Named("PageDown")] => [Rows(-10), Rows(10)],
        "pgup pgdn" "move by ten rows" "";
    Everywhere [Named("Enter")] => [Open],
        "enter" "show it large, take what is chosen, fold a group" "";
    Everywhere [Named("Esc")] => [Close],
        "esc" "back; while reading: stop" "";
    Everywhere [Char('?')] => [Help],
        "?" "these keys" "help";
    Everywhere [Char('q'), Ctrl('c')] => [Quit],
        "q" "quit" "quit";
    Choice [Named("Up"), Named("Down")] => [Rows(-1), Rows(1)],
        "↑ ↓" "in a list to choose from: move, letters narrow it" "choose";
    Choice [Named("PageUp"), Named("PageDown")] => [Rows(-10), Rows(10)],
        "pgup pgdn" "in a list to choose from: move by ten rows" "";
    Choice [Named("Tab")] => [Order],
        "tab" "in the list of resources: by name, or changed last first" "order";
    Problems [Char('o')] => [ProblemOrder],
        "o" "in the list of problems: what matters most first, or what came first" "order";
    Problems [Char('x')] => [Again],
        "x" "in the list of problems: begin again what was stopped or failed" "again";
    Text [Named("Enter")] => [Open],
        "enter" "take it" "take it";
    Text [Named("Esc")] => [Close],
        "esc" "leave it" "leave it";
    Text [Named("Backspace"), Ctrl('h')] => [Erase],
        "backspace" "take back a letter" "take back";
    Palette [Named("Up"), Named("Down")] => [Rows(-1), Rows(1)],
        "↑ ↓" "in the list of commands: move, letters narrow it" "choose";
    Text [Ctrl('c')] => [Quit],
        "ctrl-c" "quit" "";
};
