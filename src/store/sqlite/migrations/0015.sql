-- What was spent, in millionths, and how full the model's window was when it was asked last.
ALTER TABLE turns ADD COLUMN cost INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN cost INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN context_tokens INTEGER;
ALTER TABLE sessions ADD COLUMN context_window INTEGER;
