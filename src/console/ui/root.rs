//! The whole screen: state to cells.

use ratatui::Frame;
use ratatui::buffer::CellDiffOption;
use ratatui::layout::{Position, Rect};
use std::time::Duration;
use unicode_width::UnicodeWidthChar;

use super::canvas::Canvas;
use super::cron::timeline::Chart;
use super::glyphs::GlyphSet;
use super::layout::{self, Layout, Line, PaneArea, Wants, Zoom};
use super::motion::Motion;
use super::paint::Paint;
use super::theme::{Role, Theme};
use super::wraps::Wraps;
use super::{
    approval, cards, composer, confirm, conversation, cron, details, editor, filter, footer, header,
    job_editor, log, notices, picker, plan, popup, queue, queue_pane, recovery, sessions, tabs, text, viewer,
};
use crate::console::app::action::Action;
use crate::console::app::focus::{Pane, Target, View};
use crate::console::app::model::{LEAST_HEIGHT, LEAST_WIDTH, Link};
use crate::console::app::msg::Measured;
use crate::console::app::overlay::{CardKind, Overlay};
use crate::console::app::text::TextField;
use crate::console::app::{Model, filter_pane};

/// Draws the state. Keeps what was wrapped and charted before, and where things stood in the last frame.
pub struct Ui {
    theme: Theme,
    glyphs: &'static GlyphSet,
    wraps: Wraps,
    chart: Chart,
    targets: Vec<(Rect, Target)>,
    pace: Option<Duration>,
}

impl Ui {
    /// A drawing in this dress.
    pub fn new(theme: Theme, glyphs: &'static GlyphSet) -> Self {
        let (wraps, chart) = (Wraps::default(), Chart::default());
        Self { theme, glyphs, wraps, chart, targets: Vec::new(), pace: None }
    }

    /// Draws a frame, and returns what it measured: the state wants to know it.
    pub fn draw(&mut self, frame: &mut Frame<'_>, model: &Model) -> Measured {
        let screen = frame.area();
        self.wraps.begin_frame();
        self.targets.clear();
        let mut paint = Paint {
            canvas: Canvas { buffer: frame.buffer_mut(), theme: &self.theme, glyphs: self.glyphs },
            model,
            wraps: &mut self.wraps,
            chart: &mut self.chart,
            targets: &mut self.targets,
            measured: Measured::default(),
            cursor: None,
            keep: None,
            covered: Vec::new(),
            motion: motion(model),
        };
        paint.canvas.dress(screen, Role::Text);
        match Layout::of(screen, &wants(model, screen)) {
            Some(layout) => draw_screen(&mut paint, &layout),
            None => draw_too_small(&mut paint, screen),
        }
        repaint_behind_joined(&mut paint, screen);
        let (measured, cursor) = (paint.measured, paint.cursor);
        self.pace = paint.motion.pace();
        if let Some(cursor) = cursor.filter(|cursor| screen.contains(*cursor)) {
            frame.set_cursor_position(cursor);
        }
        measured
    }

    /// What stood at a place in the last frame.
    pub fn target(&self, x: u16, y: u16) -> Option<&Target> {
        let at = Position { x, y };
        self.targets.iter().rev().find(|(area, _)| area.contains(at)).map(|(_, target)| target)
    }

    /// How soon something in the last frame moves by itself; none: not before the minute changes.
    pub fn pace(&self) -> Option<Duration> {
        self.pace
    }
}

/// Nothing moves by itself while the engine is gone.
fn motion(model: &Model) -> Motion {
    match model.link {
        Link::Up(_) => Motion::at(model.now),
        Link::Gone { at, .. } => Motion::still(at),
    }
}

fn wants(model: &Model, screen: Rect) -> Wants {
    const MOST_ROWS: usize = 64;
    let narrowed = filter_pane(model);
    let typed = |pane| model.pane == Pane::Filter && narrowed == pane;
    let line = |field: &TextField, pane| match field.is_empty() && !typed(pane) {
        true => Line::Hidden,
        false => Line::Shown,
    };
    Wants {
        view: model.view,
        focus: if model.pane == Pane::Filter { narrowed } else { model.pane },
        zoom: if model.zoomed { Zoom::In } else { Zoom::Out },
        sessions: model.sessions.total,
        jobs: model.cron.rows.len(),
        timeline_rows: cron::timeline::lanes(model).map(cron::timeline::rows),
        banner_rows: cron::banner::rows(model, screen.width),
        planned: plan::rows(model),
        waiting: queue_pane::rows(model),
        draft_rows: composer::draft_rows(model, layout::composer_width(screen), MOST_ROWS),
        acknowledgement_rows: composer::acknowledgement_rows(model, layout::composer_width(screen)),
        filter: line(filter::of_list(model), Pane::List),
        search: line(&model.conversation.search, Pane::Conversation),
    }
}

fn draw_too_small(paint: &mut Paint<'_>, screen: Rect) {
    let words =
        format!("{}x{}: needs {}x{} at least", screen.width, screen.height, LEAST_WIDTH, LEAST_HEIGHT);
    let middle = screen.height / 2;
    paint.row(screen, middle).put(&words, Role::Text);
    if let Some(key) =
        paint.model.keymap.keys_anywhere(Action::StepBack).filter(|_| middle + 1 < screen.height)
    {
        paint.row(screen, middle + 1).put(&format!("no key acts but {key}: leave"), Role::Quiet);
    }
}

