-- Named statements of the PostgreSQL store (see sql_files.py). Values are always passed as parameters: $1, $2, ... as
-- in the SQLite store, and $tenant. A statement sees the rows of one tenant only, unless its first line is
-- "-- all tenants".

-- name: space.find
SELECT id FROM spaces WHERE tenant = $1 AND name = $2

-- name: space.names
SELECT name FROM spaces WHERE tenant = $1 ORDER BY name

-- name: space.keys
-- all tenants
SELECT tenant, name FROM spaces ORDER BY tenant, name

-- name: space.of_tenant
SELECT id FROM spaces WHERE tenant = $1 ORDER BY id FOR UPDATE

-- name: space.stamp
SELECT id, epoch, version, last_turn > indexed_turn OR last_thought > indexed_thought
FROM spaces WHERE tenant = $1 AND name = $2

-- name: space.lock
SELECT id, epoch, version, last_turn > indexed_turn OR last_thought > indexed_thought
FROM spaces WHERE tenant = $1 AND name = $2 FOR UPDATE

-- name: space.next_turn
INSERT INTO spaces AS s (tenant, name, last_turn) VALUES ($1, $2, 1)
ON CONFLICT (tenant, name) DO UPDATE SET last_turn = s.last_turn + 1
RETURNING id, last_turn

-- name: space.begin_change
UPDATE spaces SET version = version + 1 WHERE tenant = $tenant AND id = $1
RETURNING version, last_thought, last_action, last_entity, indexed_thought

-- name: space.end_change
UPDATE spaces SET last_thought = $2, last_action = $3, last_entity = $4, indexed_thought = $5 WHERE tenant = $tenant AND id = $1

-- name: space.new_epoch
UPDATE spaces SET epoch = epoch + 1, version = version + 1 WHERE tenant = $tenant AND id = $1

-- name: space.load
INSERT INTO spaces (tenant, name, last_turn, last_thought, last_action, last_entity)
VALUES ($1, $2, $3, $4, $5, $6)
RETURNING id

-- name: space.counters
SELECT id, last_turn, last_thought, last_action, last_entity, indexed_turn, indexed_thought, version, epoch
FROM spaces WHERE tenant = $1 AND name = $2

-- name: space.restore
INSERT INTO spaces (tenant, name, last_turn, last_thought, last_action, last_entity, indexed_turn, indexed_thought, version, epoch)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
RETURNING id

-- name: space.delete
DELETE FROM spaces WHERE tenant = $tenant AND id = $1

-- name: turns.insert
INSERT INTO turns (tenant, space, id, session, key, asker, answerer, at, recorded_at, recalled, query, response, thought_at, checks, findings)
VALUES ($tenant, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)

-- name: turns.append
WITH counted AS (
  INSERT INTO spaces AS s (tenant, name, last_turn) VALUES ($tenant, $1, 1)
  ON CONFLICT (tenant, name) DO UPDATE SET last_turn = s.last_turn + 1
  RETURNING id, last_turn
)
INSERT INTO turns (tenant, space, id, session, key, asker, answerer, at, recorded_at, recalled, query, response, thought_at, checks, findings)
SELECT $tenant, id, last_turn, $2, $3::text, $4, $5, $6, $7, $8, $9, $10, $11::bigint, $12, $13::text FROM counted
RETURNING id

-- name: turns.hide
UPDATE turns SET hidden_by = $3, stamp = $4, lease = NULL, lease_until = NULL
WHERE tenant = $tenant AND space = $1 AND id = ANY (translate($2, '[]', '{}')::bigint[])

-- name: turns.show
UPDATE turns SET hidden_by = NULL, stamp = $3
WHERE tenant = $tenant AND space = $1 AND hidden_by = ANY (translate($2, '[]', '{}')::bigint[])

-- name: turns.hidden_by
SELECT id, hidden_by FROM turns WHERE tenant = $tenant AND space = $1 AND id = ANY (translate($2, '[]', '{}')::bigint[])

-- name: turns.by_key
SELECT id, session, key, asker, answerer, at, recorded_at, recalled, query, response, thought_at, checks, hidden_by, findings
FROM turns WHERE tenant = $1 AND space = (SELECT id FROM spaces WHERE tenant = $1 AND name = $2) AND key = $3

-- name: turns.select
SELECT id, session, key, asker, answerer, at, recorded_at, recalled, query, response, thought_at, checks, hidden_by, findings
FROM turns WHERE tenant = $tenant AND space = $1 AND id > $2 AND ($4 OR hidden_by IS NULL)
ORDER BY id LIMIT nullif($3, -1)

-- name: turns.newest
SELECT id, session, key, asker, answerer, at, recorded_at, recalled, query, response, thought_at, checks, hidden_by, findings
FROM turns WHERE tenant = $tenant AND space = $1 AND id > $2 AND ($4 OR hidden_by IS NULL)
ORDER BY id DESC LIMIT nullif($3, -1)

-- name: turns.select_in_session
SELECT id, session, key, asker, answerer, at, recorded_at, recalled, query, response, thought_at, checks, hidden_by, findings
FROM turns WHERE tenant = $tenant AND space = $1 AND id > $2 AND session = $4 AND ($5 OR hidden_by IS NULL)
ORDER BY id LIMIT nullif($3, -1)

