//! Where everything stands, at any size.

use ratatui::layout::Rect;

use crate::console::app::focus::{Pane, View};
use crate::console::app::model::{LEAST_HEIGHT, LEAST_WIDTH};

/// From so many columns the list stands over the conversation; below, one pane at a time.
pub const STACKED_FROM_WIDTH: u16 = 60;
/// From so many rows the list stands over the conversation; below, one pane at a time.
pub const STACKED_FROM_HEIGHT: u16 = 18;
/// From so many columns the list stands beside the conversation.
pub const BESIDE_FROM_WIDTH: u16 = 100;
/// From so many columns the session's details stand in a third column.
pub const DETAILS_FROM_WIDTH: u16 = 160;

/// From so many columns and rows the jobs, the selected one and the timeline stand over each other; below,
/// the timeline takes the place of the selected one.
const THREE_FROM: (u16, u16) = (120, 30);

/// The columns of the list where it stands beside the conversation.
const LIST_WIDTH: u16 = 38;
/// The columns of the details.
const DETAILS_WIDTH: u16 = 40;
/// The most rows that the draft takes.
const MOST_DRAFT_ROWS: u16 = 8;
/// The most rows that the queue under a conversation takes.
const MOST_QUEUE_ROWS: u16 = 6;
/// From so many rows a conversation has a line for its turn's plan, and from so many the plan's entries too; the
/// most rows that these take.
const PLAN_FROM_HEIGHT: u16 = 6;
const PLAN_ENTRIES_FROM_HEIGHT: u16 = 20;
const MOST_PLAN_ROWS: u16 = 5;

/// What the state asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wants {
    /// The open view.
    pub view: View,
    /// The pane with the focus; a filter's focus is that of what it narrows.
    pub focus: Pane,
    /// Whether that pane has the whole screen.
    pub zoom: Zoom,
    /// How many sessions the list could show.
    pub sessions: usize,
    /// How many jobs the list could show.
    pub jobs: usize,
    /// How many rows the timeline of the jobs would take; none: it is not shown.
    pub timeline_rows: Option<usize>,
    /// How many rows the banner over the view takes.
    pub banner_rows: usize,
    /// How many entries the plan of the running turn in front has.
    pub planned: usize,
    /// How many items wait in the session in front.
    pub waiting: usize,
    /// How many rows the draft would take.
    pub draft_rows: usize,
    /// How many rows what became of the last message would take.
    pub acknowledgement_rows: usize,
    /// Whether the list is filtered, or the log searched.
    pub filter: Line,
    /// Whether the conversation is searched.
    pub search: Line,
}

/// Whether the focused pane has the whole screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zoom {
    /// It has.
    In,
    /// The panes share it.
    Out,
}

/// Whether the line of a filter or a search is shown above what it narrows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    /// It is.
    Shown,
    /// It is not.
    Hidden,
}

/// A pane with its title.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PaneArea {
    /// One row: a line with the title in it.
    pub title: Rect,
    /// What is under it.
    pub body: Rect,
}

impl PaneArea {
    fn of(area: Rect) -> Self {
        let (title, body) = from_top(area, 1);
        Self { title, body }
    }

    /// Title and body together.
    pub fn whole(&self) -> Rect {
        self.title.union(self.body)
    }
}

/// Where everything stands. What is not shown has no area.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Layout {
    /// The whole screen.
    pub screen: Rect,
    /// The header's row.
    pub header: Rect,
    /// The tabs' row.
    pub tabs: Rect,
    /// The footer's row.
    pub footer: Rect,
    /// Between tabs and footer.
    pub main: Rect,
    /// What is wrong with the file of the jobs.
    pub banner: Option<Rect>,
    /// The list of the open view.
    pub list: Option<PaneArea>,
    /// The selected job.
    pub job: Option<PaneArea>,
    /// The timeline of the jobs.
    pub timeline: Option<PaneArea>,
    /// The line that filters it.
    pub filter: Option<Rect>,
    /// The line that searches the conversation.
    pub search: Option<Rect>,
    /// How many rows each session has in the list.
    pub rows_per_session: u16,
    /// The line between list and conversation.
    pub divider: Option<Rect>,
    /// The conversation.
    pub conversation: Option<PaneArea>,
    /// The plan of its running turn.
    pub plan: Option<PaneArea>,
    /// What waits in the session in front.
    pub queue: Option<PaneArea>,
    /// The composer.
    pub composer: Option<PaneArea>,
    /// The row under the draft that tells what became of what was sent.
    pub acknowledgement: Option<Rect>,
    /// The line between conversation and details.
    pub details_divider: Option<Rect>,
    /// The details of the session in front.
    pub details: Option<PaneArea>,
}

/// How the panes of the sessions view share the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    OneAtATime,
    Stacked,
    Beside,
    BesideWithDetails,
}

