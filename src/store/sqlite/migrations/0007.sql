-- How many things there were that are told at once, of how many of them nobody has to be told any more,
-- and what follows from all that: whether a person must look, and whether the alert command has work.
ALTER TABLE alerts ADD COLUMN news INTEGER NOT NULL DEFAULT 1;
ALTER TABLE alerts ADD COLUMN told_news INTEGER NOT NULL DEFAULT 0;
ALTER TABLE alerts ADD COLUMN needs_you INTEGER NOT NULL DEFAULT 0;
ALTER TABLE alerts ADD COLUMN to_tell INTEGER NOT NULL DEFAULT 0;
UPDATE alerts SET
    told_news = iif(told > 0 OR resolved_at IS NOT NULL, 1, 0),
    needs_you = resolved_at IS NULL AND acknowledged_at IS NULL,
    to_tell = resolved_at IS NULL AND acknowledged_at IS NULL;
-- A failing job's alert counts the failures in a row.
UPDATE alerts SET raises = max(raises, (SELECT failures FROM jobs WHERE 'job:' || id = key))
WHERE resolved_at IS NULL AND EXISTS (SELECT 1 FROM jobs WHERE 'job:' || id = key);

DROP INDEX alerts_to_tell;
CREATE INDEX alerts_that_need_you ON alerts (key) WHERE needs_you = 1;
CREATE INDEX alerts_to_tell ON alerts (key) WHERE to_tell = 1;
