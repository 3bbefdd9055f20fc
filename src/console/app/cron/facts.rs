//! What there is to know about a job and about a run, in labelled lines.

use super::{Detail, Job, words as columns};
use crate::console::app::Model;
use crate::console::app::action::Action;
use crate::console::app::facts::{Fact, today};
use crate::console::app::typing::key_name;
use crate::console::app::words::{clock, count, second};
use crate::domain::api::JobState;
use crate::domain::cron::{Definition, Execution, ExecutionState, Misfire, Overlap, Paused, SessionMode};
use crate::domain::event::excerpt_of;
use crate::domain::sanitize::one_line;

/// A detail has room for no more of a text.
const MOST_CHARS: usize = 2000;

/// What a job is, beside its row: what its definition says, its next slots and what to know of them.
pub fn definition(model: &Model, job: &Job, detail: Option<&Detail>) -> Vec<Fact> {
    let mut facts = standing(model, job);
    let written = detail.and_then(|detail| detail.definition.as_deref());
    facts.push(("schedule", schedule(job)));
    let broken = matches!(job.row.state, JobState::Error { .. });
    if let Some(detail) = detail.filter(|detail| !broken && !detail.next.is_empty()) {
        facts.push(("next", slots(model, job, detail)));
    }
    facts.extend(today(model, detail.and_then(|detail| detail.today.as_ref())));
    let warnings = detail.into_iter().flat_map(|detail| &detail.warnings);
    facts.extend(warnings.map(|words| ("warning", words.clone())));
    facts.extend(written.into_iter().flat_map(purpose));
    facts.extend(written.into_iter().flat_map(|written| rules(written, job)));
    facts
}

/// Why a job does not just wait for its next slot.
fn standing(model: &Model, job: &Job) -> Vec<Fact> {
    let mut facts = of_state(model, job);
    if matches!(job.row.state, JobState::RunsOn { .. }) {
        return facts;
    }
    facts.extend(job.row.paused.iter().flat_map(|paused| pause(model, paused)));
    facts
}

fn pause(model: &Model, Paused { since, why }: &Paused) -> [Fact; 2] {
    let why = why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    let key = key_name(model, Action::PauseJob);
    [
        ("paused", format!("no slot is taken since {}{why}", clock(model, *since))),
        ("frees it", format!("{key} resumes it; slots that passed meanwhile are not caught up")),
    ]
}

fn of_state(model: &Model, job: &Job) -> Vec<Fact> {
    let key = |action| key_name(model, action);
    match &job.row.state {
        JobState::Error { faults } => {
            let mut facts: Vec<Fact> = faults.iter().map(|fault| ("error", fault.clone())).collect();
            facts.push((
                "frees it",
                format!("{} opens the file at it; the other jobs go on", key(Action::EditFile)),
            ));
            facts
        }
        JobState::Flagged => vec![
            ("fails", columns::of_state(model, &job.row)),
            ("frees it", format!("one run that works: {} runs it now", key(Action::RunNow))),
        ],
        JobState::Running => vec![
            ("runs", columns::of_state(model, &job.row)),
            ("frees it", format!("its end; {} stops it", key(Action::StopRun))),
        ],
        JobState::RunsOn { at } => vec![
            ("runs", columns::of_state(model, &job.row)),
            ("gone", format!("from jobs.json {}: no slot of it is taken any more", clock(model, *at))),
            (
                "frees it",
                format!("its end, with which it leaves the list; {} stops it", key(Action::StopRun)),
            ),
        ],
        JobState::Waiting if job.row.held().is_some() => vec![
            ("waits", columns::of_state(model, &job.row)),
            ("frees it", "the next day, a raised limit, or today /continue in its session".to_owned()),
        ],
        JobState::Waiting => vec![(
            "waits",
            match columns::waits_for_engine(model) {
                worker @ "for a worker" => format!("{worker}: cron.max_parallel runs go on already"),
                other => other.to_owned(),
            },
        )],
        JobState::Completed { at } => {
            vec![(
                "completed",
                format!("{}: all its runs are done; it is listed for 7 days", clock(model, *at)),
            )]
        }
        JobState::Vanished { at } => {
            vec![(
                "vanished",
                format!("gone from jobs.json {}; its state is kept for 30 days", clock(model, *at)),
            )]
        }
        JobState::Scheduled | JobState::Paused => Vec::new(),
    }
}

