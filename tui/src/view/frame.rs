//! Owns which parts of the screen are drawn. Refuses what they look like.

use super::pen::Pen;
use super::{
    bookmarks, browse, compare, foot, help, lanes, objects, palette, panel, problems, time, title,
};
use crate::layout::{Layout, SMALLEST, layout};
use crate::model::{List, Model, Open, Reel, Screen};
use crate::theme::Role;
use kubereel_history::harmless;
use ratatui::Frame;
use ratatui::layout::Rect;

/// Draws the screen.
pub(crate) fn view(model: &Model, frame: &mut Frame<'_>) {
    let area = frame.area();
    let mut pen = Pen {
        buffer: frame.buffer_mut(),
        theme: model.theme,
        area,
    };
    let (columns, rows) = SMALLEST;
    if area.width < columns || area.height < rows {
        let words = format!(
            "{}x{} is too small: {columns}x{rows} at least",
            area.width, area.height
        );
        let style = pen.role(Role::Strong);
        pen.text(0, 0, &words, style);
        return;
    }
    let layout = layout(model);
    match &model.reel {
        Reel::Opening => {
            let path = harmless(&model.request.path.display().to_string()).into_owned();
            message(
                &mut pen,
                &[format!("opening {path} …"), "esc stops".to_owned()],
            );
        }
        Reel::Failed(error) => message(&mut pen, &[error.clone(), "esc leaves".to_owned()]),
        Reel::Open(open) => whole(model, open, &layout, &mut pen),
    }
}

fn message(pen: &mut Pen<'_>, lines: &[String]) {
    let strong = pen.role(Role::Strong);
    let width = usize::from(pen.area.width.saturating_sub(3).max(1));
    let rows = lines.iter().flat_map(|line| {
        let letters: Vec<char> = line.chars().collect();
        let rows: Vec<String> = letters
            .chunks(width)
            .map(|row| row.iter().collect())
            .collect();
        rows
    });
    for (row, line) in (1_u16..).zip(rows) {
        pen.text(2, row, &line, strong);
    }
}

fn whole(model: &Model, open: &Open, layout: &Layout, pen: &mut Pen<'_>) {
    title::draw(model, open, &mut pen.on(layout.title));
    time::draw(open, layout, &mut pen.on(layout.time));
    let both = layout.body;
    match &model.screen {
        Screen::Help(first, of) => help::draw(*first, of, &mut pen.on(both)),
        Screen::Kinds(choice) => browse::kinds(open, choice, &mut pen.on(both)),
        Screen::Namespaces(choice) => browse::namespaces(open, choice, &mut pen.on(both)),
        Screen::Compare(at) => compare::draw(open, *at, &mut pen.on(both)),
        Screen::Bookmarks(at) => bookmarks::draw(open, *at, &mut pen.on(both)),
        Screen::Problems(at) => problems::draw(open, *at, &mut pen.on(both)),
        _ => {
            match open.list {
                List::Lanes => lanes::draw(open, layout, &mut pen.on(layout.list)),
                List::Objects(_) => objects::draw(open, &mut pen.on(layout.list)),
            }
            if let Some(border) = layout.border {
                let style = pen.role(Role::Faint);
                let mut pen = pen.on(border);
                for y in 0..border.height {
                    pen.text(0, y, "│", style);
                }
            }
            panel::draw(open, &mut pen.on(layout.panel));
            if let Screen::GoTo(choice) = &model.screen {
                palette::draw(open, choice, &mut pen.on(both));
            }
        }
    }
    let above = Rect {
        y: layout.foot.y.saturating_sub(1),
        ..layout.foot
    };
    foot::error(model, open, &mut pen.on(above));
    foot::draw(model, open, &mut pen.on(layout.foot));
}
