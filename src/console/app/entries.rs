//! How answers, messages put aside and the stream become the entries of a conversation.

use std::collections::HashMap;

use super::called::Called;
use super::conversation::{CallEnd, Conversation, EntryKey, Fold, Shown, ShownBody, ShownResult};
use super::items::ItemRow;
use super::stream::{self, Joined, KeptEntry, Live, Shortened, Written};
use crate::domain::Time;
use crate::domain::api::{ConversationPage, Doing, Piece, StreamKind};
use crate::domain::approval::denial;
use crate::domain::history::{Body, Entry, ToolResult};
use crate::domain::plan::{Plan, PlanEntry};
use crate::domain::recovery::says_effect_unknown;
use crate::domain::sanitize::{many_lines, one_line};
use crate::domain::turn::{Outcome, TurnState};

/// At most so many entries are loaded; scrolling further back lets the newest go, following the end the
/// oldest.
const MOST_ENTRIES: usize = 2000;
/// So many lines of what a running tool writes are shown.
const WRITTEN_LINES: usize = 3;

impl Conversation {
    /// Takes in the newest page. What is loaded before it stays, where the two join.
    pub(super) fn take_newest(&mut self, page: ConversationPage, reload: Reload) {
        self.loaded = true;
        self.failed = None;
        self.plan = page.plan.as_ref().map(clean_plan);
        if self.more_after && reload == Reload::Join {
            return;
        }
        let first = page.entries.first().map(|entry| entry.id);
        let joins = |kept: &KeptEntry| first.is_some_and(|first| kept.entry.id >= first);
        let older = self.kept.partition_point(|kept| first.is_some_and(|first| kept.entry.id < first));
        let keep_older = reload == Reload::Join && (!page.more_before || self.kept.iter().any(joins));
        let mut before: Vec<KeptEntry> = std::mem::take(&mut self.kept);
        let known: Vec<KeptEntry> = before.split_off(older.min(before.len()));
        if keep_older && !before.is_empty() && page.more_before {
            self.kept = before;
        } else {
            self.more_before = page.more_before;
        }
        for entry in page.entries {
            let revision = match known.binary_search_by_key(&entry.id, |kept| kept.entry.id) {
                Ok(index) if known[index].entry == entry => known[index].revision,
                _ => self.next_revision(),
            };
            self.kept.push(KeptEntry { entry, revision });
        }
        if self.kept.len() > MOST_ENTRIES && self.follows() {
            self.kept.drain(..self.kept.len() - MOST_ENTRIES);
            self.more_before = true;
        }
        self.more_after = false;
        self.doing = page.doing.and_then(|doing| self.news_of(&doing).or(self.doing.take()));
        let mut live = std::mem::take(&mut self.live);
        stream::renew(&mut live, &self.kept, page.live.map(Live::from));
        for live in &mut live {
            live.revision = self.next_revision();
        }
        self.live = live;
        self.rebuild();
    }

    /// Takes in a page before the loaded ones.
    pub(super) fn take_earlier(&mut self, page: ConversationPage) {
        let first = self.kept.first().map(|kept| kept.entry.id);
        let fresh: Vec<KeptEntry> = page
            .entries
            .into_iter()
            .filter(|entry| first.is_none_or(|first| entry.id < first))
            .map(|entry| KeptEntry { entry, revision: self.next_revision() })
            .collect();
        self.more_before = page.more_before;
        self.kept.splice(0..0, fresh);
        if self.kept.len() > MOST_ENTRIES {
            self.kept.truncate(MOST_ENTRIES);
            self.live.clear();
            self.more_after = true;
        }
        self.rebuild();
    }

