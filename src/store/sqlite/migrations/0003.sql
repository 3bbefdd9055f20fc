-- What a session carries from one life of the engine to the next, and how it began.
ALTER TABLE sessions ADD COLUMN began_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN marker TEXT CHECK (marker IN ('resume_pending', 'suspended'));
ALTER TABLE sessions ADD COLUMN marker_reason TEXT CHECK ((marker_reason IS NULL) = (marker IS NULL));
ALTER TABLE sessions ADD COLUMN marker_since INTEGER CHECK ((marker_since IS NULL) = (marker IS NULL));
-- Starts in a row that found it cut off, without a successful answer since.
ALTER TABLE sessions ADD COLUMN cuts INTEGER NOT NULL DEFAULT 0;
-- Its place among those that this run resumes by itself; what waits in it waits for that.
ALTER TABLE sessions ADD COLUMN resume_place INTEGER;
-- is_fresh_reset: /new or /reset made it; auto_reset_reason: a policy did (was_auto_reset).
ALTER TABLE sessions ADD COLUMN is_fresh_reset INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN auto_reset_reason TEXT;
ALTER TABLE sessions ADD COLUMN reset_had_activity INTEGER NOT NULL DEFAULT 0;
-- The line that its first turn begins with, and the blocked reset that was told last (JSON).
ALTER TABLE sessions ADD COLUMN reset_notice TEXT;
ALTER TABLE sessions ADD COLUMN reset_block TEXT;
-- The agent's handle: what of it outlives the engine.
ALTER TABLE sessions ADD COLUMN health TEXT;
ALTER TABLE sessions ADD COLUMN restart_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN last_used_at INTEGER;
UPDATE sessions SET began_at = created_at;
-- Two states came between those that a list sorts by.
UPDATE sessions SET rank = rank + 2 WHERE rank >= 2;

CREATE INDEX marked ON sessions (marker, last_activity_at) WHERE marker IS NOT NULL;
CREATE INDEX resumes ON sessions (resume_place) WHERE resume_place IS NOT NULL;

-- Which run of the engine has a turn, and until when its word counts.
ALTER TABLE turns ADD COLUMN owner INTEGER REFERENCES runs (n);
ALTER TABLE turns ADD COLUMN lease_until INTEGER;

-- How the run before ended as this one found it (JSON), how many sessions it was to resume, and
-- whether the boot guard held them; the last sign of life of this one.
ALTER TABLE runs ADD COLUMN stamped_at INTEGER;
ALTER TABLE runs ADD COLUMN exit TEXT;
ALTER TABLE runs ADD COLUMN to_resume INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN guard TEXT;
-- How many unclean starts with something to resume came in a row, this one among them.
ALTER TABLE runs ADD COLUMN in_row INTEGER NOT NULL DEFAULT 0;
-- The run that has this home, and its limits.
ALTER TABLE house ADD COLUMN run INTEGER REFERENCES runs (n);
ALTER TABLE house ADD COLUMN max_cuts INTEGER NOT NULL DEFAULT 3;
ALTER TABLE house ADD COLUMN max_resumes INTEGER NOT NULL DEFAULT 4;
ALTER TABLE house ADD COLUMN guard_starts INTEGER NOT NULL DEFAULT 5;
ALTER TABLE house ADD COLUMN freshness_seconds INTEGER NOT NULL DEFAULT 3600;
-- When a person last used a console: the next one tells what happened since.
ALTER TABLE house ADD COLUMN looked_at INTEGER;

-- What each start decided about each session that it looked at.
CREATE TABLE recoveries (
    id       INTEGER PRIMARY KEY,
    run      INTEGER NOT NULL REFERENCES runs (n),
    session  TEXT NOT NULL REFERENCES sessions (id),
    verdict  TEXT NOT NULL,
    cuts     INTEGER NOT NULL,
    -- What was cut off: the message's first words, and the last tool call.
    message  TEXT,
    tool     TEXT,
    -- The turn that resumed it, and what took its marker away; without that a later start decided anew.
    turn     INTEGER REFERENCES turns (id),
    cleared  TEXT,
    ended_at INTEGER
) STRICT;

CREATE INDEX recoveries_of_runs ON recoveries (run, id);
CREATE INDEX open_recoveries ON recoveries (session, id) WHERE ended_at IS NULL;

-- What the host application keeps with a conversation, byte for byte, beside our own runtime's object.
CREATE TABLE conversations (
    id          TEXT NOT NULL,
    user        TEXT NOT NULL DEFAULT '',
    key         TEXT NOT NULL,
    agent_state TEXT NOT NULL DEFAULT '{}',
    PRIMARY KEY (id, user)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX conversations_by_key ON conversations (key);

-- Child processes of turns, kept before they work: whoever starts next finds and ends them.
CREATE TABLE processes (
    process_group INTEGER NOT NULL,
    -- The clock tick of the machine's boot in which the leader began: numbers come again.
    started       INTEGER NOT NULL,
    boot          TEXT NOT NULL,
    session       TEXT NOT NULL REFERENCES sessions (id),
    turn          INTEGER NOT NULL REFERENCES turns (id),
    program       TEXT NOT NULL,
    at            INTEGER NOT NULL,
    PRIMARY KEY (process_group, started, boot)
) STRICT, WITHOUT ROWID;
CREATE INDEX processes_of_sessions ON processes (session);
