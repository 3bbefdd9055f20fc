-- Since when there is no file, also while one that came in its place can't be read.
ALTER TABLE jobs_file ADD COLUMN missing_since INTEGER;
UPDATE jobs_file SET missing_since = since WHERE state = 'missing';
-- When another program had run jobs, by what it wrote into the file (JSON).
ALTER TABLE jobs_file ADD COLUMN ran_elsewhere TEXT NOT NULL DEFAULT '[]';
