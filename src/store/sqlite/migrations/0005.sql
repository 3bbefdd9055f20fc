-- The stored copy of jobs.json: its records in their order, and those of jobs that are gone from it.
CREATE TABLE job_records (
    n          INTEGER PRIMARY KEY,
    place      INTEGER,
    -- The job whose record it is; a record without an id of its own is nobody's.
    job        TEXT,
    text       TEXT NOT NULL,
    -- What it means, and what is wrong with it (JSON).
    definition TEXT,
    faults     TEXT NOT NULL
) STRICT;

CREATE INDEX record_places ON job_records (place) WHERE place IS NOT NULL;

-- How each job stands. Apart from its record, which is long and rarely another.
CREATE TABLE jobs (
    n            INTEGER PRIMARY KEY,
    id           TEXT NOT NULL UNIQUE,
    record       INTEGER NOT NULL,
    name         TEXT NOT NULL,
    -- What its next slot was computed from: the schedule as typed, the zone, the first sight.
    schedule     TEXT NOT NULL,
    zone         TEXT NOT NULL,
    anchor       INTEGER NOT NULL,
    -- Every slot up to here is in a row of `executions`.
    settled      INTEGER NOT NULL,
    next         INTEGER,
    -- When the ticker must look at it; nothing while none of its slots is taken.
    due          INTEGER,
    overlap      TEXT NOT NULL,
    -- Why it can't be used (JSON).
    trouble      TEXT,
    paused_since INTEGER,
    paused_why   TEXT,
    failures     INTEGER NOT NULL DEFAULT 0,
    -- How many runs of its repeat are used up.
    runs         INTEGER NOT NULL DEFAULT 0,
    completed_at INTEGER,
    vanished_at  INTEGER,
    -- The rank of its `JobState`.
    rank         INTEGER NOT NULL
) STRICT;

CREATE INDEX due_jobs ON jobs (due, id) WHERE due IS NOT NULL;
CREATE INDEX job_list ON jobs (rank, next, id, name, completed_at);
CREATE INDEX vanished_jobs ON jobs (vanished_at) WHERE vanished_at IS NOT NULL;

-- What became of each slot, and of each run that an operator asked for. A slot is taken once.
CREATE TABLE executions (
    -- The number of one that was forgotten is never another's: documents and events name it.
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    job        TEXT NOT NULL,
    first_slot INTEGER,
    last_slot  INTEGER CHECK ((last_slot IS NULL) = (first_slot IS NULL)),
    slots      INTEGER CHECK ((slots IS NULL) = (first_slot IS NULL)),
    how        TEXT NOT NULL,
    state      TEXT NOT NULL,
    -- Whether it used up a run of its job's repeat.
    counts     INTEGER NOT NULL,
    taken_at   INTEGER NOT NULL,
    began_at   INTEGER,
    ended_at   INTEGER,
    why        TEXT,
    attempt    INTEGER NOT NULL DEFAULT 1,
    -- The claim: who (JSON), its token and its times.
    owner      TEXT,
    token      TEXT,
    claimed_at INTEGER,
    beat_at    INTEGER,
    expires_at INTEGER,
    session    TEXT REFERENCES sessions (id),
    turn       INTEGER REFERENCES turns (id),
    output     TEXT
) STRICT;

CREATE UNIQUE INDEX taken_slots ON executions (job, first_slot) WHERE first_slot IS NOT NULL;
CREATE INDEX executions_of_jobs ON executions (job, id);
CREATE INDEX waiting_executions ON executions (id, job) WHERE state = 'waiting';
CREATE INDEX open_executions ON executions (job, state) WHERE state IN ('waiting', 'claimed', 'running');
CREATE INDEX busy_executions ON executions (id, job) WHERE state IN ('claimed', 'running');
CREATE INDEX ended_runs ON executions (job, id) WHERE began_at IS NOT NULL AND ended_at IS NOT NULL;
CREATE INDEX job_outputs ON executions (job, id) WHERE state = 'succeeded' AND output IS NOT NULL;
CREATE INDEX executions_by_time ON executions (taken_at);

-- Where each result goes, and how that stands.
CREATE TABLE deliveries (
    execution INTEGER NOT NULL REFERENCES executions (id),
    place     INTEGER NOT NULL,
    target    TEXT NOT NULL,
    state     TEXT NOT NULL,
    at        INTEGER NOT NULL,
    why       TEXT,
    PRIMARY KEY (execution, place)
) STRICT, WITHOUT ROWID;

CREATE INDEX pending_deliveries ON deliveries (execution, place) WHERE state = 'pending';

-- How jobs.json and the ticker stand: one row.
CREATE TABLE jobs_file (
    id        INTEGER PRIMARY KEY CHECK (id = 1),
    state     TEXT NOT NULL DEFAULT 'missing' CHECK (state IN ('missing', 'read', 'unreadable')),
    -- When it was read last, and since when it can't be, with what is wrong (JSON).
    read_at   INTEGER,
    since     INTEGER,
    trouble   TEXT,
    -- The zone of jobs that name none, as of the last reading.
    zone      TEXT,
    last_pass INTEGER
) STRICT;
INSERT INTO jobs_file (id) VALUES (1);

-- The log of one job.
ALTER TABLE events ADD COLUMN job TEXT;
CREATE INDEX events_of_jobs ON events (job, seq) WHERE job IS NOT NULL;
