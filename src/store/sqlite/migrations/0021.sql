-- What the agent of a session told last of the use of its own session.
ALTER TABLE sessions ADD COLUMN agent_session_told TEXT;
