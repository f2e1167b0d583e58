//! Owns what is known of the pass over the reel: how far it is, what it found, why it ended. Refuses to
//! begin one: opening and problems do.

use super::{choosing, problems, refresh};
use crate::effect::Effect;
use crate::model::{Model, Pass, Reel};
use crate::msg::Msg;

/// Takes in what the pass says.
pub(super) fn heard(model: &mut Model, msg: Msg) -> Vec<Effect> {
    let Reel::Open(open) = &mut model.reel else {
        return Vec::new();
    };
    match msg {
        Msg::Passed(done) => {
            if matches!(open.pass, Pass::Under { .. }) {
                open.pass = Pass::Under { done };
            }
            Vec::new()
        }
        Msg::Gathered(board) => {
            open.pass = board.map_or(Pass::Stopped, Pass::Done);
            refresh::filtered(open);
            if open.selected.is_none() {
                choosing::first_row(open);
            }
            problems::list(open)
        }
        Msg::NotGathered(why) => {
            open.pass = Pass::Failed(why);
            problems::list(open)
        }
        _ => Vec::new(),
    }
}