/// `*/30 * * * *: every 30 minutes, Europe/Berlin`.
fn schedule(job: &Job) -> String {
    let row = &job.row;
    if matches!(row.state, JobState::Error { .. }) {
        // What it meant before it was broken is no meaning of it.
        return row.schedule.clone();
    }
    let words = if row.words.is_empty() || row.words == row.schedule {
        String::new()
    } else {
        format!(": {}", row.words)
    };
    let zone = if row.zone.is_empty() { String::new() } else { format!(", {}", row.zone) };
    format!("{}{words}{zone}", row.schedule)
}

/// `14:30 in 28 min, 15:00, 15:30`, on the clock of the job; where that is another, the first on the operator's too.
fn slots(model: &Model, job: &Job, detail: &Detail) -> String {
    let zone = job.row.zone.parse().unwrap_or(model.zone);
    let Some((first, others)) = detail.next.split_first() else { return String::new() };
    let mut slots =
        vec![format!("{} {}", columns::slot_in(model, *first, zone), columns::distance(model, *first))];
    slots.extend(others.iter().map(|at| columns::slot_in(model, *at, zone)));
    let here = if zone == model.zone {
        String::new()
    } else {
        let name = first.with_timezone(&model.zone).format("%Z");
        format!("; in {zone} (here {} {name})", columns::slot(model, *first))
    };
    format!("{}{here}", slots.join(", "))
}

/// What it is for, what it does it with, and who gets the result.
fn purpose(written: &Definition) -> Vec<Fact> {
    let safe = |text: &str| one_line(&excerpt_of(text, MOST_CHARS)).into_owned();
    let list = |texts: &[String]| texts.iter().map(|text| safe(text)).collect::<Vec<_>>().join(", ");
    let mut facts: Vec<Fact> = Vec::new();
    facts.extend(written.description.as_deref().map(|text| ("for", safe(text))));
    facts.extend(written.prompt.as_deref().map(|text| ("prompt", safe(text))));
    if !written.skills.is_empty() {
        facts.push(("skills", list(&written.skills)));
    }
    if let Some(script) = &written.script {
        let alone = if written.no_agent { ", without an agent: its output is the result" } else { "" };
        facts.push(("script", format!("{}{alone}", safe(script))));
    }
    if !written.context_from.is_empty() {
        let jobs: Vec<String> = written.context_from.iter().map(ToString::to_string).collect();
        facts.push(("reads", format!("the newest output of {}", jobs.join(", "))));
    }
    facts.push(("delivers to", targets(written)));
    facts
}

/// Who gets the result of a job; safe to show.
pub(in crate::console::app) fn targets(written: &Definition) -> String {
    match written.deliver_to.as_slice() {
        [] => "the console, as nothing else is named".to_owned(),
        targets => {
            let names = targets.iter().map(|target| one_line(&target.to_string()).into_owned());
            names.collect::<Vec<_>>().join(", ")
        }
    }
}

/// What is not as it usually is.
fn rules(written: &Definition, job: &Job) -> Vec<Fact> {
    let mut rules = Vec::new();
    if let Some(times) = written.repeat {
        let left = job.row.runs_left.map(|left| format!(", {left} left")).unwrap_or_default();
        rules.push(format!("{}{left}", count(times as usize, "run")));
    }
    match written.misfire {
        Misfire::Once => {}
        Misfire::Skip => rules.push("missed slots are skipped".to_owned()),
        Misfire::All(most) => {
            rules.push(format!("up to {} are caught up", count(most as usize, "missed slot")))
        }
    }
    match written.overlap {
        Overlap::Skip => {}
        Overlap::Queue => rules.push("one run waits behind one that goes on".to_owned()),
        Overlap::Allow => rules.push("runs may overlap".to_owned()),
        Overlap::Replace => rules.push("a new run stops the one before".to_owned()),
    }
    if written.session == SessionMode::Keep {
        rules.push("all runs share one memory".to_owned());
    }
    if written.jitter_seconds > 0 {
        rules.push(format!("set off by up to {} s", written.jitter_seconds));
    }
    rules.extend(written.timeout_minutes.map(|minutes| format!("stopped after {minutes} min")));
    let safe = |text: &str| one_line(text).into_owned();
    rules.extend(written.model.as_deref().map(|model| format!("model {}", safe(model))));
    rules.extend(written.workdir.as_deref().map(|folder| format!("in {}", safe(folder))));
    if rules.is_empty() { Vec::new() } else { vec![("rules", rules.join("; "))] }
}