impl Shape {
    fn of(screen: Rect) -> Self {
        match (screen.width, screen.height) {
            (DETAILS_FROM_WIDTH.., _) => Self::BesideWithDetails,
            (BESIDE_FROM_WIDTH.., _) => Self::Beside,
            (STACKED_FROM_WIDTH.., STACKED_FROM_HEIGHT..) => Self::Stacked,
            _ => Self::OneAtATime,
        }
    }
}

impl Layout {
    /// The layout of `screen`; none if it is too small to show anything.
    pub fn of(screen: Rect, wants: &Wants) -> Option<Self> {
        if screen.width < LEAST_WIDTH || screen.height < LEAST_HEIGHT {
            return None;
        }
        let (header, rest) = from_top(screen, 1);
        let (tabs, rest) = from_top(rest, 1);
        let (rest, footer) = from_bottom(rest, 1);
        // The jobs keep half of the screen.
        let (banner, main) = from_top(rest, cells(wants.banner_rows).min(rest.height / 2));
        let mut layout = Self { screen, header, tabs, footer, main, rows_per_session: 1, ..Self::default() };
        layout.banner = (banner.height > 0).then_some(banner);
        match wants.view {
            View::Sessions => layout.sessions(wants),
            View::Cron => layout.cron(wants),
            View::Queue | View::Recovery | View::Log => layout.place_list(main, wants),
        }
        Some(layout)
    }

    fn sessions(&mut self, wants: &Wants) {
        let main = self.main;
        let in_list = wants.focus == Pane::List;
        let shape = match wants.zoom {
            Zoom::In => Shape::OneAtATime,
            Zoom::Out => Shape::of(self.screen),
        };
        match shape {
            Shape::OneAtATime if in_list => {
                self.rows_per_session = 2;
                self.place_list(main, wants);
            }
            Shape::OneAtATime if wants.zoom == Zoom::In => self.place_zoomed(main, wants),
            Shape::OneAtATime => self.place_session(main, wants),
            Shape::Stacked => {
                let (list, session) = from_top(main, stacked_list_height(main, wants));
                self.place_list(list, wants);
                self.place_session(session, wants);
            }
            Shape::Beside => self.place_beside(main, wants),
            Shape::BesideWithDetails => {
                let (left, details) = from_right(main, DETAILS_WIDTH + 1);
                let (divider, details) = from_left(details, 1);
                self.place_beside(left, wants);
                self.details_divider = Some(divider);
                self.details = Some(PaneArea::of(details));
            }
        }
    }

    fn cron(&mut self, wants: &Wants) {
        let main = self.main;
        let in_detail = wants.focus == Pane::Detail;
        let one = self.screen.width < STACKED_FROM_WIDTH || self.screen.height < STACKED_FROM_HEIGHT;
        if wants.zoom == Zoom::In || (one && in_detail) {
            match in_detail {
                true => self.job = Some(PaneArea::of(main)),
                false => self.place_list(main, wants),
            }
            return;
        }
        let three = self.screen.width >= THREE_FROM.0 && self.screen.height >= THREE_FROM.1;
        let filter = u16::from(wants.filter == Line::Shown);
        let most = if three { main.height / 3 } else { main.height * 2 / 5 };
        let list = cells(wants.jobs).clamp(1, most.max(1)) + 1 + filter;
        match (wants.timeline_rows, three) {
            (None, _) if one => self.place_list(main, wants),
            (Some(rows), true) => {
                let (list, rest) = from_top(main, list);
                let (job, timeline) = from_bottom(rest, cells(rows).min(main.height / 3));
                self.place_list(list, wants);
                self.job = Some(PaneArea::of(job));
                self.timeline = Some(PaneArea::of(timeline));
            }
            (timeline, _) => {
                let (list, below) = from_top(main, list);
                self.place_list(list, wants);
                match timeline {
                    Some(_) if !in_detail => self.timeline = Some(PaneArea::of(below)),
                    _ => self.job = Some(PaneArea::of(below)),
                }
            }
        }
    }

    fn place_beside(&mut self, area: Rect, wants: &Wants) {
        let (list, rest) = from_left(area, LIST_WIDTH);
        let (divider, session) = from_left(rest, 1);
        self.rows_per_session = 2;
        self.divider = Some(divider);
        self.place_list(list, wants);
        self.place_session(session, wants);
    }

    fn place_list(&mut self, area: Rect, wants: &Wants) {
        let list = PaneArea::of(area);
        let (filter, body) = from_top(list.body, u16::from(wants.filter == Line::Shown));
        self.filter = (filter.height > 0).then_some(filter);
        self.list = Some(PaneArea { body, ..list });
    }