    /// Takes in the messages of this session that were put aside.
    pub(super) fn take_put_aside(&mut self, rows: &[ItemRow]) {
        let mut aside = Vec::new();
        for row in rows.iter().filter(|row| row.was_put_aside()) {
            let word = row.row.item.state.word();
            let note = match &row.note {
                Some(note) if note.starts_with(word) => format!("{note} (kept)"),
                Some(note) => format!("{word} (kept): {note}"),
                None => format!("{word} (kept)"),
            };
            let key = EntryKey::PutAside(row.id());
            let body = ShownBody::PutAside { text: many_lines(&row.row.item.text).into_owned(), note };
            let known = self.put_aside.iter().find(|known| known.key == key && known.body == body);
            let revision = known.map(|known| known.revision).unwrap_or_else(|| self.next_revision());
            aside.push(Shown {
                key,
                revision,
                at: row.row.item.created_at,
                turn: None,
                turn_state: TurnState::Interrupted,
                body,
                fold: Fold::Open,
                lines_missing: 0,
            });
        }
        aside.sort_by_key(|shown| shown.at);
        if aside != self.put_aside {
            self.put_aside = aside;
            self.rebuild();
        }
    }

    /// Adds a piece of the stream.
    pub(super) fn take_piece(&mut self, piece: &Piece) -> Again {
        if self.more_after {
            return Again::No;
        }
        match stream::join(&mut self.live, &self.kept, piece) {
            Joined::Known => return Again::No,
            Joined::Gap => return Again::Ask,
            Joined::Began => self.renew_last(),
            Joined::Grew(bytes) => match self.live.last_mut().map(Live::shorten) {
                Some(Shortened::Yes) => self.renew_last(),
                _ => self.grow(bytes),
            },
        }
        // Kept text is cheaper to show than one long live text.
        match self.live.last() {
            Some(live) if live.text.len() > MOST_LIVE_BYTES => Again::Ask,
            _ => Again::No,
        }
    }

    /// Takes in what the running tool has written last.
    pub(super) fn take_doing(&mut self, doing: &Doing) {
        if let Some(news) = self.news_of(doing) {
            self.doing = Some(news);
            self.rebuild();
        }
    }

    /// The lines of it that are shown, if they are others than before.
    fn news_of(&mut self, doing: &Doing) -> Option<Written> {
        let text = many_lines(&doing.written).into_owned();
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let text = lines[lines.len().saturating_sub(WRITTEN_LINES)..].join("\n");
        let known = self.doing.as_ref().is_some_and(|known| (known.turn, &known.text) == (doing.turn, &text));
        (!known).then(|| Written { turn: doing.turn, text, revision: self.next_revision() })
    }

    /// Shows the last live text anew.
    fn renew_last(&mut self) {
        let revision = self.next_revision();
        if let Some(live) = self.live.last_mut() {
            live.revision = revision;
        }
        self.rebuild();
    }

    /// Adds the last bytes of the live text to the entry that shows it.
    fn grow(&mut self, bytes: usize) {
        let Some(live) = self.live.last() else { return };
        let (old, new) = live.text.split_at(live.text.len() - bytes);
        let key = self.shown_in(live);
        match self.entries.iter_mut().rfind(|shown| shown.key == key).map(|shown| &mut shown.body) {
            Some(ShownBody::Agent { text } | ShownBody::Reasoning { text }) => {
                text.push_str(&many_lines(behind(old, new)))
            }
            _ => self.rebuild(),
        }
    }

    /// The entry that shows a live text: the kept one that it goes on from, so that a line is not
    /// torn where it was kept; else its own.
    fn shown_in(&self, live: &Live) -> EntryKey {
        match self.kept.last().filter(|kept| live.goes_on(&kept.entry)) {
            Some(kept) => EntryKey::Message(kept.entry.id),
            None => EntryKey::Live(live.turn, live.stream),
        }
    }

    /// Opens or folds the entry under the cursor.
    pub(super) fn toggle_fold(&mut self) {
        let Some(key) = self.cursor else { return };
        if !self.toggled.remove(&key) {
            self.toggled.insert(key);
        }
        self.rebuild();
    }

    /// Opens all that is folded, or folds it again.
    pub(super) fn fold_all(&mut self) {
        self.all = match self.all {
            Fold::Open => Fold::Folded,
            Fold::Folded => Fold::Open,
        };
        self.toggled.clear();
        self.rebuild();
    }

    fn fold(&self, key: EntryKey, usual: Fold) -> Fold {
        match (usual, self.toggled.contains(&key)) {
            (Fold::Open, true) | (Fold::Folded, false) => Fold::Folded,
            (Fold::Open, false) | (Fold::Folded, true) => Fold::Open,
        }
    }

