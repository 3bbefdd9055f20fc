//! What a frame costs: it must not grow with what is not seen.

#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../tests/support/alerts.rs"]
#[allow(unreachable_pub, reason = "a part of it is used here")]
mod alerts;
#[path = "../tests/support/jobs.rs"]
#[allow(dead_code, unreachable_pub, reason = "a part of it is used here")]
mod jobs;
#[path = "../tests/support/models.rs"]
#[allow(dead_code, unreachable_pub, reason = "a part of it is used here")]
mod models;

use divan::Bencher;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use switchboard::console::ui::Ui;
use switchboard::console::ui::glyphs::UNICODE;
use switchboard::console::ui::theme::{Colours, Theme};

fn main() {
    divan::main();
}

/// A frame of 200 by 60 cells with a long conversation that streams.
#[divan::bench(args = [10, 100, 100_000])]
fn sessions(bencher: Bencher<'_, '_>, sessions: u32) {
    draw(bencher, &models::many(sessions, 99).screen(200, 60));
}

/// The same with so many entries loaded.
#[divan::bench(args = [9, 99, 999])]
fn entries(bencher: Bencher<'_, '_>, entries: i64) {
    draw(bencher, &models::many(100, entries).screen(200, 60));
}

/// A week of jobs that are due each minute, all at once.
#[divan::bench(args = [1, 10, 100])]
fn timeline(bencher: Bencher<'_, '_>, minutely: usize) {
    let mut engine = models::many(10, 9);
    let jobs =
        (0..minutely).map(|place| jobs::job(place, &format!("job-{place}"), "* * * * *", models::now()));
    engine.jobs.details = jobs.collect();
    let mut model = engine.screen(200, 60);
    engine.press(&mut model, "esc 3 t");
    draw(bencher, &model);
}

/// The first frame after a resize: everything that is seen is wrapped anew.
#[divan::bench]
fn first(bencher: Bencher<'_, '_>) {
    let model = models::many(100, 99).screen(200, 60);
    let mut terminal = Terminal::new(TestBackend::new(200, 60)).unwrap();
    bencher.with_inputs(ui).bench_local_refs(|ui| {
        ui.draw(&mut terminal.get_frame(), &model);
    });
}

fn draw(bencher: Bencher<'_, '_>, model: &switchboard::console::app::Model) {
    let mut ui = ui();
    let mut terminal = Terminal::new(TestBackend::new(200, 60)).unwrap();
    bencher.bench_local(|| {
        ui.draw(&mut terminal.get_frame(), model);
    });
}

fn ui() -> Ui {
    Ui::new(Theme::named("dark", Colours::On).unwrap(), &UNICODE)
}