fn draw_screen(paint: &mut Paint<'_>, layout: &Layout) {
    header::draw(paint, layout.header);
    tabs::draw(paint, layout.tabs);
    if let Some(area) = layout.filter {
        filter::draw(paint, area, filter::of_list(paint.model), Pane::List);
    }
    if let Some(area) = layout.search {
        filter::draw(paint, area, &paint.model.conversation.search, Pane::Conversation);
    }
    if let Some(area) = layout.banner {
        cron::banner::draw(paint, area);
    }
    if let Some(area) = layout.job {
        cron::detail::draw(paint, area);
    }
    if let Some(area) = layout.timeline {
        cron::timeline::draw(paint, area);
    }
    if let Some(area) = layout.list {
        match paint.model.view {
            View::Sessions => sessions::draw(paint, area, layout.rows_per_session),
            View::Queue => queue::draw(paint, area),
            View::Cron => cron::list::draw(paint, area),
            View::Recovery => recovery::draw(paint, area),
            View::Log => log::draw(paint, area),
        }
    }
    let question = question(paint, layout);
    if let Some(area) = layout.conversation {
        // What an agent asks stands below what was said.
        let body = question.map_or(area.body, |question| question.above);
        conversation::draw(paint, PaneArea { body, ..area });
    }
    if let Some(area) = layout.plan {
        plan::draw(paint, area);
    }
    if let Some(area) = layout.queue {
        queue_pane::draw(paint, area);
    }
    if let Some(area) = layout.composer {
        composer::draw(paint, area);
    }
    if let Some(area) = layout.acknowledgement {
        composer::draw_acknowledgement(paint, area);
    }
    if let Some(area) = layout.details {
        details::draw(paint, area);
    }
    draw_dividers(paint, layout);
    footer::draw(paint, layout.footer);
    draw_over(paint, layout);
}

/// The lines between columns, joined to the titles that meet them.
fn draw_dividers(paint: &mut Paint<'_>, layout: &Layout) {
    for divider in [layout.divider, layout.details_divider].into_iter().flatten() {
        paint.canvas.vertical(divider);
        let [top, from_right, from_left] = paint.canvas.glyphs.joints;
        paint.row(divider, 0).put(top, Role::Rule);
        let titles =
            [layout.plan, layout.queue, layout.composer].into_iter().flatten().map(|pane| pane.title);
        for title in titles {
            let joint = if title.x == divider.right() { from_right } else { from_left };
            if title.x == divider.right() || title.right() == divider.x {
                paint.row(divider, title.y - divider.y).put(joint, Role::Rule);
            }
        }
    }
}

fn draw_over(paint: &mut Paint<'_>, layout: &Layout) {
    let model = paint.model;
    if let (Some(conversation), Some(composer)) = (layout.conversation, layout.composer) {
        popup::draw(paint, conversation.whole(), composer.whole());
    }
    if let Some(card) = &model.card {
        cards::draw(paint, layout.main, card);
        if let (CardKind::Asks(asked), Some(place)) = (&card.kind, question(paint, layout)) {
            approval::draw(paint, place.card, card, asked);
        }
    }
    for overlay in &model.overlays {
        // What is under an overlay has no cursor.
        paint.cursor = None;
        match overlay {
            Overlay::Picker(picker) => picker::draw(paint, layout.main, picker),
            Overlay::Confirm(confirm) => confirm::draw(paint, layout.main, confirm),
            Overlay::Viewer(viewer) => viewer::draw(paint, layout.main, viewer),
            Overlay::ItemEditor(item) => editor::draw_item(paint, layout.main, item),
            Overlay::JobEditor(editor) => job_editor::draw(paint, layout.main, editor),
            Overlay::NewSession(prompt) => editor::draw_prompt(paint, layout.main, prompt),
            Overlay::DenyWhy(deny) => editor::draw_deny(paint, layout.main, deny),
        }
    }
    notices::draw(paint, layout);
}

/// Where the question of the agent in front stands: in its conversation; where that is not shown or has no room
/// for all of it, over the view, once the operator went to it.
fn question(paint: &Paint<'_>, layout: &Layout) -> Option<approval::Place> {
    const ROOM: u16 = 9;
    let card = paint.model.card.as_ref().filter(|card| !card.hidden)?;
    let CardKind::Asks(asked) = &card.kind else { return None };
    let body = layout.conversation.map(|pane| pane.body);
    let inside = body.filter(|body| body.height >= ROOM).map(|body| {
        // A row of what was said stays.
        let (first, rest) = layout::from_top(body, 1);
        let place = approval::place(paint, rest, card, asked);
        approval::Place { above: first.union(place.above), ..place }
    });
    match (inside, card.focused_at) {
        (Some(place), _) if place.fits == approval::Fits::Whole => Some(place),
        (inside, None) => inside,
        (_, Some(_)) => {
            let place = approval::place(paint, layout.main, card, asked);
            Some(approval::Place { above: body.unwrap_or(layout.main), ..place })
        }
    }
}

/// A terminal that does not join an emoji's parts, or a flag's letters, draws it wider than it was
/// measured: what stands behind it is sent anew with every frame, so that borders stay where they are.
fn repaint_behind_joined(paint: &mut Paint<'_>, screen: Rect) {
    let width = usize::from(screen.width);
    let buffer = &mut *paint.canvas.buffer;
    for at in 0..buffer.content.len() {
        let symbol = buffer.content[at].symbol();
        // A single character, or a letter with a mark, is shorter.
        if symbol.len() < 5 {
            continue;
        }
        let apart: usize = symbol.chars().map(|c| c.width().unwrap_or(0)).sum();
        let joined = text::grapheme_width(symbol);
        if apart <= joined || width == 0 {
            continue;
        }
        let row_end = (at / width + 1) * width;
        for cell in &mut buffer.content[at + joined..(at + apart).max(at + joined).min(row_end)] {
            cell.set_diff_option(CellDiffOption::AlwaysUpdate);
        }
    }
}
