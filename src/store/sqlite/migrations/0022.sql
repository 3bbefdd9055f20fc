-- Up to which message all calls of a turn without a result waited for an answer when it was told to stop.
ALTER TABLE turns ADD COLUMN waited_up_to INTEGER;
