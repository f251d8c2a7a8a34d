-- Contradictions between rows, for `verify`. Each query counts the rows that contradict others.

-- name: verify.spaces
-- all tenants
SELECT tenant, id FROM spaces ORDER BY id

-- name: verify.rows_without_space
-- all tenants
SELECT count(*) FROM (
  SELECT tenant, space FROM turns UNION ALL SELECT tenant, space FROM thoughts UNION ALL SELECT tenant, space FROM actions
  UNION ALL SELECT tenant, space FROM entries UNION ALL SELECT tenant, space FROM entities UNION ALL SELECT tenant, space FROM aliases
  UNION ALL SELECT tenant, space FROM derived UNION ALL SELECT tenant, space FROM touched UNION ALL SELECT tenant, space FROM recalls
  UNION ALL SELECT tenant, space FROM summaries UNION ALL SELECT tenant, space FROM summary_updates
  UNION ALL SELECT tenant, space FROM hashings
) AS r WHERE NOT EXISTS (SELECT 1 FROM spaces s WHERE s.tenant = r.tenant AND s.id = r.space)

-- name: verify.counters
-- all tenants
SELECT count(*) FROM spaces s WHERE
  s.last_turn < (SELECT coalesce(max(id), 0) FROM turns WHERE tenant = s.tenant AND space = s.id)
  OR s.last_thought < (SELECT coalesce(max(id), 0) FROM thoughts WHERE tenant = s.tenant AND space = s.id)
  OR s.last_action < (SELECT coalesce(max(id), 0) FROM actions WHERE tenant = s.tenant AND space = s.id)
  OR s.last_entity < (SELECT coalesce(max(id), 0) FROM entities WHERE tenant = s.tenant AND space = s.id)

-- name: verify.thoughts_without_entity
-- all tenants
SELECT count(*) FROM thoughts t
WHERE NOT EXISTS (SELECT 1 FROM entities e WHERE e.tenant = t.tenant AND e.space = t.space AND e.id = t.entity)

-- name: verify.aliases_without_entity
-- all tenants
SELECT count(*) FROM aliases a
WHERE NOT EXISTS (SELECT 1 FROM entities e WHERE e.tenant = a.tenant AND e.space = a.space AND e.id = a.entity)

-- name: verify.thoughts_without_action
-- all tenants
SELECT count(*) FROM thoughts t
WHERE NOT EXISTS (SELECT 1 FROM touched c WHERE c.tenant = t.tenant AND c.space = t.space AND c.thought = t.id)

-- name: verify.touched_without_row
-- all tenants
SELECT count(*) FROM touched c
WHERE NOT EXISTS (SELECT 1 FROM actions a WHERE a.tenant = c.tenant AND a.space = c.space AND a.id = c.action)
  OR NOT EXISTS (SELECT 1 FROM thoughts t WHERE t.tenant = c.tenant AND t.space = c.space AND t.id = c.thought)

-- name: verify.derived_without_row
-- all tenants
SELECT count(*) FROM derived d
WHERE NOT EXISTS (SELECT 1 FROM turns t WHERE t.tenant = d.tenant AND t.space = d.space AND t.id = d.turn)
  OR NOT EXISTS (SELECT 1 FROM thoughts t WHERE t.tenant = d.tenant AND t.space = d.space AND t.id = d.thought)

-- name: verify.hidden_without_action
-- all tenants
SELECT count(*) FROM turns t WHERE t.hidden_by IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM actions a WHERE a.tenant = t.tenant AND a.space = t.space AND a.id = t.hidden_by)

-- name: verify.entries_without_row
-- all tenants
SELECT count(*) FROM entries e WHERE CASE e.kind
  WHEN 'turn' THEN NOT EXISTS (SELECT 1 FROM turns t WHERE t.tenant = e.tenant AND t.space = e.space AND t.id = e.id)
  WHEN 'thought' THEN NOT EXISTS (SELECT 1 FROM thoughts t WHERE t.tenant = e.tenant AND t.space = e.space AND t.id = e.id)
  ELSE true END

-- name: verify.turns_without_entry
-- all tenants
SELECT count(*) FROM turns t JOIN spaces s ON s.tenant = t.tenant AND s.id = t.space WHERE t.id <= s.indexed_turn
  AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.tenant = t.tenant AND e.space = t.space AND e.kind = 'turn' AND e.id = t.id)

-- name: verify.thoughts_without_entry
-- all tenants
SELECT count(*) FROM thoughts t JOIN spaces s ON s.tenant = t.tenant AND s.id = t.space WHERE t.id <= s.indexed_thought
  AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.tenant = t.tenant AND e.space = t.space AND e.kind = 'thought' AND e.id = t.id)

-- name: verify.entries_of_other_embedder
-- all tenants
SELECT count(*) FROM entries WHERE embedder <> (SELECT value FROM meta WHERE name = 'embedder')
  AND NOT EXISTS (SELECT 1 FROM meta WHERE name = 'reembedding')

-- name: verify.turns
SELECT id, session, key, asker, answerer, at, recorded_at, recalled, query, response, thought_at, checks, hidden_by, findings
FROM turns WHERE tenant = $tenant AND space = $1 AND id > $2 ORDER BY id LIMIT nullif($3, -1)

-- name: verify.thoughts
SELECT id, subject, relation, objects, sentence, kind, negated,
       valid_from, valid_to, recorded_at, retired_at, sources
FROM thoughts WHERE tenant = $tenant AND space = $1 AND id > $2 ORDER BY id LIMIT nullif($3, -1)

-- name: verify.actions
SELECT id, action, reason, actor, at, turn, undoes, undone_by, before, after, hides
FROM actions WHERE tenant = $tenant AND space = $1 AND id > $2 ORDER BY id LIMIT nullif($3, -1)

-- name: verify.entries
SELECT kind, id, grp, vector, terms FROM entries WHERE tenant = $tenant AND space = $1 AND kind = $2 AND id > $3 ORDER BY id LIMIT nullif($4, -1)

-- name: verify.foreign_keys
-- all tenants
SELECT count(*) FROM turn_metadata m
WHERE NOT EXISTS (SELECT 1 FROM turns t WHERE t.tenant = m.tenant AND t.space = m.space AND t.id = m.turn)