-- name: turns.newest_in_session
SELECT id, session, key, asker, answerer, at, recorded_at, recalled, query, response, thought_at, checks, hidden_by, findings
FROM turns WHERE tenant = $tenant AND space = $1 AND id > $2 AND session = $4 AND ($5 OR hidden_by IS NULL)
ORDER BY id DESC LIMIT nullif($3, -1)

-- name: turns.by_ids
SELECT id, session, key, asker, answerer, at, recorded_at, recalled, query, response, thought_at, checks, hidden_by, findings
FROM turns WHERE tenant = $tenant AND space = $1 AND id = ANY (translate($2, '[]', '{}')::bigint[]) ORDER BY id

-- name: turns.of_user
SELECT id, session, key, asker, answerer, at, recorded_at, recalled, query, response, thought_at, checks, hidden_by, findings
FROM turns WHERE tenant = $1 AND space = (SELECT id FROM spaces WHERE tenant = $1 AND name = $2)
  AND id = ANY (translate($3, '[]', '{}')::bigint[]) ORDER BY id

-- name: turns.sessions
SELECT session FROM turns WHERE tenant = $tenant AND space = $1 GROUP BY session ORDER BY min(id)

-- name: turns.of_session
SELECT id FROM turns WHERE tenant = $tenant AND space = $1 AND session = $2

-- name: turns.recalled
SELECT id, recalled FROM turns WHERE tenant = $tenant AND space = $1 AND recalled <> '[]'

-- name: turns.checked
SELECT id, checks FROM turns WHERE tenant = $tenant AND space = $1 AND checks <> '[]'

-- name: turns.set_checks
UPDATE turns SET checks = $3 WHERE tenant = $tenant AND space = $1 AND id = $2

-- name: turns.delete
DELETE FROM turns WHERE tenant = $tenant AND space = $1 AND id = ANY (translate($2, '[]', '{}')::bigint[])

-- name: turns.requeue
UPDATE turns SET thought_at = NULL, lease = NULL, lease_until = NULL, attempts = 0, failure = NULL
WHERE tenant = $tenant AND space = $1 AND id = ANY (translate($2, '[]', '{}')::bigint[])

-- name: queue.head
SELECT s.id FROM spaces s
JOIN turns t ON t.tenant = s.tenant AND t.space = s.id AND t.id = (
  SELECT min(id) FROM turns WHERE tenant = s.tenant AND space = s.id AND thought_at IS NULL AND failure IS NULL AND hidden_by IS NULL
)
WHERE s.tenant = $1 AND s.name = $2 AND (t.lease_until IS NULL OR t.lease_until <= $3)
  AND NOT EXISTS (
    SELECT 1 FROM turns live
    WHERE live.tenant = s.tenant AND live.space = s.id AND live.lease IS NOT NULL AND live.lease_until > $3
  )

-- name: queue.pending_spaces
-- all tenants
WITH RECURSIVE heads (tenant, space, id) AS ( -- jumps from space to space along the index of pending turns
  (SELECT tenant, space, id FROM turns
   WHERE thought_at IS NULL AND failure IS NULL AND hidden_by IS NULL AND ($1::text IS NULL OR tenant = $1)
   ORDER BY tenant, space, id LIMIT 1)
  UNION ALL
  SELECT n.tenant, n.space, n.id FROM heads h CROSS JOIN LATERAL (
    SELECT tenant, space, id FROM turns
    WHERE thought_at IS NULL AND failure IS NULL AND hidden_by IS NULL AND (tenant, space) > (h.tenant, h.space) AND ($1::text IS NULL OR tenant = $1)
    ORDER BY tenant, space, id LIMIT 1
  ) n
)
SELECT s.tenant, s.name FROM heads h
JOIN turns t ON t.tenant = h.tenant AND t.space = h.space AND t.id = h.id
JOIN spaces s ON s.tenant = h.tenant AND s.id = h.space
WHERE (t.lease_until IS NULL OR t.lease_until <= $2)
  AND NOT EXISTS (
    SELECT 1 FROM turns live
    WHERE live.tenant = h.tenant AND live.space = h.space AND live.lease IS NOT NULL AND live.lease_until > $2
  )
ORDER BY t.recorded_at, t.space LIMIT nullif($3, -1)

-- name: queue.claim
UPDATE turns SET lease = $2, lease_until = $3, attempts = attempts + 1
WHERE tenant = $tenant AND space = $1 AND id IN (
  SELECT id FROM turns WHERE tenant = $tenant AND space = $1 AND thought_at IS NULL AND failure IS NULL AND hidden_by IS NULL ORDER BY id LIMIT nullif($4, -1)
)
RETURNING id, session, key, asker, answerer, at, recorded_at, recalled, query, response, thought_at, checks, hidden_by, findings, attempts

-- name: queue.try_lock
SELECT id FROM spaces WHERE tenant = $1 AND name = $2 FOR UPDATE SKIP LOCKED

-- name: queue.renew
UPDATE turns SET lease_until = $4
WHERE tenant = $1 AND space = (SELECT id FROM spaces WHERE tenant = $1 AND name = $2) AND lease = $3
  AND thought_at IS NULL

