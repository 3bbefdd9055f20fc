-- What blocks on a person. A row is used again when its key is raised after it was resolved.
CREATE TABLE alerts (
    key             TEXT NOT NULL PRIMARY KEY,
    -- What it is about (JSON).
    subject         TEXT NOT NULL,
    words           TEXT NOT NULL,
    raised_at       INTEGER NOT NULL,
    raises          INTEGER NOT NULL,
    acknowledged_at INTEGER,
    resolved_at     INTEGER,
    -- How the alert command told it: how often, when it was last tried, and what failed then.
    told            INTEGER NOT NULL DEFAULT 0,
    tried_at        INTEGER,
    failure         TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX open_alerts ON alerts (raised_at DESC, key) WHERE resolved_at IS NULL;
CREATE INDEX alerts_to_tell ON alerts (tried_at, raised_at, key, acknowledged_at, resolved_at)
    WHERE resolved_at IS NULL AND acknowledged_at IS NULL;

-- Sessions that needed a person before there were alerts.
INSERT INTO alerts (key, subject, words, raised_at, raises)
SELECT 'session:' || id, json_object('kind', 'session', 'id', id),
    CASE WHEN marker IS NULL OR marker <> 'suspended'
         THEN 'a session''s queue is held: the agent''s backend fails; /continue tries now'
         ELSE 'a session is suspended; /unsuspend lifts it, a message starts anew' END,
    CASE WHEN marker IS NULL OR marker <> 'suspended' THEN hold_since ELSE marker_since END, 1
FROM sessions
WHERE ended_at IS NULL AND (marker = 'suspended' OR hold_reason = 'backend_error');
