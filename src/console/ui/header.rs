//! The header: what needs a person, what runs, who answers, how the engine is reached. No seconds,
//! except while the engine stops.

use ratatui::layout::Rect;

use super::canvas::Pen;
use super::paint::Paint;
use super::text;
use super::theme::Role;
use super::words::{minute, second};
use crate::console::app::action::Action;
use crate::console::app::header::{Engine, Header, header};
use crate::console::app::model::Access;
use crate::console::app::words::{age, count};
use crate::domain::api::{CronHealth, Waited};
use crate::domain::recovery::AfterStop;
use crate::domain::sanitize::one_line;

/// Between two parts.
const GAP: usize = 3;
/// From so many cells on, all of a stop's words have room.
const ROOMY: usize = 100;

pub(super) fn draw(paint: &mut Paint<'_>, area: Rect) {
    let model = paint.model;
    let header = header(model);
    let parts = parts(paint, &header, usize::from(area.width));
    let clock = format!("{} {} ", header.clock, header.zone);
    let ellipsis = paint.canvas.glyphs.ellipsis;
    let mut pen = paint.row(area, 0);
    pen.right(&clock, Role::Text);
    // What needs a person, and what runs or can't be changed, come before it; so does what a stop waits for.
    let first = if header.drain.is_some() { 3 } else { 2 };
    let before: usize = parts.iter().take(first).map(|(words, _)| text::width(words) + GAP).sum();
    let fits = |engine: &String| before + text::width(engine) + 2 <= pen.room();
    if let Some(engine) = engine_words(&header.engine).into_iter().find(fits) {
        pen.right(" ", Role::Text).right(&engine, Role::Quiet);
    }
    pen.skip(1);
    for (at, (words, role)) in parts.iter().enumerate() {
        put_part(&mut pen, at, words, *role);
    }
    put_agent(&mut pen, &header.agent, ellipsis);
}

/// Who answers comes last: what there is no room for is cut.
fn put_agent(pen: &mut Pen<'_>, agent: &str, ellipsis: &str) {
    const LEAST: usize = 24;
    let room = pen.room().saturating_sub(GAP + 1);
    if text::width(agent) <= room || room >= LEAST {
        pen.skip(GAP).put(&cut(agent, room, ellipsis), Role::Quiet);
    }
}

/// Writes a part if there is room for all of it; the first one is cut rather than left out.
fn put_part(pen: &mut Pen<'_>, at: usize, words: &str, role: Role) {
    let gap = if at == 0 { 0 } else { GAP };
    // A blank is left before what stands right, beside the one that is always there.
    if at == 0 || text::width(words) + gap < pen.room() {
        pen.skip(gap).put(words, role);
    }
}