-- name: queue.lease
SELECT lease, thought_at, at, hidden_by FROM turns
WHERE tenant = $1 AND space = (SELECT id FROM spaces WHERE tenant = $1 AND name = $2) AND id = $3

-- name: queue.done
UPDATE turns SET thought_at = $3, findings = $4, stamp = CASE WHEN $4 <> '' THEN $5 ELSE stamp END, lease = NULL, lease_until = NULL
WHERE tenant = $tenant AND space = $1 AND id = $2

-- name: queue.release
UPDATE turns SET lease = NULL, lease_until = $4, attempts = attempts - (NOT $5)::integer
WHERE tenant = $tenant AND space = $1 AND id = $2 AND lease = $3

-- name: queue.dead_letter
UPDATE turns SET lease = NULL, lease_until = NULL, failure = $4 WHERE tenant = $tenant AND space = $1 AND id = $2 AND lease = $3

-- name: queue.pending
SELECT count(*) FROM turns WHERE tenant = $1 AND space = (SELECT id FROM spaces WHERE tenant = $1 AND name = $2)
  AND thought_at IS NULL AND failure IS NULL AND hidden_by IS NULL

-- name: queue.pending_of_tenant
SELECT count(*) FROM turns WHERE tenant = $1 AND thought_at IS NULL AND failure IS NULL AND hidden_by IS NULL

-- name: queue.backlog
-- all tenants
SELECT count(*) FROM turns WHERE thought_at IS NULL AND failure IS NULL AND hidden_by IS NULL

-- name: queue.failures
SELECT id, attempts, failure FROM turns WHERE tenant = $tenant AND space = $1 AND failure IS NOT NULL AND hidden_by IS NULL ORDER BY id

-- name: queue.retry
UPDATE turns SET failure = NULL, attempts = 0, lease_until = NULL
WHERE tenant = $tenant AND space = $1 AND failure IS NOT NULL AND hidden_by IS NULL

-- name: thoughts.write
INSERT INTO thoughts (tenant, space, id, entity, subject, relation, objects, sentence, kind, negated,
                      valid_from, valid_to, recorded_at, retired_at, sources, stamp)
VALUES ($tenant, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)

-- name: thoughts.set_period
UPDATE thoughts SET valid_to = $3, retired_at = $4, stamp = $5 WHERE tenant = $tenant AND space = $1 AND id = $2

-- name: thoughts.select
SELECT t.id, t.subject, t.relation, t.objects, t.sentence, t.kind, t.negated,
       t.valid_from, t.valid_to, t.recorded_at, t.retired_at, t.sources
FROM thoughts t
WHERE t.tenant = $tenant AND t.space = $1 AND t.id > $2
  AND ($3::text IS NULL OR t.relation = $3) AND ($4::text IS NULL OR t.kind = $4) AND (NOT $5 OR t.retired_at IS NULL)
ORDER BY t.id LIMIT nullif($6, -1)

-- name: thoughts.of_group
SELECT t.id, t.subject, t.relation, t.objects, t.sentence, t.kind, t.negated,
       t.valid_from, t.valid_to, t.recorded_at, t.retired_at, t.sources
FROM entries e
JOIN thoughts t ON t.tenant = e.tenant AND t.space = e.space AND t.id = e.id
WHERE e.tenant = $tenant AND e.space = $1 AND e.kind = 'thought' AND e.grp = $2 AND t.id > $3
  AND ($4::text IS NULL OR t.relation = $4) AND ($5::text IS NULL OR t.kind = $5) AND (NOT $6 OR t.retired_at IS NULL)
ORDER BY t.id LIMIT nullif($7, -1)

-- name: thoughts.relationships
SELECT t.id, t.subject, t.relation, t.objects, t.sentence, t.kind, t.negated,
       t.valid_from, t.valid_to, t.recorded_at, t.retired_at, t.sources
FROM thoughts t
WHERE t.tenant = $1 AND t.space = (SELECT id FROM spaces WHERE tenant = $1 AND name = $2)
  AND t.id > $3 AND t.kind = 'relationship' AND t.retired_at IS NULL
ORDER BY t.id LIMIT nullif($4, -1)

-- name: thoughts.by_subject
SELECT t.id, t.subject, t.relation, t.objects, t.sentence, t.kind, t.negated,
       t.valid_from, t.valid_to, t.recorded_at, t.retired_at, t.sources
FROM thoughts t
WHERE t.tenant = $1 AND t.space = (SELECT id FROM spaces WHERE tenant = $1 AND name = $2)
  AND t.entity = (SELECT entity FROM aliases WHERE tenant = $1 AND space = (SELECT id FROM spaces WHERE tenant = $1 AND name = $2) AND alias = $3)
  AND t.id > $4 AND ($5::text IS NULL OR t.relation = $5) AND ($6::text IS NULL OR t.kind = $6)
  AND (NOT $7 OR t.retired_at IS NULL)
ORDER BY t.id LIMIT nullif($8, -1)

-- name: thoughts.by_ids
SELECT id, subject, relation, objects, sentence, kind, negated,
       valid_from, valid_to, recorded_at, retired_at, sources
FROM thoughts WHERE tenant = $tenant AND space = $1 AND id = ANY (translate($2, '[]', '{}')::bigint[]) ORDER BY id

