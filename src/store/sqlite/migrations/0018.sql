-- What was used on each day of the operator's zone, in millionths of money: of everything, of the sessions
-- under a key, of a scheduled task. One that was let go for the day has no limit on it.
CREATE TABLE spent (
    day    TEXT NOT NULL,
    scope  TEXT NOT NULL,
    tokens INTEGER NOT NULL DEFAULT 0,
    cost   INTEGER NOT NULL DEFAULT 0,
    let_go INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (day, scope)
) STRICT, WITHOUT ROWID;

-- The limits of the last run (JSON).
ALTER TABLE house ADD COLUMN spending TEXT;
-- The limit that a session is held by (JSON), since when, and until which day begins.
ALTER TABLE sessions ADD COLUMN spent TEXT;
ALTER TABLE sessions ADD COLUMN spent_since INTEGER;
ALTER TABLE sessions ADD COLUMN spent_until INTEGER;
CREATE INDEX spent_sessions ON sessions (spent_until, id) WHERE spent_until IS NOT NULL;
