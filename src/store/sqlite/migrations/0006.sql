-- What agents asked a person, and what became of it.
CREATE TABLE approvals (
    -- The number of one is never another's: answers name it.
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    session    TEXT NOT NULL REFERENCES sessions (id),
    turn       INTEGER NOT NULL REFERENCES turns (id),
    -- JSON.
    question   TEXT NOT NULL,
    asked_at   INTEGER NOT NULL,
    denies_at  INTEGER NOT NULL,
    -- JSON; nothing while it waits.
    decision   TEXT,
    decided_at INTEGER CHECK ((decided_at IS NULL) = (decision IS NULL))
) STRICT;

CREATE INDEX open_approvals ON approvals (session, id) WHERE decision IS NULL;

-- What may be done without asking for the rest of a session.
CREATE TABLE allowed_commands (
    session TEXT NOT NULL REFERENCES sessions (id),
    prefix  TEXT NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (session, prefix)
) STRICT, WITHOUT ROWID;

-- How many of its questions wait.
ALTER TABLE sessions ADD COLUMN asks INTEGER NOT NULL DEFAULT 0;
