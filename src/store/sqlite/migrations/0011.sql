-- The run of the engine with which an execution was cut off.
ALTER TABLE executions ADD COLUMN cut_with TEXT;
CREATE INDEX cut_executions ON executions (cut_with, id) WHERE cut_with IS NOT NULL;
