//! What can be done with jobs and their runs.

use super::reading::{self, Reading};
use super::{Detail, Job, facts, file, run_changed, words as columns};
use crate::console::app::action::Action;
use crate::console::app::focus::{Focus, Pane, View};
use crate::console::app::model::Access;
use crate::console::app::msg::{Effect, FilePlace, Pace, Question, Tone};
use crate::console::app::overlay::Deed;
use crate::console::app::typing::key_name;
use crate::console::app::words::clock;
use crate::console::app::{Model, acts, asking, front, panes, walk};
use crate::domain::api::{Command, JobCommand, JobState, JobsFileState};
use crate::domain::cron::{Counting, Execution, ExecutionState, JobId};

/// Why an action of this view can't be done now.
pub(in crate::console::app) fn why_not(model: &Model, action: Action) -> Option<String> {
    let cron = &model.cron;
    match action {
        Action::ShowTimeline => return None,
        Action::EditFile => return no_file_to_edit(model),
        Action::TakeCopy => return no_copy_to_take(model),
        Action::AddJob | Action::EditJob | Action::DuplicateJob | Action::RemoveJob
            if file::trouble(model).is_some() =>
        {
            let [repair, take] = [Action::EditFile, Action::TakeCopy].map(|action| key_name(model, action));
            return Some(format!(
                "jobs.json is unreadable: {repair} opens it to repair it, {take} takes the stored copy"
            ));
        }
        Action::AddJob => return None,
        _ => {}
    }
    let Some(job) = cron.current() else { return Some("no job is selected".to_owned()) };
    if job.row.id.is_none() {
        let key = key_name(model, Action::EditFile);
        return Some(format!("its record has no id that can be used: {key} opens the file at it"));
    }
    let vanished = matches!(job.row.state, JobState::Vanished { .. } | JobState::RunsOn { .. });
    match action {
        Action::EditJob | Action::DuplicateJob | Action::RemoveJob | Action::RunNow | Action::PauseJob
            if vanished =>
        {
            Some("it is gone from jobs.json: put it back there to go on with it".to_owned())
        }
        // The form opens as soon as the definition is read.
        Action::EditJob if cron.current_detail().is_none() => None,
        Action::EditJob | Action::DuplicateJob => no_form(model),
        Action::RunNow => match job.row.state {
            JobState::Error { .. } => {
                let key = key_name(model, Action::EditFile);
                Some(format!("its record can't be used: {key} opens the file at it"))
            }
            _ => None,
        },
        Action::StopRun => to_stop(model).is_none().then(|| "no run of it goes on or waits".to_owned()),
        Action::ReadOutput => {
            with_output(model).is_none().then(|| "no run of it has left a document yet".to_owned())
        }
        Action::OlderRun => {
            let last = cron.current_detail().is_none_or(|detail| cron.run + 1 >= detail.runs.len());
            last.then(|| "there is no older run".to_owned())
        }
        Action::NewerRun => (cron.run == 0).then(|| "this is the newest run".to_owned()),
        Action::OpenJob if model.pane == Pane::Detail => match cron.current_run() {
            None => Some("it never ran".to_owned()),
            Some(run) if run.session.is_none() => {
                Some("this run had no session: no agent was asked".to_owned())
            }
            Some(_) => None,
        },
        _ => None,
    }
}

fn no_file_to_edit(model: &Model) -> Option<String> {
    match (model.access, &model.cron.file) {
        (Access::ReadOnly, _) => {
            Some("read-only: start switchboard without --read-only to change things".to_owned())
        }
        (Access::Full, JobsFileState::Missing) => {
            let key = key_name(model, Action::AddJob);
            Some(format!("there is no jobs.json yet: {key} adds a job to a new one"))
        }
        (Access::Full, _) => None,
    }
}

fn no_copy_to_take(model: &Model) -> Option<String> {
    match file::trouble(model) {
        None if model.cron.file == JobsFileState::Missing => {
            Some("there is no jobs.json, and the stored copy is of no file: put it back".to_owned())
        }
        None => Some("jobs.json can be read: there is nothing to repair".to_owned()),
        Some(trouble) if trouble.stored_at.is_none() => {
            Some("there is no stored copy: jobs.json was never read".to_owned())
        }
        Some(_) => None,
    }
}

