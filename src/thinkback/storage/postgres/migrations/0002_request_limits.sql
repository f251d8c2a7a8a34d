-- compatible from: 1
--
-- What the server processes on this database have used of the limits of each client (an API key or an address).
-- Not worth a write-ahead log: after a crash the tables are empty, and limits start anew.
CREATE UNLOGGED TABLE request_rates (
  client     text COLLATE "C" PRIMARY KEY,
  tokens     double precision NOT NULL,   -- requests that may be sent at once, as of updated_at
  updated_at bigint NOT NULL
);

CREATE UNLOGGED TABLE request_slots (     -- concurrent requests that a process may run
  client  text COLLATE "C" NOT NULL,
  process text COLLATE "C" NOT NULL,
  slots   bigint NOT NULL,
  until   bigint NOT NULL,                -- the process renews it; that of a dead process ends
  PRIMARY KEY (client, process)
);
