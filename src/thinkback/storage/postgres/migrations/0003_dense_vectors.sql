-- compatible from: 1
--
-- A copy of the vectors of very large spaces, for the search by pgvector (hnsw.py). It is derived from `entries` and
-- goes with them. The HNSW index of each large space is created at run time, because the extension may be missing.
CREATE TABLE dense_vectors (
  tenant    text COLLATE "C" NOT NULL,
  space     bigint NOT NULL,
  kind      text COLLATE "C" NOT NULL,
  id        bigint NOT NULL,
  embedding real[] NOT NULL,
  PRIMARY KEY (tenant, space, kind, id),
  FOREIGN KEY (tenant, space, kind, id) REFERENCES entries (tenant, space, kind, id) ON DELETE CASCADE
);
ALTER TABLE dense_vectors ALTER COLUMN embedding SET STORAGE MAIN;
ALTER TABLE dense_vectors ALTER COLUMN embedding SET STATISTICS 0;
ALTER TABLE dense_vectors ENABLE ROW LEVEL SECURITY;
ALTER TABLE dense_vectors FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON dense_vectors USING (current_setting('thinkback.scope', true) = 'all'
  OR left(current_setting('thinkback.scope', true), 7) = 'tenant:'
  AND tenant = substr(current_setting('thinkback.scope', true), 8));