-- name: thoughts.of_user
SELECT id, subject, relation, objects, sentence, kind, negated,
       valid_from, valid_to, recorded_at, retired_at, sources
FROM thoughts WHERE tenant = $1 AND space = (SELECT id FROM spaces WHERE tenant = $1 AND name = $2)
  AND id = ANY (translate($3, '[]', '{}')::bigint[]) ORDER BY id

-- name: thoughts.delete
DELETE FROM thoughts WHERE tenant = $tenant AND space = $1 AND id = ANY (translate($2, '[]', '{}')::bigint[])

-- name: derived.insert
INSERT INTO derived (tenant, space, turn, thought) VALUES ($tenant, $1, $2, $3) ON CONFLICT DO NOTHING

-- name: derived.of_turns
SELECT DISTINCT thought FROM derived WHERE tenant = $tenant AND space = $1 AND turn = ANY (translate($2, '[]', '{}')::bigint[])

-- name: derived.forgotten
SELECT t.sources FROM spaces s
JOIN derived d ON d.tenant = s.tenant AND d.space = s.id
JOIN thoughts t ON t.tenant = s.tenant AND t.space = s.id AND t.id = d.thought
WHERE s.tenant = $1 AND s.name = $2 AND d.turn = ANY (translate($3, '[]', '{}')::bigint[]) AND t.retired_at IS NOT NULL AND EXISTS (
  SELECT 1 FROM touched x JOIN actions a ON a.tenant = x.tenant AND a.space = x.space AND a.id = x.action
  WHERE x.tenant = s.tenant AND x.space = s.id AND x.thought = t.id AND a.action = 'forget' AND a.actor = $4 AND a.undone_by IS NULL
)
ORDER BY t.id

-- name: derived.sources
SELECT DISTINCT turn FROM derived WHERE tenant = $tenant AND space = $1 AND thought = ANY (translate($2, '[]', '{}')::bigint[])

-- name: derived.delete
DELETE FROM derived WHERE tenant = $tenant AND space = $1 AND thought = ANY (translate($2, '[]', '{}')::bigint[])

-- name: entities.find
SELECT entity FROM aliases WHERE tenant = $tenant AND space = $1 AND alias = $2

-- name: entities.insert
INSERT INTO entities (tenant, space, id, name) VALUES ($tenant, $1, $2, $3)

-- name: aliases.insert
INSERT INTO aliases (tenant, space, alias, entity) VALUES ($tenant, $1, $2, $3)

-- name: entities.select
SELECT e.id, e.name, (SELECT coalesce(json_agg(alias), '[]')::text FROM aliases a WHERE a.tenant = e.tenant AND a.space = e.space AND a.entity = e.id)
FROM entities e WHERE e.tenant = $tenant AND e.space = $1 ORDER BY e.id

-- name: entities.names
SELECT name FROM entities WHERE tenant = $1 AND space = (SELECT id FROM spaces WHERE tenant = $1 AND name = $2) ORDER BY id

-- name: entities.delete_orphans
DELETE FROM entities WHERE tenant = $tenant AND space = $1 AND id NOT IN (SELECT entity FROM thoughts WHERE tenant = $tenant AND space = $1)

-- name: entities.rename
UPDATE entities SET name = (
  SELECT subject FROM thoughts t WHERE t.tenant = $tenant AND t.space = $1 AND t.entity = entities.id ORDER BY t.id LIMIT 1
)
WHERE tenant = $tenant AND space = $1
  AND name NOT IN (SELECT subject FROM thoughts t WHERE t.tenant = $tenant AND t.space = $1 AND t.entity = entities.id)

-- name: aliases.delete_orphans
DELETE FROM aliases WHERE tenant = $tenant AND space = $1 AND entity NOT IN (SELECT id FROM entities WHERE tenant = $tenant AND space = $1)

-- name: recalls.record
INSERT INTO recalls AS r (tenant, space, thought, times, last) SELECT $tenant, $1, $2, 1, $3
WHERE EXISTS (SELECT 1 FROM thoughts WHERE tenant = $tenant AND space = $1 AND id = $2)
ON CONFLICT (tenant, space, thought) DO UPDATE SET times = r.times + 1, last = greatest(r.last, excluded.last)

-- name: recalls.of
SELECT thought, times, last FROM recalls
WHERE tenant = $1 AND space = (SELECT id FROM spaces WHERE tenant = $1 AND name = $2) AND thought = ANY (translate($3, '[]', '{}')::bigint[])

-- name: recalls.delete
DELETE FROM recalls WHERE tenant = $tenant AND space = $1 AND thought = ANY (translate($2, '[]', '{}')::bigint[])

-- name: actions.insert
INSERT INTO actions (tenant, space, id, action, reason, actor, at, turn, undoes, undone_by, before, after, hides)
VALUES ($tenant, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)

-- name: actions.set_undone
UPDATE actions SET undone_by = $3 WHERE tenant = $tenant AND space = $1 AND id = $2

-- name: actions.select
SELECT id, action, reason, actor, at, turn, undoes, undone_by, before, after, hides
FROM actions WHERE tenant = $1 AND space = (SELECT id FROM spaces WHERE tenant = $1 AND name = $2)
  AND id > $3 AND ($4::bigint IS NULL OR turn = $4::bigint) ORDER BY id LIMIT nullif($5, -1)