/// What there is to know about a job, for its card.
pub(in crate::console::app) fn job(model: &Model, job: &Job) -> Vec<Fact> {
    let detail = model.cron.current_detail();
    let mut facts = vec![("state", job.row.state_words())];
    facts.extend(definition(model, job, detail));
    if let Some(at) = job.row.next {
        facts.push((
            "then",
            format!(
                "its slot of {}, {}",
                job.row.slot_words(at, model.now),
                columns::fine_distance(model, at)
            ),
        ));
    }
    facts.extend(job.row.last.as_ref().map(|last| ("last", last_words(model, last))));
    if job.row.failures > 0 {
        facts.push(("failures", format!("{} in a row", job.row.failures)));
    }
    facts.extend(job.row.id.as_ref().map(|id| ("id", id.to_string())));
    facts
}

fn last_words(model: &Model, run: &Execution) -> String {
    format!("{} {}", columns::due(model, run), columns::outcome(model, run))
}

/// What there is to know about a run, for its card.
pub(in crate::console::app) fn run(model: &Model, run: &Execution) -> Vec<Fact> {
    let at = |at| second(model, at);
    let mut facts = vec![("state", columns::state(run.state).to_owned())];
    let why = if run.undone().is_some() { "not done" } else { "why" };
    facts.extend(run.why.clone().map(|words| (why, words)));
    let how = columns::how(run);
    facts.push((
        "due",
        format!("{}{}", columns::due(model, run), if how.is_empty() { how } else { format!(", {how}") }),
    ));
    facts.push(("taken", at(run.taken_at)));
    facts.extend(run.began_at.map(|began| ("began", at(began))));
    facts.extend(run.ended_at.map(|ended| ("ended", at(ended))));
    facts.extend(columns::took(model, run).map(|took| ("took", took)));
    if run.attempt > 1 {
        facts.push((
            "try",
            format!("{} at beginning it: the engine before died before the run began", run.attempt),
        ));
    }
    if let Some(claim) = &run.claim {
        facts.push((
            "held by",
            format!(
                "{} since {}, until {} without a sign of life",
                claim.holder(),
                at(claim.since),
                at(claim.expires_at)
            ),
        ));
    }
    match run.state {
        ExecutionState::Waiting => {
            let waits = model.cron.current_detail().and_then(|detail| columns::waits_for(model, detail, run));
            match run.held() {
                Some(why) => facts.push(("waits", why.to_owned())),
                None => facts.extend(waits.map(|words| ("waits", words.to_owned()))),
            }
        }
        ExecutionState::Claimed | ExecutionState::Running => {
            facts.push(("frees it", format!("its end; {} stops it", key_name(model, Action::StopRun))));
        }
        ExecutionState::Unknown | ExecutionState::Interrupted => {
            facts.push((
                "next",
                format!("nothing by itself: {} runs the job again", key_name(model, Action::RunNow)),
            ));
        }
        _ => {}
    }
    let names = columns::deliveries(run);
    if !names.is_empty() {
        facts.push(("delivered", names));
    }
    facts.extend(run.output.clone().map(|output| ("document", output)));
    facts.extend(run.session.as_ref().map(|session| ("session id", session.to_string())));
    facts.extend(run.turn.map(|turn| ("turn", turn.to_string())));
    facts.push(("run", run.id.to_string()));
    facts
}
