-- The session of its agent in which a session's newest turn ran, and the agent that knows it.
ALTER TABLE sessions ADD COLUMN agent_session TEXT;
ALTER TABLE sessions ADD COLUMN agent_session_of TEXT;
