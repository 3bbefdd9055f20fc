//! What a program leaves behind that left its process group: it is known by a mark in its environment.

use crate::agent::process::end_marked;

/// Marks all that a program starts.
const MARK: &str = "SWITCHBOARD_CALL";

/// Ends what a program left behind; also where its turn is dropped in the middle of it.
pub(in crate::agent) struct Rest(Option<String>);

impl Rest {
    /// That of a program which is started with [`Rest::mark`].
    pub(in crate::agent) fn new() -> Self {
        Self(Some(format!("{:016x}", fastrand::u64(..))))
    }

    /// The variable by which it is known.
    pub(in crate::agent) fn mark(&self) -> (&'static str, String) {
        (MARK, self.0.clone().unwrap_or_default())
    }

    /// Looks at every process, away from the threads that must not wait.
    pub(in crate::agent) async fn end(mut self) {
        if let Some(mark) = self.0.take() {
            let _ = tokio::task::spawn_blocking(move || end(&mark)).await;
        }
    }
}

impl Drop for Rest {
    fn drop(&mut self) {
        if let Some(mark) = self.0.take() {
            // What was stopped has ended only when nothing of it is left.
            end(&mark);
        }
    }
}

fn end(mark: &str) {
    end_marked(&[format!("{MARK}={mark}")]);
}
