-- What was caught in the drafts of a turn's answer: a JSON list, as it is exported.
ALTER TABLE turns ADD COLUMN checks TEXT NOT NULL DEFAULT '[]';