    fn next_revision(&mut self) -> u64 {
        self.revisions += 1;
        self.revisions
    }

    /// Makes the shown entries anew from what is kept, put aside and streamed; what did not change
    /// is taken over as it is.
    fn rebuild(&mut self) {
        let mut old: HashMap<EntryKey, Shown> =
            std::mem::take(&mut self.entries).into_iter().map(|shown| (shown.key, shown)).collect();
        let mut entries = Vec::with_capacity(self.kept.len() + self.put_aside.len() + self.live.len());
        let mut aside = self.put_aside.iter().peekable();
        let mut turn = None;
        for kept in &self.kept {
            // Between turns only: an answer is never torn from its question.
            let begins = turn.replace(kept.entry.turn) != Some(kept.entry.turn);
            while let Some(shown) = aside.next_if(|shown| begins && shown.at < kept.entry.at) {
                // What was put aside before the loaded entries is loaded with them.
                if !entries.is_empty() || !self.more_before {
                    entries.push(self.refolded(shown));
                }
            }
            let key = EntryKey::Message(kept.entry.id);
            let fold = self.fold(key, self.usual_fold(&kept.entry.body));
            let shown = match old.remove(&key) {
                Some(shown) if shown.revision == kept.revision && shown.fold == fold => shown,
                _ => Shown { fold, ..shown(&kept.entry, key, kept.revision, &entries) },
            };
            entries.push(shown);
        }
        self.show_written(&mut entries);
        // What is put aside while a turn runs stands in the queue's pane until the turn has ended.
        if !self.turn_runs() {
            entries.extend(aside.map(|shown| self.refolded(shown)));
        }
        for live in &self.live {
            let key = self.shown_in(live);
            if let Some(shown) = entries.iter_mut().rfind(|shown| shown.key == key) {
                shown.revision = live.revision;
                shown.lines_missing += live.lines_missing(&self.kept);
                if let ShownBody::Agent { text: kept } | ShownBody::Reasoning { text: kept } = &mut shown.body
                {
                    let before = self.kept.last().filter(|kept| live.goes_on(&kept.entry));
                    let before = before.map_or("", |kept| words(&kept.entry.body));
                    kept.push_str(&many_lines(behind(before, &live.text)));
                }
                continue;
            }
            let text = many_lines(&live.text).into_owned();
            let body = match live.stream {
                StreamKind::Text => ShownBody::Agent { text },
                StreamKind::Reasoning => ShownBody::Reasoning { text },
            };
            entries.push(Shown {
                key,
                revision: live.revision,
                at: self.kept.last().map_or(Time::UNIX_EPOCH, |kept| kept.entry.at),
                turn: Some(live.turn),
                turn_state: TurnState::Running,
                lines_missing: live.lines_missing(&self.kept),
                fold: self.fold(key, if live.stream == StreamKind::Text { Fold::Open } else { self.all }),
                body,
            });
        }
        self.entries = entries;
        if self.cursor.is_some() && self.cursor_index().is_none() {
            self.cursor = self.entries.last().map(|entry| entry.key);
        }
    }

    /// Puts what the running tool has written under its call, the last one of its turn; what was handed to the turn
    /// meanwhile stands behind it.
    fn show_written(&self, entries: &mut [Shown]) {
        let Some(doing) = &self.doing else { return };
        let of_turn = entries.iter_mut().rev().take_while(|shown| shown.turn == Some(doing.turn));
        let called = |shown: &&mut Shown| matches!(shown.body, ShownBody::Tool { .. });
        let Some(shown) = of_turn.into_iter().find(called) else { return };
        if let ShownBody::Tool { result: None, written, called, opened, .. } = &mut shown.body
            && shown.turn_state == TurnState::Running
        {
            written.clone_from(&doing.text);
            *opened = apart(called, written);
            shown.revision = doing.revision;
        }
    }

    /// Whether the last shown turn still runs.
    fn turn_runs(&self) -> bool {
        let last = self.kept.last();
        !self.live.is_empty() || last.is_some_and(|kept| kept.entry.turn_state == TurnState::Running)
    }

    fn refolded(&self, shown: &Shown) -> Shown {
        Shown { fold: self.fold(shown.key, Fold::Open), ..shown.clone() }
    }

