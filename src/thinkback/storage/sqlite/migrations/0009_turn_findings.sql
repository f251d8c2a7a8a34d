-- The instructions and secrets that were found in the texts of a turn when it was thought about (JSON).
ALTER TABLE turns ADD COLUMN findings TEXT;
