//! Replies to commands.

/// What a command on its way is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A draft was sent.
    Submit,
    /// An act on the screen: its reply is a notice.
    Act,
    /// A draft is saved: only a failure is told.
    SaveDraft,
}
