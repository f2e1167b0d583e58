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
        "F f" "previous, next change of the selected field" "";
    Timeline [Char('('), Char(')')] => [Anomaly(TimeDirection::Previous), Anomaly(TimeDirection::Next)],
        "( )" "previous, next gap, outage or flap" "";
    Timeline [Char('N'), Char('n')] => [Problem(TimeDirection::Previous), Problem(TimeDirection::Next)],
        "N n" "previous, next problem" "problem";
    Timeline [Named("Left"), Named("Right"), Char('h'), Char('l')] => [Cells(-1), Cells(1)],
        "← → h l" "move the cursor one cell" "";
    Timeline [Named("Shift-Left"), Named("Shift-Right")] => [Cells(-10), Cells(10)],
        "shift-← →" "move the cursor ten cells" "";
    Timeline [Char('g'), Char('G')] => [Start, End],
        "g G" "go to the start, the end; at the end the cursor follows a live recording" "";
    Timeline [Char(':')] => [AskTime],
        ":" "go to a TIME, kind (:pods), object (:co/etcd, :deploy web), problem, or run a command (:theme light)" "go to";
    Timeline [Char('-'), Char('+'), Char('s'), Char('w'), Char('_'), Char('=')] => [ZoomOut, ZoomIn],
        "- + s w" "zoom out, in at the cursor (mouse wheel: at the pointer)" "zoom";
    Timeline [Char('a'), Char('d')] => [Pan(-2), Pan(2)],
        "a d" "pan left, right" "";
    Timeline [Char('V')] => [Pick],
        "V" "select a time range: V sets its end, enter zooms to it (or drag with the right button)" "";
    Timeline [Char('z'), Char('Z')] => [FitSelection, FitAll],
        "z Z" "fit the selection (time range or object lifetime), the whole reel" "";
    Timeline [Ctrl('o'), Alt('o')] => [Back, Forth],
        "ctrl-o alt-o" "undo, redo a jump" "";
    Timeline [Char('['), Char(']')] => [Slower, Faster],
        "[ ]" "play slower, faster" "";
    Timeline [Char('r')] => [Reverse],
        "r" "reverse the playback direction" "";
    Timeline [Char('U')] => [Zone],
        "U" "show and read times in local time (--tz, else that of this machine), or in UTC" "";
    Timeline [Named("Tab")] => [OtherPane],
        "tab" "switch between list and panel" "";
    Timeline [Char('<'), Char('>')] => [Border(false), Border(true)],
        "< >" "shrink, grow the list (or drag its border)" "";
    Timeline [Char('/')] => [Search],
        "/" "filter: words /regex/ ns:x kind:x label:a=b a.b!=c bad !not; in the panel and the log: search" "filter";
    Timeline [Char('&')] => [AskFilter],
        "&" "filter, also where / searches" "";
    Timeline [Char('b')] => [Kinds],
        "b" "list the recorded resources" "browse";
    Timeline [Char('u')] => [Namespaces],
        "u" "select a namespace, or all" "";
    Timeline [Char('o')] => [Order],
        "o" "sort objects by name or by last change" "";
    Timeline [Char('i')] => [Conditions],
        "i" "group lanes: by object, by condition, operators by failing condition" "";
    Timeline [Char('x')] => [Pin],
        "x" "pin or unpin the selected object as a lane" "";
    Timeline [Char('P')] => [Pods],
        "P" "show or hide the pod lanes, of the selected namespace if there is one" "";
    Timeline [Char('X')] => [Unfold],
        "X" "unfold or fold the selected object: its conditions, its containers, the Pods of a workload" "unfold";
    Timeline [Char('A')] => [Stream],
        "A" "all transitions of all lanes as a log in order of time; rows move the cursor, / searches, then n N" "";
    Timeline [Char('p')] => [Problems],
        "p" "the story, and the list of problems" "problems";
    Timeline [Char('!')] => [First],
        "!" "go to the first problem (after the installation, if recorded)" "first";
    Timeline [Char('e')] => [Explain],
        "e" "explain: the problem of the selected object near the cursor, and its possible causes" "";
    Timeline [Char('y')] => [Panel(Panel::Yaml)],
        "y" "YAML of the object, with its last changes and their managers" "";
    Timeline [Char('H')] => [Panel(Panel::History)],
        "H" "history of the object: the changed fields of each version" "";
    Timeline [Char('E')] => [Panel(Panel::Events)],
        "E" "Events about the object" "";
    Timeline [Char('W')] => [Panel(Panel::Nearby)],
        "W" "changes of all resources just before the cursor" "";
    Timeline [Char('D')] => [Panel(Panel::Diff)],
        "D" "diff with the previous version, or the one marked in H with enter" "";
    Timeline [Char('B')] => [Panel(Panel::Blame)],
        "B" "blame: who set each field, and when" "";
    Timeline [Char('O')] => [Panel(Panel::Owners)],
        "O" "tree: the owners of the object and what it owns, with their states at the cursor; enter goes there" "";
    Timeline [Char('K')] => [Panel(Panel::Conditions)],
        "K" "conditions and their transitions" "";
    Timeline [Char('R')] => [Panel(Panel::Raw)],
        "R" "raw JSON from the API server" "";
    Timeline [Char('S')] => [Save],
        "S" "save the panel or table to a file; asks for its name" "";
    Timeline [Char('L')] => [Wrap],
        "L" "wrap or truncate long lines of the panel" "";
    Timeline [Ctrl('y')] => [CopyText],
        "ctrl-y" "copy the panel or table (tmux: set-clipboard on)" "";
    Timeline [Char('Y')] => [CopyAddress],
        "Y" "copy the command that opens this view" "";
    Timeline [Char('m')] => [Bookmark],
        "m" "set a bookmark at the cursor, with a note" "";
    Timeline [Char('\'')] => [Bookmarks],
        "'" "list bookmarks" "";
    Timeline [Char('{'), Char('}')] => [Mark(TimeDirection::Previous), Mark(TimeDirection::Next)],
        "{ }" "previous, next bookmark, mark of the recording or stage" "";
    Timeline [Char('v')] => [Compare],
        "v" "set moment A; again: compare A with the cursor" "";
    Bookmarks [Char('d'), Named("Delete")] => [Remove],
        "d" "delete the bookmark" "delete";
    Bookmarks [Char('S')] => [Save],
        "S" "in the list of bookmarks: export them as Markdown, with the commands that lead back" "export";
    Bookmarks [Char('m')] => [Bookmark],
        "m" "edit the note" "note";
    Everywhere [Named("Up"), Named("Down"), Char('k'), Char('j')] => [Rows(-1), Rows(1)],
        "↑ ↓ k j" "move one row" "";
    Everywhere [Named("PageUp"), Named("PageDown")] => [Rows(-10), Rows(10)],
        "pgup pgdn" "move ten rows" "";
    Everywhere [Named("Enter")] => [Open],
        "enter" "open or maximize the selection, fold a group" "";
    Everywhere [Named("Esc")] => [Close],
        "esc" "back; while loading: stop" "";
    Everywhere [Char('?')] => [Help],
        "?" "show help" "help";
    Everywhere [Char('q'), Ctrl('c')] => [Quit],
        "q" "quit" "quit";
    Choice [Named("Up"), Named("Down")] => [Rows(-1), Rows(1)],
        "↑ ↓" "in a selection list: move; typing filters it" "select";
    Choice [Named("PageUp"), Named("PageDown")] => [Rows(-10), Rows(10)],
        "pgup pgdn" "in a selection list: move ten rows" "";
    Choice [Named("Tab")] => [Order],
        "tab" "in the list of resources: sort by name or by last change" "sort";
    Problems [Char('o')] => [ProblemOrder],
        "o" "in the list of problems: sort by severity or by time" "sort";
    Problems [Char('x')] => [Again],
        "x" "in the list of problems: retry what stopped, failed or is outdated" "retry";
    Text [Named("Enter")] => [Open],
        "enter" "accept" "accept";
    Text [Named("Esc")] => [Close],
        "esc" "cancel" "cancel";
    Text [Named("Backspace"), Ctrl('h')] => [Erase],
        "backspace" "delete a character" "delete";
    Text [Ctrl('w'), Ctrl('u')] => [EraseWord, EraseAll],
        "ctrl-w ctrl-u" "delete a word, the text" "";
    Palette [Named("Up"), Named("Down")] => [Rows(-1), Rows(1)],
        "↑ ↓" "in the list of commands: move; typing filters it" "select";
    Text [Ctrl('c')] => [Quit],
        "ctrl-c" "quit" "";
};