    fn place_conversation(&mut self, area: Rect, wants: &Wants) {
        let (area, plan) = from_bottom(area, plan_rows(area, wants));
        self.plan = (plan.height > 0).then(|| PaneArea::of(plan));
        let conversation = PaneArea::of(area);
        let (search, body) = from_top(conversation.body, u16::from(wants.search == Line::Shown));
        self.search = (search.height > 0).then_some(search);
        self.conversation = Some(PaneArea { body, ..conversation });
    }

    fn place_zoomed(&mut self, area: Rect, wants: &Wants) {
        match wants.focus {
            Pane::Conversation => self.place_conversation(area, wants),
            Pane::Queue => self.queue = Some(PaneArea::of(area)),
            Pane::Composer | Pane::List | Pane::Detail | Pane::Filter => {
                let (composer, acknowledgement) = from_bottom(area, acknowledgement_rows(area, wants));
                self.composer = Some(PaneArea::of(composer));
                self.acknowledgement = Some(acknowledgement);
            }
        }
    }

    /// The session in front: its conversation, what waits, and the composer at the bottom.
    fn place_session(&mut self, area: Rect, wants: &Wants) {
        let most_draft = (area.height / 3).clamp(1, MOST_DRAFT_ROWS);
        let draft = cells(wants.draft_rows).clamp(1, most_draft);
        let told = acknowledgement_rows(area, wants);
        let (rest, composer) = from_bottom(area, draft + 1 + told);
        let (composer, acknowledgement) = from_bottom(composer, told);
        self.composer = Some(PaneArea::of(composer));
        self.acknowledgement = Some(acknowledgement);
        let most_queue = (rest.height / 3).min(MOST_QUEUE_ROWS);
        let queue = cells(wants.waiting).min(most_queue);
        let (conversation, queue) = from_bottom(rest, if queue == 0 { 0 } else { queue + 1 });
        self.place_conversation(conversation, wants);
        self.queue = (queue.height > 0).then(|| PaneArea::of(queue));
    }
}

/// Its title always, its entries where there is room for them.
fn plan_rows(conversation: Rect, wants: &Wants) -> u16 {
    match conversation.height {
        _ if wants.planned == 0 => 0,
        PLAN_ENTRIES_FROM_HEIGHT.. => 1 + cells(wants.planned).min(MOST_PLAN_ROWS),
        PLAN_FROM_HEIGHT.. => 1,
        _ => 0,
    }
}

/// One row always, more for words that need them.
fn acknowledgement_rows(area: Rect, wants: &Wants) -> u16 {
    cells(wants.acknowledgement_rows).clamp(1, (area.height / 6).max(1))
}

/// A quarter of the screen, less if there are fewer sessions; one row more for title and filter.
fn stacked_list_height(main: Rect, wants: &Wants) -> u16 {
    let rows = cells(wants.sessions).clamp(1, (main.height / 4).max(1));
    rows + 1 + u16::from(wants.filter == Line::Shown)
}

/// The columns that a composer has on this screen, while panes share it.
pub fn composer_width(screen: Rect) -> u16 {
    match Shape::of(screen) {
        Shape::OneAtATime | Shape::Stacked => screen.width,
        Shape::Beside => screen.width.saturating_sub(LIST_WIDTH + 1),
        Shape::BesideWithDetails => screen.width.saturating_sub(LIST_WIDTH + 1 + DETAILS_WIDTH + 1),
    }
}

/// Where a card of this size stands: in the middle, a little above the true one.
pub fn card(screen: Rect, width: u16, height: u16) -> Rect {
    // A strip of what is behind, too narrow to read, is worse than none.
    const STRIP: u16 = 4;
    let width = if width.saturating_add(STRIP) >= screen.width { screen.width } else { width };
    let height = height.min(screen.height);
    let x = screen.x + (screen.width - width) / 2;
    let y = screen.y + (screen.height - height) / 3;
    Rect { x, y, width, height }
}

/// The first `rows` of `area`, and the rest.
pub fn from_top(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    let rest = Rect { y: area.y + rows, height: area.height - rows, ..area };
    (Rect { height: rows, ..area }, rest)
}

/// What is above the last `rows` of `area`, and these.
pub fn from_bottom(area: Rect, rows: u16) -> (Rect, Rect) {
    from_top(area, area.height.saturating_sub(rows))
}

/// The first `columns` of `area`, and the rest.
pub fn from_left(area: Rect, columns: u16) -> (Rect, Rect) {
    let columns = columns.min(area.width);
    let rest = Rect { x: area.x + columns, width: area.width - columns, ..area };
    (Rect { width: columns, ..area }, rest)
}

/// What is left of the last `columns` of `area`, and these.
pub fn from_right(area: Rect, columns: u16) -> (Rect, Rect) {
    from_left(area, area.width.saturating_sub(columns))
}

