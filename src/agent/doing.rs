//! What an agent's running tool has written last, for whoever looks on: never kept.

use tokio::sync::watch;

/// So much of it is shown.
const MOST_BYTES: usize = 2 * 1024;

/// Where a tool shows what it writes while it runs. Only the newest is seen.
#[derive(Debug, Clone)]
pub struct Doing(watch::Sender<String>);

impl Doing {
    /// The way, and its end. It begins empty, and is empty again between two calls.
    pub fn channel() -> (Self, watch::Receiver<String>) {
        let (doing, seen) = watch::channel(String::new());
        (Self(doing), seen)
    }

    /// Adds what was just written.
    pub fn write(&self, more: &str) {
        if more.is_empty() {
            return;
        }
        self.0.send_modify(|newest| {
            newest.push_str(more);
            let from = newest.ceil_char_boundary(newest.len().saturating_sub(MOST_BYTES));
            newest.drain(..from);
        });
    }

    /// The call has ended, or another begins.
    pub fn clear(&self) {
        self.0.send_if_modified(|newest| !std::mem::take(newest).is_empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_much_only_the_end_is_seen_and_no_character_is_torn() {
        let (doing, seen) = Doing::channel();
        doing.write(&"é".repeat(MOST_BYTES));
        doing.write("x");
        let newest = seen.borrow().clone();
        assert!(newest.len() <= MOST_BYTES && newest.ends_with("éx"), "{}", newest.len());
        doing.clear();
        assert_eq!(*seen.borrow(), "");
    }
}
