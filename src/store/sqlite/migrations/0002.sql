-- Each row of a session knows the one before it, and the session knows the newest: a walk finds them.
-- An index by session would be one more page to write for every session in every commit.
ALTER TABLE sessions ADD COLUMN running_turn INTEGER REFERENCES turns (id);
ALTER TABLE sessions ADD COLUMN last_turn INTEGER REFERENCES turns (id);
ALTER TABLE sessions ADD COLUMN last_message INTEGER REFERENCES messages (id);
ALTER TABLE sessions ADD COLUMN last_event INTEGER;
ALTER TABLE turns ADD COLUMN previous INTEGER;
ALTER TABLE turns ADD COLUMN last_message INTEGER;
ALTER TABLE messages ADD COLUMN previous INTEGER;
ALTER TABLE events ADD COLUMN previous INTEGER;

UPDATE turns SET
    previous = (SELECT max(p.id) FROM turns p WHERE p.session = turns.session AND p.id < turns.id),
    last_message = (SELECT max(m.id) FROM messages m WHERE m.session = turns.session AND m.turn = turns.id);
UPDATE messages SET previous = before.id
FROM (SELECT id AS message, lag(id) OVER (PARTITION BY session ORDER BY id) AS id FROM messages) before
WHERE before.message = messages.id;
UPDATE events SET previous =
    (SELECT max(p.seq) FROM events p WHERE p.session = events.session AND p.seq < events.seq)
WHERE session IS NOT NULL;
UPDATE sessions SET
    running_turn = (SELECT id FROM turns WHERE session = sessions.id AND state = 'running'),
    last_turn = (SELECT max(id) FROM turns WHERE session = sessions.id),
    last_message = (SELECT last_message FROM turns WHERE session = sessions.id ORDER BY id DESC LIMIT 1),
    last_event = (SELECT max(seq) FROM events WHERE session = sessions.id);

DROP INDEX conversations;
DROP INDEX turns_of_sessions;
DROP INDEX running_turns;
DROP INDEX running_items;
DROP INDEX events_of_sessions;

-- The few rows of a turn that something still has to happen to.
CREATE INDEX steered_messages ON messages (turn, item) WHERE role = 'steered';
CREATE INDEX open_calls ON messages (turn, call, id) WHERE role = 'tool' AND result_at IS NULL;

-- The search index takes a turn's messages in from the newest on; it begins anew.
INSERT INTO message_index (message_index) VALUES ('delete-all');
UPDATE house SET indexed_seq = 0, indexed_message = 0;