-- name: actions.by_ids
SELECT id, action, reason, actor, at, turn, undoes, undone_by, before, after, hides
FROM actions WHERE tenant = $tenant AND space = $1 AND id = ANY (translate($2, '[]', '{}')::bigint[]) ORDER BY id

-- name: actions.by_thought
SELECT id, action, reason, actor, at, turn, undoes, undone_by, before, after, hides
FROM actions WHERE tenant = $tenant AND space = $1 AND id > $2
  AND id IN (SELECT action FROM touched WHERE tenant = $tenant AND space = $1 AND thought = $3)
ORDER BY id LIMIT nullif($4, -1)

-- name: actions.of_turns
SELECT id, action, reason, actor, at, turn, undoes, undone_by, before, after, hides
FROM actions WHERE tenant = $tenant AND space = $1 AND turn = ANY (translate($2, '[]', '{}')::bigint[]) ORDER BY id

-- name: actions.involved
WITH RECURSIVE involved (id) AS (
  SELECT id FROM (
    SELECT action AS id FROM touched WHERE tenant = $tenant AND space = $1 AND thought = ANY (translate($2, '[]', '{}')::bigint[])
    UNION SELECT id FROM actions WHERE tenant = $tenant AND space = $1 AND turn = ANY (translate($3, '[]', '{}')::bigint[])
    UNION SELECT id FROM actions WHERE tenant = $tenant AND space = $1 AND hides <> '[]'
      AND translate(hides, '[]', '{}')::bigint[] && (translate($3, '[]', '{}')::bigint[])
  ) AS first
  UNION SELECT a.id FROM involved i JOIN actions a ON a.tenant = $tenant AND a.space = $1 AND a.undoes = i.id
)
SELECT id, action, reason, actor, at, turn, undoes, undone_by, before, after, hides
FROM actions WHERE tenant = $tenant AND space = $1 AND id IN (SELECT id FROM involved) ORDER BY id

-- name: actions.last_of
SELECT id, action, reason, actor, at, turn, undoes, undone_by, before, after, hides
FROM actions WHERE tenant = $tenant AND space = $1 AND id = (SELECT max(action) FROM touched WHERE tenant = $tenant AND space = $1 AND thought = $2)

-- name: actions.rewrite
UPDATE actions SET action = $3, reason = $4, before = $5, after = $6, hides = $7 WHERE tenant = $tenant AND space = $1 AND id = $2

-- name: actions.delete
DELETE FROM actions WHERE tenant = $tenant AND space = $1 AND id = ANY (translate($2, '[]', '{}')::bigint[])

-- name: touched.insert
INSERT INTO touched (tenant, space, thought, action) VALUES ($tenant, $1, $2, $3) ON CONFLICT DO NOTHING

-- name: touched.standing
SELECT t.action FROM touched t JOIN actions a ON a.tenant = t.tenant AND a.space = t.space AND a.id = t.action
WHERE t.tenant = $tenant AND t.space = $1 AND t.thought = $2 AND a.undone_by IS NULL AND (a.undoes IS NOT NULL OR a.id > $3)
ORDER BY a.undoes IS NOT NULL, a.id DESC LIMIT 1

-- name: touched.delete
DELETE FROM touched WHERE tenant = $tenant AND space = $1 AND action = ANY (translate($2, '[]', '{}')::bigint[])

-- name: touched.delete_thoughts
DELETE FROM touched WHERE tenant = $tenant AND space = $1 AND thought = ANY (translate($2, '[]', '{}')::bigint[])

-- name: entries.write
INSERT INTO entries (tenant, space, kind, id, embedder, grp, vector, terms, stamp)
SELECT $tenant, $1, $2, $3, (SELECT value FROM meta WHERE name = 'embedder'), $4, $5, $6, $7
WHERE CASE $2 -- skip items that were erased meanwhile
  WHEN 'turn' THEN EXISTS (SELECT 1 FROM turns WHERE tenant = $tenant AND space = $1 AND id = $3)
  ELSE EXISTS (SELECT 1 FROM thoughts WHERE tenant = $tenant AND space = $1 AND id = $3) END
ON CONFLICT (tenant, space, kind, id) DO UPDATE SET
  embedder = excluded.embedder, grp = excluded.grp, vector = excluded.vector, terms = excluded.terms,
  stamp = excluded.stamp

