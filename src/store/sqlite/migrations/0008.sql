-- The model that a session asks for in place of the setting's.
ALTER TABLE sessions ADD COLUMN chosen_model TEXT;
