//! Reading: pages, filters and search over many rows, on SQLite.

use switchboard::domain::api::EventPage;
use switchboard::domain::event::Level;
use switchboard::domain::filter::Filter;
use switchboard::domain::history::Body;
use switchboard::domain::id::{SessionId, TurnId};
use switchboard::domain::turn::{Outcome, Output, TurnEnd};
use switchboard::store::sqlite::Database;
use switchboard::store::{Patience, Queries, Store};

use crate::given::{end, key, message, run};

fn database() -> (tempfile::TempDir, Database) {
    let home = tempfile::tempdir().unwrap();
    let mut database = Database::open(&home.path().join("state.db")).unwrap();
    database.step(|t| t.open_run(&run(1, 0))).unwrap();
    (home, database)
}

fn answer(
    database: &mut Database,
    to: &str,
    question: &str,
    answer: &str,
    seconds: i64,
) -> (SessionId, TurnId) {
    let tail = vec![Output::Text { text: answer.to_owned() }];
    database
        .step(|t| {
            let accepted = t.accept_message(&message(to, question, seconds))?;
            let turn = accepted.begun.unwrap().turn;
            t.finish_turn(&TurnEnd { tail: tail.clone(), ..end(turn, Outcome::Done, seconds) })?;
            Ok((accepted.session, turn))
        })
        .unwrap()
        .0
}

#[test]
fn pages_of_the_list_show_every_session_once_in_the_order_of_the_whole() {
    let (_home, mut database) = database();
    for n in 0..23 {
        // Several share a second, and some run.
        answer(&mut database, &format!("s{n}"), "q", "a", n / 3);
    }
    for n in [4, 11] {
        database.step(|t| t.accept_message(&message(&format!("s{n}"), "again", 3))).unwrap();
    }
    for filter in ["", "s1", "state:idle"] {
        let filter = Filter::parse(filter);
        let whole = database.queries().sessions(&filter, None, 1000).unwrap();
        let mut paged = Vec::new();
        let mut cursor = None;
        loop {
            let page = database.queries().sessions(&filter, cursor.as_ref(), 4).unwrap();
            assert_eq!((page.hits, page.total), (whole.rows.len(), 23));
            let Some(last) = page.rows.last() else { break };
            cursor = Some(last.cursor());
            paged.extend(page.rows);
        }
        assert_eq!(paged, whole.rows);
    }
}

#[test]
fn a_filter_looks_at_titles_and_keys_and_counts_all_hits() {
    let (_home, mut database) = database();
    for name in ["alpha", "beta", "gamma"] {
        answer(&mut database, name, "q", "a", 1);
    }
    let beta = database.queries().session_at(&key("beta")).unwrap().unwrap().session.id;
    database.step(|t| t.set_title(&beta, "Nightly Report", message("x", "x", 1).at)).unwrap();
    let names = |filter: &str| -> Vec<String> {
        let page = database.queries().sessions(&Filter::parse(filter), None, 10).unwrap();
        page.rows.iter().map(|row| row.session.name().to_owned()).collect()
    };
    assert_eq!(names("nirep"), ["Nightly Report"]);
    assert_eq!(names("beta"), ["Nightly Report"], "the key still counts");
    assert_eq!(names("!a platform:local"), [""; 0]);
    assert_eq!(names("platform:telegram"), [""; 0]);
    let page = database.queries().sessions(&Filter::parse("state:idle"), None, 1).unwrap();
    assert_eq!((page.rows.len(), page.hits, page.total), (1, 3, 3));
}

#[test]
fn a_long_answer_goes_on_in_further_rows_that_join_without_a_gap() {
    let (_home, mut database) = database();
    let accepted = database.step(|t| t.accept_message(&message("a", "tell me all", 1))).unwrap().0;
    let turn = accepted.begun.unwrap().turn;
    let mut whole = String::new();
    for n in 0..40 {
        let words = format!("é{n} ").repeat(1000);
        database
            .step(|t| t.append_turn(turn, &[Output::Text { text: words.clone() }], message("a", "", 2).at))
            .unwrap();
        whole.push_str(&words);
    }
    database.step(|t| t.finish_turn(&end(turn, Outcome::Done, 3))).unwrap();
    let next = database.step(|t| t.accept_message(&message("a", "thanks", 4))).unwrap().0.begun.unwrap().turn;
    let parts = database.queries().history_before(next, 1000).unwrap().entries;
    let lengths = parts.iter().filter_map(|entry| match &entry.body {
        Body::Agent { text, .. } => Some(text.len()),
        _ => None,
    });
    assert!(lengths.clone().count() > 5 && lengths.clone().all(|length| length <= 32 * 1024));
    let thanks = database.queries().conversation(&accepted.session, None, 1).unwrap().entries[0].id;
    for limit in [1, 2, 1000] {
        let page = database.queries().conversation(&accepted.session, Some(thanks), limit).unwrap();
        let answer = page.entries.last().unwrap();
        assert_eq!(answer.body, Body::Agent { text: whole.clone(), offset: 0 });
        assert_eq!((page.entries.len(), page.more_before), if limit < 1000 { (1, true) } else { (2, false) });
        let before = database.queries().conversation(&accepted.session, Some(answer.id), 5).unwrap();
        assert_eq!((before.entries.len(), before.more_before), (1, false));
    }
}

