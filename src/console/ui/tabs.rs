//! The tabs: the views with what they count.

use ratatui::layout::Rect;

use super::paint::{Paint, to_cells};
use super::text;
use super::theme::Role;
use crate::console::app::Model;
use crate::console::app::cron::file::trouble;
use crate::console::app::focus::{Target, View};
use crate::console::app::words::thousands;

pub(super) fn draw(paint: &mut Paint<'_>, area: Rect) {
    let mut x = area.x;
    for view in View::ALL {
        let words = words(paint.model, view);
        let width = to_cells(text::width(&words));
        let role = if view == paint.model.view { Role::TabOpen } else { Role::Tab };
        paint.row(area, 0).to(x).put(&words, role);
        paint.target(Rect { x, width, ..area }.intersection(area), Target::Tab(view));
        x = x.saturating_add(width);
    }
}

/// The open one stands in brackets.
fn words(model: &Model, view: View) -> String {
    let overview = model.overview.as_ref();
    let (left, right) = if view == model.view { ('[', ']') } else { (' ', ' ') };
    let count = match view {
        View::Sessions => overview.map(|overview| overview.sessions),
        View::Queue => overview.map(|overview| overview.waiting),
        View::Cron => Some(model.cron.total).filter(|_| model.cron.loaded),
        View::Recovery => overview.map(|overview| overview.marked).filter(|marked| *marked > 0),
        View::Log => None,
    };
    if view == View::Cron && trouble(model).is_some() {
        return format!("{left}{} {} !{right}", view.number(), view.name());
    }
    let count = count.map(|n| format!(" {}", thousands(n as u64))).unwrap_or_default();
    format!("{left}{} {}{count}{right}", view.number(), view.name())
}
