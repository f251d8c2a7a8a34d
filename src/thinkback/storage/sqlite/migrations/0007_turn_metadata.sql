-- Metadata that a client of mem0's API sends with its messages. Erasing a turn erases its metadata.
CREATE TABLE turn_metadata (
  space INTEGER NOT NULL,
  turn  INTEGER NOT NULL,
  body  TEXT    NOT NULL,     -- a JSON object
  PRIMARY KEY (space, turn)
) WITHOUT ROWID;

CREATE TRIGGER turn_metadata_erased AFTER DELETE ON turns BEGIN
  DELETE FROM turn_metadata WHERE space = old.space AND turn = old.id;
END;
