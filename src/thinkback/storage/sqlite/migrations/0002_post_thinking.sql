-- Who is who is read from the relationship thoughts before every turn is organised.
CREATE INDEX thoughts_relationships ON thoughts (space, id) WHERE kind = 'relationship' AND retired_at IS NULL;

-- A group is read when it is reorganised, at a cost that does not grow with the space.
CREATE INDEX entries_by_group ON entries (space, kind, grp, id);

-- How often a thought was recalled, and when last: kept only under a retention policy.
CREATE TABLE recalls (
  space   INTEGER NOT NULL,
  thought INTEGER NOT NULL,
  times   INTEGER NOT NULL,
  last    INTEGER NOT NULL,
  PRIMARY KEY (space, thought)
) WITHOUT ROWID;
