-- Contradictions between rows, for `verify`. Each query counts the rows that contradict others.

-- name: verify.spaces
SELECT tenant, id FROM spaces ORDER BY id

-- name: verify.rows_without_space
SELECT count(*) FROM (
  SELECT space FROM turns UNION ALL SELECT space FROM thoughts UNION ALL SELECT space FROM actions
  UNION ALL SELECT space FROM entries UNION ALL SELECT space FROM entities UNION ALL SELECT space FROM aliases
  UNION ALL SELECT space FROM derived UNION ALL SELECT space FROM touched UNION ALL SELECT space FROM recalls
  UNION ALL SELECT space FROM summaries UNION ALL SELECT space FROM summary_updates
  UNION ALL SELECT space FROM hashings
) WHERE space NOT IN (SELECT id FROM spaces)

-- name: verify.counters
SELECT count(*) FROM spaces s WHERE
  s.last_turn < (SELECT coalesce(max(id), 0) FROM turns WHERE space = s.id)
  OR s.last_thought < (SELECT coalesce(max(id), 0) FROM thoughts WHERE space = s.id)
  OR s.last_action < (SELECT coalesce(max(id), 0) FROM actions WHERE space = s.id)
  OR s.last_entity < (SELECT coalesce(max(id), 0) FROM entities WHERE space = s.id)

-- name: verify.thoughts_without_entity
SELECT count(*) FROM thoughts t
WHERE NOT EXISTS (SELECT 1 FROM entities e WHERE e.space = t.space AND e.id = t.entity)

-- name: verify.aliases_without_entity
SELECT count(*) FROM aliases a
WHERE NOT EXISTS (SELECT 1 FROM entities e WHERE e.space = a.space AND e.id = a.entity)

-- name: verify.thoughts_without_action
SELECT count(*) FROM thoughts t
WHERE NOT EXISTS (SELECT 1 FROM touched c WHERE c.space = t.space AND c.thought = t.id)

-- name: verify.touched_without_row
SELECT count(*) FROM touched c
WHERE NOT EXISTS (SELECT 1 FROM actions a WHERE a.space = c.space AND a.id = c.action)
  OR NOT EXISTS (SELECT 1 FROM thoughts t WHERE t.space = c.space AND t.id = c.thought)

-- name: verify.derived_without_row
SELECT count(*) FROM derived d
WHERE NOT EXISTS (SELECT 1 FROM turns t WHERE t.space = d.space AND t.id = d.turn)
  OR NOT EXISTS (SELECT 1 FROM thoughts t WHERE t.space = d.space AND t.id = d.thought)

-- name: verify.hidden_without_action
SELECT count(*) FROM turns t WHERE t.hidden_by IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM actions a WHERE a.space = t.space AND a.id = t.hidden_by)

-- name: verify.entries_without_row
SELECT count(*) FROM entries e WHERE CASE e.kind
  WHEN 'turn' THEN NOT EXISTS (SELECT 1 FROM turns t WHERE t.space = e.space AND t.id = e.id)
  WHEN 'thought' THEN NOT EXISTS (SELECT 1 FROM thoughts t WHERE t.space = e.space AND t.id = e.id)
  ELSE 1 END

-- name: verify.turns_without_entry
SELECT count(*) FROM turns t JOIN spaces s ON s.id = t.space WHERE t.id <= s.indexed_turn
  AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.space = t.space AND e.kind = 'turn' AND e.id = t.id)

-- name: verify.thoughts_without_entry
SELECT count(*) FROM thoughts t JOIN spaces s ON s.id = t.space WHERE t.id <= s.indexed_thought
  AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.space = t.space AND e.kind = 'thought' AND e.id = t.id)

-- name: verify.entries_of_other_embedder
SELECT count(*) FROM entries WHERE embedder <> (SELECT value FROM meta WHERE name = 'embedder')
  AND NOT EXISTS (SELECT 1 FROM meta WHERE name = 'reembedding')

-- name: verify.turns
SELECT id, session, key, asker, answerer, at, recorded_at, recalled, query, response, thought_at, checks, hidden_by, findings
FROM turns WHERE space = ?1 AND id > ?2 ORDER BY id LIMIT ?3

-- name: verify.thoughts
SELECT id, subject, relation, objects, sentence, kind, negated,
       valid_from, valid_to, recorded_at, retired_at, sources
FROM thoughts WHERE space = ?1 AND id > ?2 ORDER BY id LIMIT ?3

-- name: verify.actions
SELECT id, action, reason, actor, at, turn, undoes, undone_by, before, after, hides
FROM actions WHERE space = ?1 AND id > ?2 ORDER BY id LIMIT ?3

-- name: verify.entries
SELECT kind, id, grp, vector, terms FROM entries WHERE space = ?1 AND kind = ?2 AND id > ?3 ORDER BY id LIMIT ?4

-- name: verify.foreign_keys
SELECT count(*) FROM pragma_foreign_key_check