    fn usual_fold(&self, body: &Body) -> Fold {
        match body {
            Body::Tool { .. } | Body::Plan(_) | Body::Reasoning { .. } | Body::Resume { .. } => self.all,
            Body::User { .. }
            | Body::Agent { .. }
            | Body::Notice { .. }
            | Body::Told { .. }
            | Body::Ended { .. } => Fold::Open,
        }
    }
}

/// While the live text is longer than this, it is asked for anew: most of it is kept by then.
const MOST_LIVE_BYTES: usize = 64 * 1024;

/// Whether the conversation must be asked for again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    Ask,
    No,
}

/// What a newest page does to the loaded entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reload {
    /// It is added to them.
    Join,
    /// It takes their place.
    Replace,
}

fn call_end(result: &ToolResult) -> CallEnd {
    match result.ok {
        true => CallEnd::Ok,
        false if denial(&result.output).is_some() => CallEnd::Denied,
        false if says_effect_unknown(&result.output) => CallEnd::Cut,
        false => CallEnd::Failed,
    }
}

/// An entry as it is shown; `before` is what stands before it.
fn shown(entry: &Entry, key: EntryKey, revision: u64, before: &[Shown]) -> Shown {
    let mut of_turn = before.iter().rev().take_while(|shown| shown.turn == Some(entry.turn));
    let answered = of_turn.any(|shown| matches!(shown.body, ShownBody::Agent { .. }));
    let clean = |text: &str| many_lines(text).into_owned();
    let line = |text: &str| one_line(text).into_owned();
    let body = match &entry.body {
        Body::User { text, steered } => ShownBody::User { text: clean(text), steered: *steered },
        Body::Agent { text, .. } => ShownBody::Agent { text: clean(text) },
        Body::Reasoning { text, .. } => ShownBody::Reasoning { text: clean(text) },
        Body::Plan(plan) => ShownBody::Plan(clean_plan(plan)),
        Body::Tool { name, arguments, result, .. } => {
            let Called { line: arguments, whole } = Called::with(arguments);
            let (called, output) = (clean(&whole), result.as_ref().map(|result| clean(&result.output)));
            ShownBody::Tool {
                name: line(name),
                arguments: line(&arguments),
                opened: apart(&called, &output.unwrap_or_default()),
                called,
                written: String::new(),
                result: result.as_ref().map(|result| ShownResult { how: call_end(result), at: result.at }),
            }
        }
        Body::Resume { text } | Body::Told { text } => ShownBody::Told { text: clean(text) },
        Body::Notice { text } => ShownBody::Notice { text: clean(text) },
        Body::Ended { outcome } => match outcome {
            Outcome::Done => ShownBody::System { text: "answered".to_owned(), failed: false },
            Outcome::Failed { error } => {
                let words = if answered { "failed after this" } else { "no answer" };
                ShownBody::System { text: format!("{words}: {}", line(error)), failed: true }
            }
            Outcome::Interrupted { cause } => {
                ShownBody::System { text: cause.words().to_owned(), failed: false }
            }
        },
    };
    Shown {
        key,
        revision,
        at: entry.at,
        turn: Some(entry.turn),
        turn_state: entry.turn_state,
        body,
        fold: Fold::Open,
        lines_missing: 0,
    }
}

/// One text below another, an empty line between them.
fn apart(above: &str, below: &str) -> String {
    let between = if above.is_empty() || below.is_empty() { "" } else { "\n\n" };
    [above, between, below].concat()
}

fn clean_plan(plan: &Plan) -> Plan {
    let clean = |entry: &PlanEntry| PlanEntry { content: one_line(&entry.content).into_owned(), ..*entry };
    Plan { entries: plan.entries.iter().map(clean).collect() }
}

/// The words of an agent's entry.
fn words(body: &Body) -> &str {
    match body {
        Body::Agent { text, .. } | Body::Reasoning { text, .. } => text,
        _ => "",
    }
}

/// What follows `before`: a line break of two characters may have been torn between the two.
fn behind<'a>(before: &str, text: &'a str) -> &'a str {
    if before.ends_with('\r') { text.strip_prefix('\n').unwrap_or(text) } else { text }
}
