-- The agents of the run, by name; what was true of the only one is said of each.
ALTER TABLE house ADD COLUMN agents TEXT NOT NULL DEFAULT '{"known":{},"by_platform":{}}';
ALTER TABLE house DROP COLUMN steerable;
-- The agent of a session's newest turn, and the one that it asks for in place of the setting's.
ALTER TABLE sessions ADD COLUMN agent TEXT;
ALTER TABLE sessions ADD COLUMN chosen_agent TEXT;
