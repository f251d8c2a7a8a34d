-- A turn that the user asked to forget is hidden by a journal action: not searched and not thought about.
ALTER TABLE turns ADD COLUMN hidden_by INTEGER;                -- the action in effect
ALTER TABLE turns ADD COLUMN stamp INTEGER NOT NULL DEFAULT 0; -- the space's version when hidden_by last changed
CREATE INDEX turns_by_stamp ON turns (space, stamp) WHERE stamp > 0;

DROP INDEX turns_pending;
CREATE INDEX turns_pending ON turns (space, id) WHERE thought_at IS NULL AND failure IS NULL AND hidden_by IS NULL;

ALTER TABLE actions ADD COLUMN hides TEXT NOT NULL DEFAULT '[]'; -- JSON list of turns
CREATE INDEX actions_hiding ON actions (space, id) WHERE hides <> '[]';