/// Why the selected job can't be put into the form.
fn no_form(model: &Model) -> Option<String> {
    match model.cron.current_detail() {
        None => Some("its definition is being read".to_owned()),
        Some(Detail { definition: None, .. }) => {
            let key = key_name(model, Action::EditFile);
            Some(format!("its record can't be read into a form: {key} opens the file at it"))
        }
        Some(_) => None,
    }
}

/// The run of the selected job that is to be stopped: the marked one, else the one that goes on, else one
/// that waits.
fn to_stop(model: &Model) -> Option<&Execution> {
    let open = |run: &&Execution| !run.state.is_over();
    let goes_on = |run: &&Execution| open(run) && run.state != ExecutionState::Waiting;
    let marked = model.pane == Pane::Detail || model.cron.run > 0;
    let marked = model.cron.current_run().filter(|_| marked).filter(open);
    let runs = model.cron.current_detail().map_or(&[][..], |detail| &detail.runs);
    marked
        .or_else(|| runs.iter().find(goes_on))
        .or_else(|| runs.iter().find(open))
        .or_else(|| model.cron.current()?.row.last.as_ref().filter(open))
}

/// The run whose document is read: the selected one, else the newest that has one.
fn with_output(model: &Model) -> Option<&Execution> {
    let has = |run: &&Execution| run.output.is_some();
    let detail = model.cron.current_detail()?;
    detail.runs.iter().skip(model.cron.run).find(has).or_else(|| detail.runs.iter().find(has))
}

/// Does an action of this view.
pub(in crate::console::app) fn perform(model: &mut Model, action: Action) {
    match action {
        Action::AddJob => crate::console::app::job_editor::add(model),
        Action::EditFile => edit_file(model),
        Action::ShowTimeline => {
            model.cron.timeline = model.cron.timeline.after();
            model.requests.mark(Question::Timeline, Pace::AtOnce);
        }
        Action::TakeCopy => ask_take_copy(model),
        Action::OlderRun => step(model, 1),
        Action::NewerRun => step(model, -1),
        Action::ReadOutput => {
            let Some(run) = with_output(model) else { return };
            let reading = Reading::Output { run: run.id, title: reading::title(model, run) };
            reading::ask(model, reading);
        }
        Action::OpenJob if model.pane == Pane::Detail => open_session(model),
        Action::OpenJob => panes::set_focus(model, Focus::Pane(Pane::Detail)),
        _ => with_job(model, action),
    }
}

fn with_job(model: &mut Model, action: Action) {
    let Some(job) = model.cron.current().cloned() else { return };
    let Some(id) = job.row.id.clone() else { return };
    match action {
        Action::EditJob if model.cron.current_detail().is_none() => await_form(model, id),
        Action::EditJob => crate::console::app::job_editor::edit(model),
        Action::DuplicateJob => crate::console::app::job_editor::duplicate(model),
        Action::RemoveJob => act(model, JobCommand::Remove { job: id }),
        Action::PauseJob if job.row.paused.is_some() => {
            act(model, JobCommand::Resume { job: id });
        }
        Action::PauseJob => act(model, JobCommand::Pause { job: id, why: None }),
        Action::RunNow => ask_run(model, &job, id),
        Action::StopRun => ask_stop(model, &job),
        _ => {}
    }
}

/// The form opens when the job's definition has come: what is typed until then is for the form.
pub(super) fn await_form(model: &mut Model, job: JobId) {
    let key = key_name(model, Action::Out);
    model.tell(Tone::Note, format!("the form of {job} opens when its definition is read; {key} leaves it"));
    model.cron.to_edit = Some(job);
    model.requests.mark(Question::Job, Pace::AtOnce);
}

fn act(model: &mut Model, command: JobCommand) {
    acts::act(model, Command::Job(command));
}

fn deed(command: JobCommand) -> Deed {
    Deed::Command(Box::new(Command::Job(command)))
}

