-- What was told of jobs since a time, whichever they are.
CREATE INDEX job_events ON events (seq) WHERE job IS NOT NULL;
