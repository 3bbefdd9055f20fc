-- Commands that agents started to go on after their turns. Of those that ended the newest are kept.
CREATE TABLE background (
    session       TEXT NOT NULL REFERENCES sessions (id),
    -- Counted in the session, from 1.
    number        INTEGER NOT NULL,
    turn          INTEGER NOT NULL REFERENCES turns (id),
    command       TEXT NOT NULL,
    folder        TEXT NOT NULL,
    process_group INTEGER NOT NULL,
    -- As in the table processes: numbers come again.
    started       INTEGER NOT NULL,
    boot          TEXT NOT NULL,
    began_at      INTEGER NOT NULL,
    stopped_by    TEXT,
    ended_at      INTEGER,
    -- JSON.
    exit          TEXT,
    -- The turn whose agent was told of the end.
    told_in       INTEGER REFERENCES turns (id),
    PRIMARY KEY (session, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX live_background ON background (session, number) WHERE ended_at IS NULL;
