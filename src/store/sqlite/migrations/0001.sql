-- Times are milliseconds since 1970 in UTC. Enumerations are the words of the domain.

-- The lives of engines on this home.
CREATE TABLE runs (
    n          INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    pid        INTEGER NOT NULL,
    version    TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at   INTEGER
) STRICT;

-- What is true of the whole home: one row. A stop covers a hold without ending it.
CREATE TABLE house (
    id            INTEGER PRIMARY KEY CHECK (id = 1),
    held_since    INTEGER,
    held_why      TEXT,
    stopping_why  TEXT,
    -- What the configuration of the last run says where a session says nothing.
    busy_mode     TEXT NOT NULL DEFAULT 'replace',
    max_queued    INTEGER NOT NULL DEFAULT 500,
    steerable     INTEGER NOT NULL DEFAULT 0,
    -- Counted as they are made: counting a hundred thousand rows takes longer than a frame.
    live_sessions INTEGER NOT NULL DEFAULT 0,
    all_sessions  INTEGER NOT NULL DEFAULT 0,
    -- The search index has the turns up to this `ended_seq`, and of the next one this message.
    indexed_seq     INTEGER NOT NULL DEFAULT 0,
    indexed_message INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO house (id) VALUES (1);

CREATE TABLE sessions (
    id                 TEXT NOT NULL PRIMARY KEY,
    key                TEXT NOT NULL,
    conversation       TEXT,
    title              TEXT,
    created_at         INTEGER NOT NULL,
    last_activity_at   INTEGER NOT NULL,
    ended_at           INTEGER,
    end_reason         TEXT CHECK ((end_reason IS NULL) = (ended_at IS NULL)),
    previous           TEXT,
    turns              INTEGER NOT NULL DEFAULT 0,
    input_tokens       INTEGER NOT NULL DEFAULT 0,
    output_tokens      INTEGER NOT NULL DEFAULT 0,
    cache_read_tokens  INTEGER NOT NULL DEFAULT 0,
    cache_write_tokens INTEGER NOT NULL DEFAULT 0,
    model              TEXT,
    busy_mode          TEXT,
    hold_reason        TEXT,
    hold_since         INTEGER,
    probe_at           INTEGER,
    dead_turns         INTEGER NOT NULL DEFAULT 0,
    last_error         TEXT,
    -- The rank of `SessionState::of` this row's facts.
    rank               INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX live_keys ON sessions (key) WHERE ended_at IS NULL;
-- The list, with all that a filter looks at. A partial index covers a question only if it has the
-- column of its own condition too.
CREATE INDEX live_list ON sessions (rank, last_activity_at DESC, id DESC, key, title, ended_at)
    WHERE ended_at IS NULL;
CREATE INDEX ended_list ON sessions (last_activity_at DESC, id DESC) WHERE ended_at IS NOT NULL;
CREATE INDEX titles ON sessions (title) WHERE title IS NOT NULL;
CREATE UNIQUE INDEX live_titles ON sessions (title) WHERE title IS NOT NULL AND ended_at IS NULL;
CREATE INDEX probes ON sessions (probe_at) WHERE probe_at IS NOT NULL;

-- Messages and /queue items. Rows stay when they have run.
CREATE TABLE items (
    id         INTEGER PRIMARY KEY,
    session    TEXT NOT NULL REFERENCES sessions (id),
    lane       TEXT NOT NULL CHECK (lane IN ('slot', 'queue')),
    -- The order within the overflow queue.
    position   INTEGER NOT NULL,
    state      TEXT NOT NULL,
    text       TEXT NOT NULL,
    source     TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    turn       INTEGER REFERENCES turns (id),
    note       TEXT
) STRICT;

CREATE INDEX waiting_items ON items (session, lane DESC, position, state) WHERE state = 'waiting';
CREATE UNIQUE INDEX slots ON items (session) WHERE state = 'waiting' AND lane = 'slot';
CREATE INDEX running_items ON items (turn) WHERE state = 'running';
CREATE INDEX aside_items ON items (session, id) WHERE state IN ('superseded', 'cleared');

CREATE TABLE turns (
    id           INTEGER PRIMARY KEY,
    session      TEXT NOT NULL REFERENCES sessions (id),
    item         INTEGER NOT NULL REFERENCES items (id),
    state        TEXT NOT NULL,
    probe        INTEGER NOT NULL,
    steerable    INTEGER NOT NULL,
    began_at     INTEGER NOT NULL,
    -- What told it to stop, while it runs.
    stop_cause   TEXT,
    ended_at     INTEGER,
    -- The event that told of its end: the order in which the search index takes turns in.
    ended_seq    INTEGER,
    error        TEXT,
    end_cause    TEXT,
    hidden       INTEGER NOT NULL DEFAULT 0,
    input_tokens       INTEGER NOT NULL DEFAULT 0,
    output_tokens      INTEGER NOT NULL DEFAULT 0,
    cache_read_tokens  INTEGER NOT NULL DEFAULT 0,
    cache_write_tokens INTEGER NOT NULL DEFAULT 0,
    model        TEXT
) STRICT;

CREATE UNIQUE INDEX running_turns ON turns (session) WHERE state = 'running';
CREATE INDEX turns_of_sessions ON turns (session, id);
CREATE INDEX ended_turns ON turns (ended_seq) WHERE ended_seq IS NOT NULL;

-- The conversation, append-only. `text` is the words of a person, of the agent, or a tool's result.
-- A steered message that the agent did not take in stays as 'withdrawn' and is not shown.
CREATE TABLE messages (
    id        INTEGER PRIMARY KEY,
    session   TEXT NOT NULL REFERENCES sessions (id),
    turn      INTEGER NOT NULL REFERENCES turns (id),
    at        INTEGER NOT NULL,
    role      TEXT NOT NULL,
    text      TEXT,
    -- How many bytes of answer or reasoning the turn had produced before this part of it.
    produced  INTEGER,
    -- The item whose words these are.
    item      INTEGER,
    call      TEXT,
    tool      TEXT,
    arguments TEXT,
    ok        INTEGER,
    result_at INTEGER
) STRICT;

CREATE INDEX conversations ON messages (session, turn, id);

CREATE VIRTUAL TABLE message_index USING fts5 (
    text, content = 'messages', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
);

CREATE TABLE events (
    seq     INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    session TEXT,
    level   INTEGER NOT NULL,
    kind    TEXT NOT NULL
) STRICT;

CREATE INDEX events_of_sessions ON events (session, seq) WHERE session IS NOT NULL;
CREATE INDEX warnings ON events (seq) WHERE level >= 2;

CREATE TABLE drafts (
    key  TEXT NOT NULL PRIMARY KEY,
    text TEXT NOT NULL,
    at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE remembered_drafts (
    id   INTEGER PRIMARY KEY,
    key  TEXT NOT NULL,
    text TEXT NOT NULL,
    at   INTEGER NOT NULL
) STRICT;

CREATE INDEX remembered_by_key ON remembered_drafts (key, id);
