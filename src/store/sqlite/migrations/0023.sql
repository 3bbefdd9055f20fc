-- What the run of a scheduled task was denied.
CREATE INDEX approvals_of_turn ON approvals (turn);
