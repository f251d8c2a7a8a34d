-- What the server processes on this database have used of the limits of each client (an API key or an address).
CREATE TABLE request_rates (
  client     TEXT PRIMARY KEY,
  tokens     REAL NOT NULL,      -- requests that may be sent at once, as of updated_at
  updated_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE request_slots (     -- concurrent requests that a process may run
  client  TEXT NOT NULL,
  process TEXT NOT NULL,
  slots   INTEGER NOT NULL,
  until   INTEGER NOT NULL,      -- the process renews it; that of a dead process ends
  PRIMARY KEY (client, process)
) WITHOUT ROWID;
