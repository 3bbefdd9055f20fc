//! Named points between two commits, at which the tests of crashes kill the process.
//!
//! The feature `failpoints` turns them on, and `SWITCHBOARD_FAILPOINTS` says which: `store-in-commit=3`
//! is the third time that point is passed. Without the feature nothing of this is left.

#[cfg(feature = "failpoints")]
use std::path::Path;

/// Arms the points that the environment names.
#[cfg(feature = "failpoints")]
pub fn arm() {
    let wanted = std::env::var("SWITCHBOARD_FAILPOINTS").unwrap_or_default();
    for (name, time) in wanted.split(';').filter_map(|point| point.split_once('=')) {
        let before = time.parse::<u32>().unwrap_or(1).saturating_sub(1);
        let actions = if before == 0 { "return".to_owned() } else { format!("{before}*off->return") };
        if let Err(error) = fail::cfg(name, &actions) {
            tracing::error!(name, error, "a failpoint could not be armed");
        }
    }
}

/// There is nothing to arm.
#[cfg(not(feature = "failpoints"))]
pub fn arm() {}

/// The process passes a point; an armed one kills it as a power cut would.
#[cfg(feature = "failpoints")]
pub(crate) fn pass(name: &str) {
    fail::fail_point!(name, |_| {
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    });
}

#[cfg(not(feature = "failpoints"))]
pub(crate) fn pass(_name: &str) {}

/// Makes the disk of one store full, until [`free_disk`].
#[cfg(feature = "failpoints")]
pub fn fill_disk(store: &Path) {
    let _ = fail::cfg(full_disk(store), "return");
}

/// Gives the disk of one store room again.
#[cfg(feature = "failpoints")]
pub fn free_disk(store: &Path) {
    fail::remove(full_disk(store));
}

/// Whether the disk of a store was made full.
#[cfg(feature = "failpoints")]
pub(crate) fn disk_is_full(store: &Path) -> bool {
    fail::fail_point!(&full_disk(store), |_| true);
    false
}

/// What a test does to the ticker of one store's engine.
#[cfg(feature = "failpoints")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TickerFault {
    /// Its pass never ends.
    Hangs,
    /// Its task fails inside.
    Dies,
}

/// Breaks the ticker of one store's engine, until [`mend_ticker`].
#[cfg(feature = "failpoints")]
pub fn break_ticker(store: &Path, fault: TickerFault) {
    let action = match fault {
        TickerFault::Hangs => "return",
        TickerFault::Dies => "panic",
    };
    let _ = fail::cfg(broken_ticker(store), action);
}

/// Ends what [`break_ticker`] did.
#[cfg(feature = "failpoints")]
pub fn mend_ticker(store: &Path) {
    fail::remove(broken_ticker(store));
}

/// A pass of the ticker of a store's engine begins.
#[cfg(feature = "failpoints")]
pub(crate) async fn tick(store: &Path) {
    let hangs = || {
        fail::fail_point!(&broken_ticker(store), |_| true);
        false
    };
    if hangs() {
        std::future::pending::<()>().await;
    }
}

#[cfg(not(feature = "failpoints"))]
pub(crate) async fn tick(_store: &std::path::Path) {}

#[cfg(feature = "failpoints")]
thread_local! {
    static CLOCK_STANDS_STILL: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Keeps the paused clock of a runtime from running ahead, for as long as it lives.
#[cfg(feature = "failpoints")]
pub struct HeldClock(#[allow(dead_code, reason = "dropping it ends the work")] std::sync::mpsc::Sender<()>);

/// Holds the paused clock of this thread's runtime. It runs ahead when no task and no blocking work is
/// left to run, and the store's writer is neither: from now on each step with a writer holds it too.
#[cfg(feature = "failpoints")]
pub fn hold_clock() -> HeldClock {
    CLOCK_STANDS_STILL.set(true);
    let (held, release) = std::sync::mpsc::channel();
    tokio::task::spawn_blocking(move || release.recv().is_err());
    HeldClock(held)
}

/// Something is handed to the store's writer: it works for as long as the result lives.
#[cfg(feature = "failpoints")]
pub(crate) fn writer_works() -> Option<HeldClock> {
    CLOCK_STANDS_STILL.get().then(hold_clock)
}

#[cfg(not(feature = "failpoints"))]
pub(crate) fn writer_works() -> impl Sized {}

#[cfg(feature = "failpoints")]
fn broken_ticker(store: &Path) -> String {
    format!("ticker {}", store.display())
}

#[cfg(feature = "failpoints")]
fn full_disk(store: &Path) -> String {
    format!("full-disk {}", store.display())
}

#[cfg(not(feature = "failpoints"))]
pub(crate) fn disk_is_full(_store: &std::path::Path) -> bool {
    false
}