fn ask_run(model: &mut Model, job: &Job, id: JobId) {
    let question = format!("Run {} now?", job.row.name);
    let written = model.cron.current_detail().and_then(|detail| detail.definition.as_deref());
    let to = match written {
        Some(written) => facts::targets(written),
        None => "its targets".to_owned(),
    };
    let reached = model.cron.current_detail().and_then(|detail| detail.today.as_ref()?.reached());
    let lifts = reached.map(|reached| {
        let limit = reached.words();
        format!(" Until the next day it and its slots run, though {limit} is reached.")
    });
    let lifts = lifts.unwrap_or_default();
    let detail = format!("Its result is delivered to {to}. No slot of it moves.{lifts}");
    let run = |counting| deed(JobCommand::Run { job: id.clone(), counting });
    let cancel = asking::button("cancel", Action::No, Deed::Nothing);
    let mut buttons = vec![cancel, asking::button("run it now", Action::Yes, run(Counting::Beside))];
    if let Some(left) = job.row.runs_left.filter(|left| *left > 0) {
        let title = format!("as one of the {left} left");
        buttons.push(asking::button(&title, Action::RunCounting, run(Counting::Counts)));
    }
    asking::open_question(model, &question, &detail, buttons);
}

fn ask_stop(model: &mut Model, job: &Job) {
    let Some(run) = to_stop(model) else { return };
    let stop = deed(JobCommand::StopRun { execution: run.id });
    let since = clock(model, run.began_at.unwrap_or(run.taken_at));
    if run.state == ExecutionState::Waiting {
        let question = format!("Withdraw the run of {} that waits?", job.row.name);
        let detail = format!("Since {since}. It never begins; a slot of it is not run again.");
        return asking::ask(model, &question, &detail, "withdraw it", stop);
    }
    let question = format!("Stop the run of {} that {}?", job.row.name, columns::state(run.state));
    let detail = format!("Since {since}. What it has said is kept; its slot is not run again.");
    asking::ask(model, &question, &detail, "stop it", stop);
}

fn ask_take_copy(model: &mut Model) {
    let Some(stored_at) = file::trouble(model).and_then(|trouble| trouble.stored_at) else { return };
    let question = format!("Write the stored copy of {} over jobs.json?", clock(model, stored_at));
    let detail = "The unreadable file is kept beside it as jobs.json.bad-TIME: what was changed in it since is only \
                  there.";
    asking::ask(model, &question, detail, "take the stored copy", deed(JobCommand::TakeStoredCopy));
}

/// Goes to an older run (1) or a newer one (-1).
fn step(model: &mut Model, by: isize) {
    let runs = model.cron.current_detail().map_or(0, |detail| detail.runs.len());
    model.cron.run = model.cron.run.saturating_add_signed(by).min(runs.saturating_sub(1));
    run_changed(model);
    walk::show_selection(model);
}

/// Opens the file where it can't be read, else at the selected job.
fn edit_file(model: &mut Model) {
    let broken = file::trouble(model).and_then(|trouble| trouble.what.place);
    let job = model.cron.current().map(|job| job.row.place);
    let place = match (broken, job) {
        (Some((line, _)), _) => FilePlace::Line(line),
        (None, Some(record)) => FilePlace::Record(record),
        (None, None) => FilePlace::Line(1),
    };
    model.effects.push(Effect::EditJobsFile(place));
}

/// Goes to the session of the selected run; one that is not live any more is read as a text.
fn open_session(model: &mut Model) {
    let Some(run) = model.cron.current_run() else { return };
    let Some(session) = run.session.clone() else { return };
    let newest = model
        .cron
        .current_detail()
        .and_then(|detail| detail.runs.iter().find_map(|run| run.session.as_ref()));
    if newest != Some(&session) {
        let reading = Reading::Transcript { session, title: reading::title(model, run) };
        return reading::ask(model, reading);
    }
    let Ok(key) = run.job.session_key() else { return };
    acts::show_view(model, View::Sessions);
    front::go_to(model, &key);
    panes::set_focus(model, Focus::Pane(Pane::Conversation));
}
