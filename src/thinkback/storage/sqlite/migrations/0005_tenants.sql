-- Whose a space is: a name belongs to a tenant, and only with it is a space found. '' is the library's own.
-- SQLite cannot change UNIQUE (name), so the table is made anew, with the numbers of its spaces and the last
-- number ever given: a number must not come back, or a cached reader would take one space for another.
CREATE TABLE spaces_of_tenants (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant       TEXT    NOT NULL DEFAULT '',
  name         TEXT    NOT NULL,
  last_turn    INTEGER NOT NULL DEFAULT 0,
  last_thought INTEGER NOT NULL DEFAULT 0,
  last_action  INTEGER NOT NULL DEFAULT 0,
  last_entity  INTEGER NOT NULL DEFAULT 0,
  indexed_turn    INTEGER NOT NULL DEFAULT 0,
  indexed_thought INTEGER NOT NULL DEFAULT 0,
  version      INTEGER NOT NULL DEFAULT 0,
  epoch        INTEGER NOT NULL DEFAULT 0,
  UNIQUE (tenant, name)
);

INSERT INTO spaces_of_tenants (id, name, last_turn, last_thought, last_action, last_entity,
                               indexed_turn, indexed_thought, version, epoch)
SELECT id, name, last_turn, last_thought, last_action, last_entity, indexed_turn, indexed_thought, version, epoch
FROM spaces;

DELETE FROM sqlite_sequence WHERE name = 'spaces_of_tenants';
INSERT INTO sqlite_sequence (name, seq) SELECT 'spaces_of_tenants', seq FROM sqlite_sequence WHERE name = 'spaces';

DROP TABLE spaces;
ALTER TABLE spaces_of_tenants RENAME TO spaces;

-- Who may ask a server. A key's secret is not here, only its digest.
CREATE TABLE keys (
  number     INTEGER PRIMARY KEY,  -- in the order they were made
  id         TEXT    NOT NULL UNIQUE,
  tenant     TEXT    NOT NULL,
  scopes     TEXT    NOT NULL,     -- JSON list
  digest     BLOB    NOT NULL,
  label      TEXT    NOT NULL,
  user       TEXT,                 -- whom alone it speaks for
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER
);
CREATE INDEX keys_by_tenant ON keys (tenant, number);
