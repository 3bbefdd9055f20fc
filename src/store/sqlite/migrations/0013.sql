-- What is sent to an agent in the place of a session's first entries, which stay: up to which, the turn of
-- that one, and the words.
CREATE TABLE summaries (
    session TEXT NOT NULL PRIMARY KEY REFERENCES sessions (id),
    up_to   INTEGER NOT NULL REFERENCES messages (id),
    turn    INTEGER NOT NULL REFERENCES turns (id),
    text    TEXT NOT NULL,
    at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