fn cells(n: usize) -> u16 {
    u16::try_from(n).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PLAIN: Wants = Wants {
        view: View::Sessions,
        focus: Pane::Composer,
        zoom: Zoom::Out,
        sessions: 6,
        jobs: 4,
        timeline_rows: None,
        banner_rows: 0,
        planned: 0,
        waiting: 3,
        draft_rows: 1,
        acknowledgement_rows: 1,
        filter: Line::Hidden,
        search: Line::Hidden,
    };

    fn at(width: u16, height: u16, wants: &Wants) -> Layout {
        Layout::of(Rect::new(0, 0, width, height), wants).unwrap()
    }

    #[test]
    fn a_screen_that_is_too_small_has_no_layout() {
        for (width, height) in [(0, 0), (39, 24), (80, 9)] {
            assert_eq!(Layout::of(Rect::new(0, 0, width, height), &PLAIN), None);
        }
        assert!(Layout::of(Rect::new(0, 0, 40, 10), &PLAIN).is_some());
    }

    #[test]
    fn the_list_is_over_then_beside_the_conversation_and_details_come_third() {
        let over = at(80, 24, &PLAIN);
        assert!(over.list.unwrap().body.bottom() <= over.conversation.unwrap().title.y);
        let beside = at(120, 40, &PLAIN);
        assert!(beside.list.unwrap().body.right() < beside.conversation.unwrap().body.x);
        assert_eq!(beside.list.unwrap().title.y, beside.conversation.unwrap().title.y);
        assert_eq!(beside.details, None);
        let third = at(160, 50, &PLAIN);
        assert!(third.conversation.unwrap().body.right() < third.details.unwrap().body.x);
    }

    #[test]
    fn a_narrow_screen_shows_the_focused_pane() {
        let list = at(59, 24, &Wants { focus: Pane::List, ..PLAIN });
        assert!(list.list.is_some() && list.conversation.is_none());
        let session = at(59, 24, &PLAIN);
        assert!(session.list.is_none() && session.conversation.is_some() && session.composer.is_some());
    }

    #[test]
    fn a_zoomed_pane_has_everything_between_tabs_and_footer() {
        let zoomed = at(120, 40, &Wants { zoom: Zoom::In, focus: Pane::Conversation, ..PLAIN });
        assert_eq!(zoomed.conversation.unwrap().whole(), zoomed.main);
        assert!(zoomed.list.is_none() && zoomed.composer.is_none());
    }

    #[test]
    fn the_queue_takes_room_only_while_something_waits() {
        assert_eq!(at(80, 24, &Wants { waiting: 0, ..PLAIN }).queue, None);
        assert_eq!(at(80, 24, &PLAIN).queue.unwrap().body.height, 3);
    }

    #[test]
    fn a_plan_has_a_line_and_its_entries_where_there_is_room() {
        let rows = |height, planned| {
            let layout = at(80, height, &Wants { planned, ..PLAIN });
            layout.plan.map(|plan| plan.whole().height)
        };
        assert_eq!([rows(24, 0), rows(50, 0)], [None; 2]);
        assert_eq!([rows(10, 9), rows(24, 9), rows(50, 9), rows(50, 3)], [None, Some(1), Some(6), Some(4)]);
    }

    proptest! {
        #[test]
        fn panes_never_overlap_nor_leave_the_screen(
            width in 40u16..220, height in 10u16..70,
            focus in prop::sample::select(vec![Pane::List, Pane::Detail, Pane::Conversation, Pane::Queue, Pane::Composer]),
            zoom in prop::sample::select(vec![Zoom::In, Zoom::Out]),
            view in prop::sample::select(View::ALL.to_vec()),
            jobs in 0usize..3_000, timeline_rows in prop::option::of(0usize..3_000), banner_rows in 0usize..20,
            sessions in 0usize..200_000, waiting in 0usize..100, planned in 0usize..100, draft_rows in 0usize..100, acknowledgement_rows in 0usize..9,
        ) {
            let wants = Wants { view, focus, zoom, sessions, jobs, timeline_rows, banner_rows, planned, waiting, draft_rows, acknowledgement_rows, filter: Line::Shown, search: Line::Shown };
            let layout = at(width, height, &wants);
            let panes = [
                layout.list, layout.job, layout.timeline, layout.conversation, layout.plan, layout.queue,
                layout.composer, layout.details,
            ];
            let mut areas: Vec<Rect> = panes.into_iter().flatten().map(|pane| pane.whole()).collect();
            areas.extend([layout.header, layout.tabs, layout.footer]);
            areas.extend(layout.banner);
            areas.extend([layout.divider, layout.details_divider, layout.acknowledgement].into_iter().flatten());
            for (at, area) in areas.iter().enumerate() {
                prop_assert_eq!(area.intersection(layout.screen), *area);
                for other in &areas[at + 1..] {
                    prop_assert!(!area.intersects(*other), "{area:?} {other:?}");
                }
            }
        }
    }
}