-- name: entries.add_one
-- One new entry, if the space has this epoch. An embedder that is not the bound one is NULL, which is refused.
WITH advanced AS (
  UPDATE spaces SET version = version + 1,
    indexed_turn = CASE $6 WHEN 'turn' THEN greatest(indexed_turn, $7) ELSE indexed_turn END,
    indexed_thought = CASE $6 WHEN 'thought' THEN greatest(indexed_thought, $7) ELSE indexed_thought END
  WHERE tenant = $1 AND name = $2 AND id = $3 AND epoch = $4
  RETURNING tenant, id, epoch, version, last_turn > indexed_turn OR last_thought > indexed_thought AS has_unindexed
), added AS (
  INSERT INTO entries (tenant, space, kind, id, embedder, grp, vector, terms, stamp)
  SELECT a.tenant, a.id, $6, $7, (SELECT value FROM meta WHERE name = 'embedder' AND value = $5 FOR SHARE), $8, $9, $10, a.version
  FROM advanced a
  WHERE CASE $6 -- not if it was erased meanwhile
    WHEN 'turn' THEN EXISTS (SELECT 1 FROM turns WHERE tenant = $1 AND space = a.id AND id = $7)
    ELSE EXISTS (SELECT 1 FROM thoughts WHERE tenant = $1 AND space = a.id AND id = $7) END
  ON CONFLICT (tenant, space, kind, id) DO UPDATE SET
    embedder = excluded.embedder, grp = excluded.grp, vector = excluded.vector, terms = excluded.terms,
    stamp = excluded.stamp
)
SELECT id, epoch, version, has_unindexed, set_config('synchronous_commit', 'off', true) FROM advanced

-- name: entries.unindexed_turns
SELECT s.id, s.epoch, s.version, s.last_turn > s.indexed_turn OR s.last_thought > s.indexed_thought,
  s.last_thought > s.indexed_thought,
  t.id, t.session, t.key, t.asker, t.answerer, t.at, t.recorded_at, t.recalled, t.query, t.response, t.thought_at,
  t.checks, t.hidden_by, t.findings, (
  SELECT a.at FROM actions a WHERE a.tenant = t.tenant AND a.space = t.space AND a.id = t.hidden_by
)
FROM spaces s LEFT JOIN turns t ON t.tenant = s.tenant AND t.space = s.id AND t.id > s.indexed_turn
WHERE s.tenant = $1 AND s.name = $2 ORDER BY t.id LIMIT nullif($3, -1)

-- name: entries.unindexed_thoughts
SELECT t.id, CASE WHEN t.relation IN ('same as', 'instruction') THEN '' ELSE t.sentence END, t.sources,
  t.valid_from, t.valid_to, t.recorded_at, t.retired_at
FROM spaces s JOIN thoughts t ON t.tenant = s.tenant AND t.space = s.id AND t.id > s.indexed_thought
WHERE s.tenant = $1 AND s.name = $2 ORDER BY t.id LIMIT nullif($3, -1)

-- name: entries.advance
UPDATE spaces SET version = version + 1,
  indexed_turn = greatest(indexed_turn, $3), indexed_thought = greatest(indexed_thought, $4)
WHERE tenant = $1 AND name = $2
RETURNING id, epoch, version, last_turn > indexed_turn OR last_thought > indexed_thought

-- name: entries.changed
SELECT kind, id, grp, vector, terms FROM entries
WHERE tenant = $1 AND space = (SELECT id FROM spaces WHERE tenant = $1 AND name = $2) AND stamp > $3 ORDER BY stamp, kind, id

-- name: entries.turn_periods
SELECT t.id, t.at, t.recorded_at, (
  SELECT a.at FROM actions a WHERE a.tenant = t.tenant AND a.space = t.space AND a.id = t.hidden_by
)
FROM turns t WHERE t.tenant = $1 AND t.space = (SELECT id FROM spaces WHERE tenant = $1 AND name = $2) AND t.id IN (
  SELECT id FROM entries WHERE tenant = $1 AND space = (SELECT id FROM spaces WHERE tenant = $1 AND name = $2) AND kind = 'turn' AND stamp > $3
  UNION SELECT id FROM turns WHERE tenant = $1 AND space = (SELECT id FROM spaces WHERE tenant = $1 AND name = $2) AND stamp > 0 AND stamp > $3
)
ORDER BY t.id

-- name: entries.thought_periods
SELECT id, sources, valid_from, valid_to, recorded_at, retired_at FROM thoughts
WHERE tenant = $1 AND space = (SELECT id FROM spaces WHERE tenant = $1 AND name = $2) AND stamp > $3 ORDER BY id

-- name: entries.set_group
UPDATE entries SET grp = $4 WHERE tenant = $tenant AND space = $1 AND kind = $2 AND id = $3

-- name: entries.delete
DELETE FROM entries WHERE tenant = $tenant AND space = $1 AND kind = $2 AND id = ANY (translate($3, '[]', '{}')::bigint[])

-- name: entries.sizes
SELECT count(*) FROM entries e JOIN thoughts t ON t.tenant = e.tenant AND t.space = e.space AND t.id = e.id
WHERE e.tenant = $tenant AND e.space = $1 AND e.kind = 'thought' AND t.retired_at IS NULL GROUP BY e.grp

-- name: entries.exist
-- all tenants
SELECT EXISTS (SELECT 1 FROM entries)

-- name: entries.not_by
-- all tenants
SELECT count(*) FROM entries WHERE embedder <> $1

-- name: entries.next_not_by
-- all tenants
SELECT s.tenant, s.name, e.space, e.kind, e.id FROM entries e JOIN spaces s ON s.tenant = e.tenant AND s.id = e.space
WHERE e.embedder <> $1 ORDER BY e.tenant, e.space, e.kind, e.id LIMIT nullif($2, -1)

