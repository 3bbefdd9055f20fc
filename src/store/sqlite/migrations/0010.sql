-- A job that is gone from the file needs a person as one that fails does: it stands with those.
UPDATE jobs SET rank = CASE WHEN rank = 7 THEN 2 WHEN rank >= 2 THEN rank + 1 ELSE rank END;