/// What is said, most urgent first.
fn parts(paint: &mut Paint<'_>, header: &Header, room: usize) -> Vec<(String, Role)> {
    let model = paint.model;
    let mut parts = Vec::new();
    match header.engine {
        Engine::Gone(at) => {
            let words = format!("ENGINE GONE at {}, screen is old", second(at, model.zone));
            parts.push((words, Role::NeedsYou));
        }
        Engine::Stopped(at) => {
            let words = format!("ENGINE STOPPED at {}, screen is old", second(at, model.zone));
            parts.push((words, Role::Warning));
        }
        Engine::Here | Engine::Attached(_) | Engine::StoreOnly => {}
    }
    if let Some(since) = header.silent_since {
        let words = format!("ENGINE DOES NOT ANSWER since {}", second(since, model.zone));
        parts.push((words, Role::NeedsYou));
    }
    if let Some(trouble) = &header.trouble {
        let since = minute(trouble.since, model.zone);
        parts.push((format!("! STORE: nothing kept since {since}: {}", trouble.why), Role::NeedsYou));
    }
    let needs = header.needs_you.filter(|n| *n > 0);
    if let Some(drain) = &header.drain {
        paint.motion.counts_seconds();
        let left = (drain.until - model.now).num_seconds().max(0);
        let does = match drain.then {
            AfterStop::End => "STOPPING",
            AfterStop::Restart => "RESTARTING",
        };
        parts.push((format!("{does}, {left} s left"), Role::Warning));
        parts.extend(needs.map(|n| needs_you(paint, n)));
        let words = match needs {
            Some(_) if room < ROOMY => format!("{} run", drain.waits_for.len()),
            _ => still_run(&drain.waits_for),
        };
        parts.push((words, Role::Runs));
    }
    if let Some(hold) = &header.hold {
        // What needs a person is seen beside it.
        parts.extend(needs.map(|n| needs_you(paint, n)));
        let since = minute(hold.since, model.zone);
        let room = if needs.is_some() { room / 5 } else { room / 3 };
        let why = if hold.why.is_empty() { "no job fires, no queue moves" } else { hold.why.as_str() };
        let why = cut(&one_line(why), room, paint.canvas.glyphs.ellipsis);
        parts.push((format!("HOLD since {since}: {why}"), Role::Held));
        parts.extend(header.release.clone().map(|key| (key, Role::Key)));
    }
    if let Some(CronHealth::Late { since, why }) = &header.cron {
        let late = age(model.as_of() - *since);
        let why = cut(why, room / 3, paint.canvas.glyphs.ellipsis);
        parts.push((format!("! CRON LATE: no good pass for {late} ({why})"), Role::NeedsYou));
    }
    if let Some(behind) = &header.behind {
        parts.push((behind.clone(), Role::Warning));
    }
    match header.needs_you {
        Some(0) if parts.is_empty() => parts.push(("all quiet".to_owned(), Role::Good)),
        Some(0) | None => {}
        Some(_) if header.hold.is_some() || header.drain.is_some() => {}
        Some(n) => parts.push(needs_you(paint, n)),
    }
    if header.drain.is_some() {
        parts.push(("no turn begins".to_owned(), Role::Text));
    }
    if header.access == Access::ReadOnly {
        parts.insert(parts.len().min(1), ("READ-ONLY".to_owned(), Role::Warning));
    }
    if header.drain.is_none() && model.overview.is_some() {
        parts.push(match header.running {
            _ if matches!(header.engine, Engine::Gone(_) | Engine::Stopped(_)) => still_ran(header.running),
            0 => ("no turn runs".to_owned(), Role::Text),
            n if header.engine == Engine::StoreOnly => {
                (format!("{} cut off", count(n, "turn")), Role::Warning)
            }
            1 => ("1 turn runs".to_owned(), Role::Runs),
            n => (format!("{n} turns run"), Role::Runs),
        });
    }
    match &header.cron {
        Some(CronHealth::Ok) if model.cron.total > 0 && fires(&header.engine) => {
            parts.push(("cron ok".to_owned(), Role::Quiet));
        }
        Some(CronHealth::StoredCopy { .. }) => {
            parts.push(("cron: STORED COPY".to_owned(), Role::Warning));
        }
        _ => {}
    }
    if model.overview.is_none() && parts.is_empty() {
        parts.push(("reading".to_owned(), Role::Quiet));
    }
    parts
}

fn needs_you(paint: &mut Paint<'_>, n: usize) -> (String, Role) {
    let needs = if n == 1 { "NEEDS" } else { "NEED" };
    let key = paint.key_everywhere(Action::NextNeed);
    (format!("! {n} {needs} YOU ({key})"), Role::NeedsYou)
}

/// Whether an engine is there to fire jobs.
fn fires(engine: &Engine) -> bool {
    matches!(engine, Engine::Here | Engine::Attached(_))
}

/// What ran when the engine was seen last.
fn still_ran(turns: usize) -> (String, Role) {
    match turns {
        0 => ("no turn ran".to_owned(), Role::Quiet),
        n => (format!("{} ran", count(n, "turn")), Role::Quiet),
    }
}

fn still_run(waits_for: &[Waited]) -> String {
    let turns = waits_for.iter().filter(|waited| matches!(waited, Waited::Turn { .. })).count();
    match (turns, waits_for.len() - turns) {
        (1, 0) => "1 turn still runs".to_owned(),
        (0, 1) => "1 script still runs".to_owned(),
        (turns, 0) => format!("{} still run", count(turns, "turn")),
        (0, scripts) => format!("{} still run", count(scripts, "script")),
        (turns, scripts) => format!("{} and {} still run", count(turns, "turn"), count(scripts, "script")),
    }
}

/// How the engine is reached, in words and in fewer words.
fn engine_words(engine: &Engine) -> Vec<String> {
    match engine {
        Engine::Here => vec!["engine: here".to_owned()],
        Engine::Attached(pid) => vec![format!("engine: attached pid {pid}"), format!("pid {pid}")],
        Engine::StoreOnly => vec!["no engine: the store as it was left".to_owned(), "no engine".to_owned()],
        Engine::Gone(_) | Engine::Stopped(_) => Vec::new(),
    }
}

/// `words` in at most so many cells.
fn cut(words: &str, cells: usize, ellipsis: &str) -> String {
    let head = text::head(words, cells);
    match head.all {
        text::All::Yes => words.to_owned(),
        text::All::No => format!("{}{ellipsis}", text::head(words, cells.saturating_sub(1)).text),
    }
}
