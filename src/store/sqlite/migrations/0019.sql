-- A turn has one plan, which is replaced.
CREATE UNIQUE INDEX plans ON messages (turn) WHERE role = 'plan';