#[test]
fn a_conversation_is_paged_from_its_end() {
    let (_home, mut database) = database();
    let mut session = None;
    for n in 0..10 {
        session = Some(answer(&mut database, "a", &format!("q{n}"), &format!("a{n}"), n).0);
        answer(&mut database, "other", "x", "y", n);
    }
    let session = session.unwrap();
    let whole = database.queries().conversation(&session, None, 100).unwrap();
    assert_eq!((whole.entries.len(), whole.more_before), (20, false));
    let newest = database.queries().conversation(&session, None, 8).unwrap();
    let older = database.queries().conversation(&session, Some(newest.entries[0].id), 100).unwrap();
    assert!(newest.more_before && !older.more_before);
    assert_eq!([older.entries, newest.entries].concat(), whole.entries);
}

#[test]
fn the_log_is_paged_both_ways_and_filtered_by_level_and_session() {
    let (_home, mut database) = database();
    let (session, _) = answer(&mut database, "a", "q", "a", 1);
    answer(&mut database, "b", "q", "a", 1);
    let queries = database.queries();
    let all = queries.events(EventPage::Newest, Level::Debug, None, 100).unwrap();
    let middle = all[all.len() / 2].seq;
    let before = queries.events(EventPage::Before(middle), Level::Debug, None, 100).unwrap();
    let after = queries.events(EventPage::After(middle), Level::Debug, None, 2).unwrap();
    assert_eq!(before, all[..all.len() / 2]);
    assert_eq!(after, all[all.len() / 2 + 1..all.len() / 2 + 3]);
    assert!(queries.events(EventPage::Newest, Level::Warn, None, 100).unwrap().is_empty());
    let mine = queries.events(EventPage::Newest, Level::Debug, Some(&session), 100).unwrap();
    assert!(!mine.is_empty() && mine.iter().all(|event| event.session.as_ref() == Some(&session)));
}

#[test]
fn a_search_finds_words_of_ended_turns_with_the_match_marked() {
    let (_home, mut database) = database();
    answer(&mut database, "a", "Where is the Übersicht?", "In the blue folder \"x\".", 1);
    answer(&mut database, "b", "and the red one", "No folder there.", 2);
    assert_eq!(database.index_messages(3).unwrap(), 3, "in portions");
    assert_eq!(database.index_messages(3).unwrap(), 1);
    assert_eq!(database.index_messages(3).unwrap(), 0);
    let found = |words: &str| database.queries().search(words, 10).unwrap();
    assert_eq!(found("folder").len(), 2);
    assert_eq!(found("blue fold").len(), 1, "the last word may be a beginning");
    assert_eq!(found("ubersicht")[0].snippet, "Where is the \u{2}Übersicht\u{3}?");
    for harmless in ["", "\"", "AND OR NOT", "fol* NEAR(", "x\"y", "-"] {
        found(harmless);
    }
}

#[tokio::test]
async fn a_damaged_search_index_blocks_no_message_and_is_made_anew() {
    let (home, mut database) = database();
    answer(&mut database, "a", "needle", "yes", 1);
    assert_eq!(database.index_messages(100).unwrap(), 2);
    drop(database);
    let path = home.path().join("state.db");
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute("UPDATE message_index_data SET block = x'deadbeef' WHERE id > 10", ()).unwrap();
    drop(other);
    let (store, _feed) = Store::open(&path, Patience::default()).unwrap();
    store.write(|t| t.accept_message(&message("b", "not in the way", 2))).await.unwrap();
    let error = store.search("needle".to_owned(), 10).await.unwrap_err().to_string();
    assert!(error.contains("search index") && error.contains("made anew"), "{error}");
    assert_eq!(store.search("needle".to_owned(), 10).await.unwrap().len(), 1);
}
