-- Every key is led by the space: the unit of isolation, of locking and of distribution.
-- Times are microseconds since 1970 (UTC). Ids are sequence numbers within the space.

CREATE TABLE meta (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE spaces (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,  -- never reused: a cached reader must notice
  name         TEXT    NOT NULL UNIQUE,
  last_turn    INTEGER NOT NULL DEFAULT 0,
  last_thought INTEGER NOT NULL DEFAULT 0,
  last_action  INTEGER NOT NULL DEFAULT 0,
  last_entity  INTEGER NOT NULL DEFAULT 0,
  indexed_turn    INTEGER NOT NULL DEFAULT 0,      -- turns and thoughts up to these have index entries
  indexed_thought INTEGER NOT NULL DEFAULT 0,
  version      INTEGER NOT NULL DEFAULT 0,         -- moves with every change of the index
  epoch        INTEGER NOT NULL DEFAULT 0          -- moves when readers must read all anew
);

-- The memory bank, and the queue: pending is a turn whose thought_at is empty.
CREATE TABLE turns (
  space       INTEGER NOT NULL,
  id          INTEGER NOT NULL,
  thought_at  INTEGER,
  lease       TEXT,
  lease_until INTEGER,          -- until then only the lease's holder may think it over
  attempts    INTEGER NOT NULL DEFAULT 0,
  failure     TEXT,             -- the reason, once it is a dead letter
  session     TEXT    NOT NULL,
  key         TEXT,
  asker       TEXT    NOT NULL,
  answerer    TEXT    NOT NULL,
  at          INTEGER NOT NULL,
  recorded_at INTEGER NOT NULL,
  recalled    TEXT    NOT NULL, -- what its answer was given, as ids and numbers
  query       TEXT    NOT NULL,
  response    TEXT    NOT NULL,
  PRIMARY KEY (space, id)
);
CREATE UNIQUE INDEX turns_by_key ON turns (space, key) WHERE key IS NOT NULL;
CREATE INDEX turns_pending ON turns (space, id) WHERE thought_at IS NULL AND failure IS NULL;
CREATE INDEX turns_leased ON turns (space, lease_until) WHERE lease IS NOT NULL;
CREATE INDEX turns_failed ON turns (space, id) WHERE failure IS NOT NULL;

-- The metacognition space.
CREATE TABLE thoughts (
  space       INTEGER NOT NULL,
  id          INTEGER NOT NULL,
  entity      INTEGER NOT NULL, -- the subject, resolved
  subject     TEXT    NOT NULL,
  relation    TEXT    NOT NULL,
  objects     TEXT    NOT NULL, -- JSON list
  sentence    TEXT    NOT NULL,
  kind        TEXT    NOT NULL,
  negated     INTEGER NOT NULL,
  valid_from  INTEGER,
  valid_to    INTEGER,
  recorded_at INTEGER NOT NULL,
  retired_at  INTEGER,
  sources     TEXT    NOT NULL, -- JSON list of [turn, speaker, side, start, end]
  stamp       INTEGER NOT NULL, -- the space's version when the row last changed
  PRIMARY KEY (space, id)
) WITHOUT ROWID;
CREATE INDEX thoughts_by_claim ON thoughts (space, entity, relation);
CREATE INDEX thoughts_by_stamp ON thoughts (space, stamp);

CREATE TABLE derived (          -- which thoughts come from a turn
  space   INTEGER NOT NULL,
  turn    INTEGER NOT NULL,
  thought INTEGER NOT NULL,
  PRIMARY KEY (space, turn, thought)
) WITHOUT ROWID;

CREATE TABLE entities (
  space INTEGER NOT NULL,
  id    INTEGER NOT NULL,
  name  TEXT    NOT NULL,
  PRIMARY KEY (space, id)
);

CREATE TABLE aliases (
  space  INTEGER NOT NULL,
  alias  TEXT    NOT NULL,      -- normalised
  entity INTEGER NOT NULL,
  PRIMARY KEY (space, alias)
) WITHOUT ROWID;

-- The journal: every thought an action touched, before and after.
CREATE TABLE actions (
  space     INTEGER NOT NULL,
  id        INTEGER NOT NULL,
  action    TEXT    NOT NULL,
  reason    TEXT    NOT NULL,
  actor     TEXT    NOT NULL,
  at        INTEGER NOT NULL,
  turn      INTEGER,
  undoes    INTEGER,
  undone_by INTEGER,
  before    TEXT    NOT NULL,
  after     TEXT    NOT NULL,
  PRIMARY KEY (space, id)
);
CREATE INDEX actions_by_turn ON actions (space, turn) WHERE turn IS NOT NULL;
CREATE INDEX actions_by_undone ON actions (space, undoes) WHERE undoes IS NOT NULL;

CREATE TABLE touched (          -- which actions touched a thought
  space   INTEGER NOT NULL,
  thought INTEGER NOT NULL,
  action  INTEGER NOT NULL,
  PRIMARY KEY (space, thought, action)
) WITHOUT ROWID;

-- The index: a cache of rows derived from the ones above.
CREATE TABLE entries (
  space    INTEGER NOT NULL,
  kind     TEXT    NOT NULL,    -- turn or thought
  id       INTEGER NOT NULL,
  embedder TEXT    NOT NULL,
  grp      INTEGER NOT NULL,
  vector   BLOB    NOT NULL,    -- float32
  terms    BLOB    NOT NULL,    -- uint32 hashes
  stamp    INTEGER NOT NULL,
  PRIMARY KEY (space, kind, id)
);
CREATE INDEX entries_by_stamp ON entries (space, stamp);

CREATE TABLE hashings (
  space   INTEGER PRIMARY KEY,
  columns INTEGER NOT NULL,     -- b/2
  seed    INTEGER NOT NULL,
  learned INTEGER NOT NULL,
  probes  INTEGER NOT NULL,
  size    INTEGER NOT NULL,
  matrix  BLOB    NOT NULL      -- float32, (d, b/2)
);
