//! The action table: everything a key, a click or the palette can do, declared once.
//!
//! Footer, help, palette, the key map's names and the README's key tables come from it.

use super::keymap::Context;

/// Whether an action asks before it acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Danger {
    /// It acts at once.
    None,
    /// It asks first, naming the thing and the count.
    Asks,
}

/// How an action is taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undo {
    /// It changes nothing that is kept.
    NotNeeded,
    /// By `u`, for ten seconds.
    Key,
    /// Not at all: it asks first, or what it did is done.
    Never,
}

/// An action's declaration.
#[derive(Debug, Clone, Copy)]
pub struct Spec {
    /// The action.
    pub action: Action,
    /// Its name in key maps.
    pub name: &'static str,
    /// What a footer calls it.
    pub title: &'static str,
    /// Where it belongs.
    pub home: Context,
    /// Whether it asks first.
    pub danger: Danger,
    /// How it is taken back.
    pub undo: Undo,
    /// What it does, in one line.
    pub help: &'static str,
}

macro_rules! actions {
    ($( $home:ident { $( $action:ident $name:literal $title:literal $danger:ident $undo:ident $help:literal; )* } )*) => {
        /// Something the operator can do with a key.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Action {
            $($(
                #[doc = $help]
                $action,
            )*)*
        }

        /// Every action, in the order of the documentation.
        pub const TABLE: &[Spec] = &[
            $($(
                Spec {
                    action: Action::$action,
                    name: $name,
                    title: $title,
                    home: Context::$home,
                    danger: Danger::$danger,
                    undo: Undo::$undo,
                    help: $help,
                },
            )*)*
        ];
    };
}