-- name: entries.convert
-- all tenants
UPDATE entries SET embedder = $5, vector = $6, grp = 0
WHERE tenant = $1 AND space = (SELECT id FROM spaces WHERE tenant = $1 AND name = $2) AND kind = $3 AND id = $4

-- name: hashings.find
SELECT columns, seed, learned, probes, size, matrix FROM hashings
WHERE tenant = $1 AND space = (SELECT id FROM spaces WHERE tenant = $1 AND name = $2)

-- name: hashings.write
INSERT INTO hashings (tenant, space, columns, seed, learned, probes, size, matrix) VALUES ($tenant, $1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (tenant, space) DO UPDATE SET columns = excluded.columns, seed = excluded.seed, learned = excluded.learned,
  probes = excluded.probes, size = excluded.size, matrix = excluded.matrix

-- name: hashings.delete
DELETE FROM hashings WHERE tenant = $tenant AND space = $1

-- name: hashings.delete_learned
DELETE FROM hashings WHERE tenant = $tenant AND space = $1 AND learned <> 0

-- name: hashings.delete_all
-- all tenants
WITH copies AS (DELETE FROM dense_vectors) DELETE FROM hashings

-- name: epochs.advance_all
-- all tenants
UPDATE spaces SET epoch = epoch + 1, version = version + 1

-- name: meta.get
SELECT value FROM meta WHERE name = $1

-- name: meta.lock
SELECT value FROM meta WHERE name = $1 FOR SHARE

-- name: meta.set
INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value

-- name: meta.delete
DELETE FROM meta WHERE name = $1

-- name: meta.delete_value
DELETE FROM meta WHERE name = $1 AND value = $2

-- name: stats.counts
SELECT
  (SELECT count(*) FROM turns WHERE tenant = $tenant AND space = $1),
  (SELECT count(*) FROM thoughts WHERE tenant = $tenant AND space = $1 AND retired_at IS NULL),
  (SELECT count(*) FROM thoughts WHERE tenant = $tenant AND space = $1 AND retired_at IS NOT NULL),
  (SELECT count(*) FROM entities WHERE tenant = $tenant AND space = $1),
  (SELECT count(*) FROM actions WHERE tenant = $tenant AND space = $1),
  (SELECT count(*) FROM turns WHERE tenant = $tenant AND space = $1 AND thought_at IS NULL AND failure IS NULL AND hidden_by IS NULL),
  (SELECT count(*) FROM turns WHERE tenant = $tenant AND space = $1 AND failure IS NOT NULL AND hidden_by IS NULL)

-- name: summaries.find
SELECT body FROM summaries WHERE tenant = $1 AND space = (SELECT id FROM spaces WHERE tenant = $1 AND name = $2) AND session = $3

-- name: summaries.select
SELECT body FROM summaries WHERE tenant = $tenant AND space = $1 ORDER BY session

-- name: summaries.seen
SELECT version, turn FROM summaries WHERE tenant = $tenant AND space = $1 AND session = $2

-- name: summaries.write
INSERT INTO summaries (tenant, space, session, version, turn, body) VALUES ($tenant, $1, $2, $3, $4, $5)
ON CONFLICT (tenant, space, session) DO UPDATE SET version = $3, turn = $4, body = $5

-- name: summaries.behind
SELECT session FROM summaries s WHERE s.tenant = $1 AND s.space = (SELECT id FROM spaces WHERE tenant = $1 AND name = $2)
  AND turn < (SELECT max(id) FROM turns t WHERE t.tenant = s.tenant AND t.space = s.space AND t.session = s.session AND t.hidden_by IS NULL)
ORDER BY session

-- name: summaries.delete
DELETE FROM summaries WHERE tenant = $tenant AND space = $1
  AND session IN (SELECT session FROM turns WHERE tenant = $tenant AND space = $1 AND id = ANY (translate($2, '[]', '{}')::bigint[]))

-- name: summaries.delete_covering
DELETE FROM summaries WHERE tenant = $tenant AND space = $1 AND session IN (
  SELECT s.session FROM summaries s JOIN turns t ON t.tenant = s.tenant AND t.space = s.space AND t.session = s.session AND t.id <= s.turn
  WHERE s.tenant = $tenant AND s.space = $1 AND t.id = ANY (translate($2, '[]', '{}')::bigint[])
)

-- name: updates.delete_covering
DELETE FROM summary_updates WHERE tenant = $tenant AND space = $1 AND session IN (
  SELECT s.session FROM summaries s JOIN turns t ON t.tenant = s.tenant AND t.space = s.space AND t.session = s.session AND t.id <= s.turn
  WHERE s.tenant = $tenant AND s.space = $1 AND t.id = ANY (translate($2, '[]', '{}')::bigint[])
)

-- name: updates.insert
INSERT INTO summary_updates (tenant, space, session, version, body) VALUES ($tenant, $1, $2, $3, $4)

-- name: updates.select
SELECT body FROM summary_updates
WHERE tenant = $1 AND space = (SELECT id FROM spaces WHERE tenant = $1 AND name = $2) AND session = $3 ORDER BY version

-- name: updates.delete
DELETE FROM summary_updates WHERE tenant = $tenant AND space = $1
  AND session IN (SELECT session FROM turns WHERE tenant = $tenant AND space = $1 AND id = ANY (translate($2, '[]', '{}')::bigint[]))

-- name: erase.summaries
DELETE FROM summaries WHERE tenant = $tenant AND space = $1

-- name: erase.summary_updates
DELETE FROM summary_updates WHERE tenant = $tenant AND space = $1

-- name: erase.turns
DELETE FROM turns WHERE tenant = $tenant AND space = $1

-- name: erase.thoughts
DELETE FROM thoughts WHERE tenant = $tenant AND space = $1

-- name: erase.derived
DELETE FROM derived WHERE tenant = $tenant AND space = $1

-- name: erase.entities
DELETE FROM entities WHERE tenant = $tenant AND space = $1

-- name: erase.aliases
DELETE FROM aliases WHERE tenant = $tenant AND space = $1

-- name: erase.actions
DELETE FROM actions WHERE tenant = $tenant AND space = $1

-- name: erase.touched
DELETE FROM touched WHERE tenant = $tenant AND space = $1

-- name: erase.recalls
DELETE FROM recalls WHERE tenant = $tenant AND space = $1

-- name: erase.entries
DELETE FROM entries WHERE tenant = $tenant AND space = $1

-- name: keys.insert
INSERT INTO keys (id, tenant, scopes, digest, label, "user", created_at, expires_at, revoked_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT (id) DO NOTHING

-- name: keys.find
SELECT id, tenant, scopes, digest, label, "user", created_at, expires_at, revoked_at FROM keys WHERE id = $1

-- name: keys.select
SELECT id, tenant, scopes, digest, label, "user", created_at, expires_at, revoked_at FROM keys
WHERE $1::text IS NULL OR tenant = $1 ORDER BY number

-- name: keys.revoke
UPDATE keys SET revoked_at = coalesce(revoked_at, $2) WHERE id = $1
RETURNING id, tenant, scopes, digest, label, "user", created_at, expires_at, revoked_at

-- name: keys.delete
DELETE FROM keys WHERE id = $1

-- name: keys.delete_of_tenant
DELETE FROM keys WHERE tenant = $1

-- name: limits.take_requests
INSERT INTO request_rates AS r (client, tokens, updated_at) VALUES ($1, $2::double precision - $4, $5)
ON CONFLICT (client) DO UPDATE SET
  tokens = least($2, r.tokens + $3 * greatest(0, $5 - r.updated_at) / 1e6) - $4,
  updated_at = greatest(r.updated_at, $5)
WHERE least($2, r.tokens + $3 * greatest(0, $5 - r.updated_at) / 1e6) >= $4
RETURNING tokens

-- name: limits.lock
SELECT pg_advisory_xact_lock(hashtextextended('thinkback slots ' || $1, 0))

-- name: limits.slots_of_others
SELECT coalesce(sum(slots), 0)::bigint FROM request_slots WHERE client = $1 AND process <> $2 AND until > $3

-- name: limits.set_slots
INSERT INTO request_slots (client, process, slots, until) VALUES ($1, $2, $3, $4)
ON CONFLICT (client, process) DO UPDATE SET slots = excluded.slots, until = excluded.until

-- name: limits.renew_slots
UPDATE request_slots r SET slots = least(r.slots, w.slots::bigint), until = $4
FROM jsonb_each_text($2::text::jsonb) AS w (client, slots)
WHERE r.client = w.client AND r.process = $1 AND r.until > $3 RETURNING r.client, r.slots

-- name: limits.delete_ended_slots
DELETE FROM request_slots WHERE (process = $1 AND slots = 0) OR until <= $2

-- name: limits.delete_slots
DELETE FROM request_slots WHERE client = $1 AND (process = $2 OR until <= $3)

-- name: limits.delete_rates
DELETE FROM request_rates WHERE updated_at <= $1

-- name: metadata.write
INSERT INTO turn_metadata (tenant, space, turn, body)
SELECT tenant, space, id, $3 FROM turns WHERE tenant = $tenant AND space = $1 AND id = ANY (translate($2, '[]', '{}')::bigint[])
ON CONFLICT (tenant, space, turn) DO UPDATE SET body = excluded.body

-- name: metadata.select
SELECT turn, body FROM turn_metadata
WHERE tenant = $1 AND space = (SELECT id FROM spaces WHERE tenant = $1 AND name = $2) AND turn = ANY (translate($3, '[]', '{}')::bigint[])

-- name: check.indexes
SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE NOT i.indisvalid AND c.relnamespace = current_schema()::regnamespace ORDER BY c.relname

-- name: scrub.size
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c
WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace

-- name: scrub.snapshots
SELECT (
  SELECT count(*) FROM pg_stat_activity a
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND (
    backend_xmin IS NOT NULL AND state <> 'idle'
    OR state IS NULL AND EXISTS ( -- a session that this role may not look into, in a transaction
      SELECT 1 FROM pg_locks l WHERE l.pid = a.pid AND l.locktype = 'virtualxid'
    )
  )
) + (SELECT count(*) FROM pg_prepared_xacts WHERE database = current_database())
  + (SELECT count(*) FROM pg_stat_replication WHERE backend_xmin IS NOT NULL OR state IS NULL)
  + (SELECT count(*) FROM pg_replication_slots WHERE xmin IS NOT NULL)
