-- The working memory of a session: as it is now, and every update it came from.
CREATE TABLE summaries (
  space   INTEGER NOT NULL,
  session TEXT    NOT NULL,
  version INTEGER NOT NULL,
  turn    INTEGER NOT NULL,     -- the last turn it covers
  body    TEXT    NOT NULL,     -- JSON, as it is exported
  PRIMARY KEY (space, session)
) WITHOUT ROWID;

CREATE TABLE summary_updates (
  space   INTEGER NOT NULL,
  session TEXT    NOT NULL,
  version INTEGER NOT NULL,
  body    TEXT    NOT NULL,     -- JSON, as it is exported
  PRIMARY KEY (space, session, version)
) WITHOUT ROWID;

-- A session's last turns are read before every answer, at a cost that does not grow with the bank.
CREATE INDEX turns_by_session ON turns (space, session, id);