actions! {
    Always {
        Help "help" "help" None NotNeeded "help for this focus: search it, Enter runs the entry";
        NextNeed "next-need" "needs you" None NotNeeded "the next thing that needs you";
        ViewSessions "view-sessions" "Sessions" None NotNeeded "view Sessions";
        ViewQueue "view-queue" "Queue" None NotNeeded "view Queue: what waits in all sessions";
        ViewCron "view-cron" "Cron" None NotNeeded "view Cron: scheduled tasks, their slots and their runs";
        ViewRecovery "view-recovery" "Recovery" None NotNeeded "view Recovery: what the starts of the engine found and did";
        ViewLog "view-log" "Log" None NotNeeded "view Log: everything the engine did";
        Palette "palette" "commands" None NotNeeded "palette: every action, session, job and slash command";
        UndoAct "undo" "undo" None NotNeeded "undo the last act (10 s)";
        StepBack "step-back" "clear, stop" None NotNeeded "step back: close what is open / clear the draft into its history / again within 2 s stop the turn in front / else the quit dialog";
        Redraw "redraw" "redraw" None NotNeeded "draw the whole screen anew";
        Suspend "suspend-screen" "suspend" None NotNeeded "back to the shell (refused while the engine runs in this window)";
        NextPane "next-pane" "pane" None NotNeeded "next pane; in a text that begins with / complete it";
        PreviousPane "previous-pane" "pane back" None NotNeeded "previous pane";
        Out "out" "list" None NotNeeded "out by one step; never quits, never stops a turn, never loses text";
    }
    Global {
        LastView "last-view" "last view" None NotNeeded "the view before this one";
        Back "back" "back" None NotNeeded "back; at the top the quit dialog";
        Zoom "zoom" "zoom" None NotNeeded "the focused pane on the whole screen, and back";
        Wrap "wrap" "wrap" None NotNeeded "wrap long lines or cut them";
        Times "times" "times" None NotNeeded "times relative or absolute";
        FoldAll "fold-all" "fold all" None NotNeeded "open or fold all tool calls, plans and thoughts";
        MouseToggle "mouse" "mouse" None NotNeeded "mouse to the console, or to the terminal for its own selection";
        Copy "copy" "copy" None NotNeeded "copy the selected thing";
        CopyId "copy-id" "copy id" None NotNeeded "copy its id or key";
        Why "why" "why" None NotNeeded "details, and why: what it waits for, who holds it, what frees it, what comes next";
        Acknowledge "acknowledge" "acknowledge" None Key "you know of the alert at hand: it is not counted and not told again (undo)";
        Notices "notices" "notices" None NotNeeded "everything that was told here, in full, the newest first";
        Hold "hold" "hold" None Key "hold: nothing starts until it is released; messages are taken and wait";
        Release "release" "release" None NotNeeded "end the hold: what waits begins";
        Reconnect "reconnect" "reconnect" None NotNeeded "connect to the engine again";
        StartHere "start-here" "start it here" None NotNeeded "start the engine in this window";
        Quit "quit" "quit" Asks Never "leave: asks what becomes of the engine";
    }
    List {
        Down "down" "next" None NotNeeded "down";
        Up "up" "previous" None NotNeeded "up";
        First "first" "first" None NotNeeded "first";
        Last "last" "last" None NotNeeded "last; in a stream follow again";
        PageDown "page-down" "page" None NotNeeded "a page down";
        PageUp "page-up" "page back" None NotNeeded "a page up";
        HalfDown "half-down" "half page" None NotNeeded "half a page down";
        HalfUp "half-up" "half page back" None NotNeeded "half a page up";
        IntoNext "into-next" "into" None NotNeeded "into the next pane";
        ToPrevious "to-previous" "before" None NotNeeded "to the pane before";
        Filter "filter" "filter" None NotNeeded "filter the list (words, state:runs, platform:telegram, !not); search in conversation and log";
        NextMatch "next-match" "next match" None NotNeeded "next match";
        PreviousMatch "previous-match" "match before" None NotNeeded "previous match";
    }
    Sessions {
        Open "open" "open" None NotNeeded "open the session and write to it";
        Compose "compose" "write" None NotNeeded "write to the session";
        NewSession "new-session" "new" None NotNeeded "new session";
        GoOn "go-on" "go on" None NotNeeded "go on: release the held queue, retry after an error, put the marked message back";
        StopTurn "stop-turn" "stop turn" Asks Never "stop the running turn (asks)";
        PreviousMemory "previous-memory" "previous" Asks Key "bring the previous memory back (asks)";
        CarryOver "carry-over" "move here" None Never "move here what a reset by itself left waiting in the memory before";
    }
    Conversation {
        Fold "fold" "open, fold" None NotNeeded "open or fold the entry";
        PreviousTurn "previous-turn" "turn before" None NotNeeded "previous turn";
        NextTurn "next-turn" "next turn" None NotNeeded "next turn";
    }
    Queue {
        EditItem "edit-item" "edit" None Key "edit the text";
        DropItem "drop-item" "drop" None Key "drop it (undo)";
        MoveUp "move-up" "up" None Key "move it up";
        MoveDown "move-down" "down" None Key "move it down";
        SwitchLane "switch-lane" "slot/queue" None Key "between the slot and the queue";
        PutBack "put-back" "put back" None Key "put a replaced or dropped message back; release a held queue";
        ClearQueue "clear-queue" "clear" Asks Key "clear this session's queue (asks, with the count)";
        GoToSession "go-to-session" "session" None NotNeeded "go to the session";
    }
    Cron {
        AddJob "add-job" "add" None Key "add a job, in the form";
        EditJob "edit-job" "edit" None Key "edit the job in the form";
        EditFile "edit-file" "$EDITOR" None NotNeeded "open jobs.json in $EDITOR, at this job or where it can't be read";
        DuplicateJob "duplicate-job" "duplicate" None Key "add a job like this one, in the form";
        PauseJob "pause-job" "pause" None Key "pause the job, or resume it";
        RunNow "run-now" "run now" Asks Never "run the job now, beside its slots (asks, naming its targets)";
        StopRun "stop-run" "stop run" Asks Never "stop the run that goes on (asks)";
        RemoveJob "remove-job" "remove" None Key "remove the job from jobs.json (undo)";
        ReadOutput "read-output" "output" None NotNeeded "read what the run left, or the newest before it";
        OlderRun "older-run" "older run" None NotNeeded "the run before";
        NewerRun "newer-run" "newer run" None NotNeeded "the run after";
        ShowTimeline "timeline" "timeline" None NotNeeded "timeline: of 24 hours, of 7 days, none";
        TakeCopy "take-copy" "take copy" Asks Never "write the stored copy over an unreadable jobs.json (asks)";
        OpenJob "open-job" "open" None NotNeeded "the job's detail; there, the session of the run";
    }
    Recovery {
        ResumeNow "resume-now" "resume now" None Never "go on with what was cut off, now";
        GiveUp "give-up" "give up" None Key "give the session up: its next message starts anew (asks if its turn runs)";
        Lift "lift" "lift" None Never "lift the suspension: the same session goes on";
        EarlierStart "earlier-start" "earlier start" None NotNeeded "the start before";
        LaterStart "later-start" "later start" None NotNeeded "the start after";
        OpenRecovered "open-recovered" "open" None NotNeeded "open the session";
    }
    Log {
        MoreLevels "more-levels" "more" None NotNeeded "more levels";
        FewerLevels "fewer-levels" "fewer" None NotNeeded "fewer levels";
        OnlySession "only-session" "only this" None NotNeeded "only this row's session or job, again: all";
        OpenSubject "open-subject" "open" None NotNeeded "open what the row is about";
    }
    Composer {
        Send "send" "send" None Never "send (the border says what that will do); in the popup: accept";
        SendQueued "send-queued" "queue" None Key "send as a /queue item";
        HistoryUp "history-up" "history" None NotNeeded "line up; on the first line: history";
        HistoryDown "history-down" "history" None NotNeeded "line down; on the last line: history";
        HistorySearch "history-search" "search history" None NotNeeded "search the history";
        ScrollUp "scroll-up" "scroll" None NotNeeded "scroll the conversation up";
        ScrollDown "scroll-down" "scroll" None NotNeeded "scroll the conversation down";
        ScrollFirst "scroll-first" "first" None NotNeeded "conversation: first";
        ScrollFollow "scroll-follow" "follow" None NotNeeded "conversation: follow";
        ExternalEditor "external-editor" "$EDITOR" None NotNeeded "edit the text in $EDITOR";
    }
    Text {
        LineStart "line-start" "line start" None NotNeeded "line start";
        LineEnd "line-end" "line end" None NotNeeded "line end";
        Left "left" "left" None NotNeeded "left";
        Right "right" "right" None NotNeeded "right";
        WordLeft "word-left" "word left" None NotNeeded "word left";
        WordRight "word-right" "word right" None NotNeeded "word right";
        DeleteBack "delete-back" "delete back" None NotNeeded "delete back";
        DeleteForward "delete-forward" "delete" None NotNeeded "delete forward";
        KillWordBack "kill-word-back" "kill word back" None NotNeeded "kill word back";
        KillWord "kill-word" "kill word" None NotNeeded "kill word";
        KillToStart "kill-to-start" "kill to start" None NotNeeded "kill to the line's start";
        KillToEnd "kill-to-end" "kill to end" None NotNeeded "kill to the line's end";
        Yank "yank" "yank" None NotNeeded "put in what was killed";
        TextUndo "text-undo" "undo text" None NotNeeded "undo in the text";
        TextRedo "text-redo" "redo text" None NotNeeded "redo in the text";
    }
    Editor {
        EnterField "enter-field" "next, open" None NotNeeded "in one line: the next field; in a list: open it; in several lines: new line";
        NewLine "new-line" "line" None NotNeeded "new line";
        Save "save" "save" None Key "save";
        TextUp "text-up" "line up" None NotNeeded "line up; at the start the field before";
        TextDown "text-down" "line down" None NotNeeded "line down; at the end the next field";
        ShowRecord "show-record" "record" None NotNeeded "the job's whole record, with what changes in it; again: the form";
    }
    Picker {
        Accept "accept" "run" None NotNeeded "take the marked entry";
        PickerUp "picker-up" "previous" None NotNeeded "entry up";
        PickerDown "picker-down" "next" None NotNeeded "entry down";
        PickerPageUp "picker-page-up" "page up" None NotNeeded "a page of entries up";
        PickerPageDown "picker-page-down" "page down" None NotNeeded "a page of entries down";
    }
    Card {
        Press "press" "choose" None NotNeeded "the marked button (at opening always cancel or later)";
        ButtonLeft "button-left" "button" None NotNeeded "button to the left";
        ButtonRight "button-right" "button" None NotNeeded "button to the right";
        Yes "yes" "yes" None Never "yes";
        No "no" "no" None NotNeeded "no";
        RunCounting "run-counting" "count it" None Never "run now: as one of the job's runs";
        KeepMine "keep-mine" "keep mine" None Never "changed on both sides: write mine over theirs";
        TakeTheirs "take-theirs" "take theirs" None NotNeeded "changed on both sides: go on with theirs";
        AllowAlways "allow-always" "always" None Never "approval: allow it, and for the rest of the session all that begins as shown";
        DenyWhy "deny-why" "deny, say why" None Never "approval: deny it and say why, for the agent";
        CardUp "card-up" "scroll back" None NotNeeded "a page of it back: what an agent asks, two versions of a job";
        CardDown "card-down" "scroll" None NotNeeded "a page of it on";
        CutNow "cut-now" "cut now" None Never "drain: cut what still runs now";
        KeepRunning "keep-running" "keep running" None NotNeeded "drain: keep running after all";
        Close "close" "close" None NotNeeded "close, as esc";
        CardReconnect "card-reconnect" "reconnect" None NotNeeded "engine gone: reconnect";
        CardStartHere "card-start-here" "start it here" None NotNeeded "engine gone: start it here";
    }
    Viewer {
        ViewerUp "viewer-up" "line back" None NotNeeded "line up";
        ViewerDown "viewer-down" "line" None NotNeeded "line down";
        ViewerPageUp "viewer-page-up" "page back" None NotNeeded "a page up";
        ViewerPageDown "viewer-page-down" "page" None NotNeeded "a page down";
        ViewerFirst "viewer-first" "first" None NotNeeded "first line";
        ViewerLast "viewer-last" "last" None NotNeeded "last line";
        ViewerCopy "viewer-copy" "copy" None NotNeeded "copy the text";
    }
}

impl Action {
    /// Its declaration.
    pub fn spec(self) -> &'static Spec {
        // The table is made by the macro that makes the enum: same order, same length.
        &TABLE[self as usize]
    }

    /// Finds an action by its name in key maps.
    pub fn named(name: &str) -> Option<Self> {
        TABLE.iter().find(|spec| spec.name == name).map(|spec| spec.action)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_action_has_its_own_name_and_row() {
        let names: HashSet<_> = TABLE.iter().map(|spec| spec.name).collect();
        assert_eq!(names.len(), TABLE.len());
        for spec in TABLE {
            assert_eq!(spec.action.spec().name, spec.name);
            assert!(!spec.help.is_empty() && !spec.title.is_empty(), "{}", spec.name);
        }
    }
}
