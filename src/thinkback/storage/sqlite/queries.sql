-- Named statements of the SQLite store (see sql_files.py). Values are always passed as parameters.

-- name: space.find
SELECT id FROM spaces WHERE tenant = ?1 AND name = ?2

-- name: space.names
SELECT name FROM spaces WHERE tenant = ?1 ORDER BY name

-- name: space.keys
SELECT tenant, name FROM spaces ORDER BY tenant, name

-- name: space.of_tenant
SELECT id FROM spaces WHERE tenant = ?1 ORDER BY id

-- name: space.stamp
SELECT id, epoch, version, last_turn > indexed_turn OR last_thought > indexed_thought
FROM spaces WHERE tenant = ?1 AND name = ?2

-- name: space.lock
SELECT id, epoch, version, last_turn > indexed_turn OR last_thought > indexed_thought
FROM spaces WHERE tenant = ?1 AND name = ?2

-- name: space.next_turn
INSERT INTO spaces (tenant, name, last_turn) VALUES (?1, ?2, 1)
ON CONFLICT (tenant, name) DO UPDATE SET last_turn = last_turn + 1
RETURNING id, last_turn

-- name: space.begin_change
UPDATE spaces SET version = version + 1 WHERE id = ?1
RETURNING version, last_thought, last_action, last_entity, indexed_thought

-- name: space.end_change
UPDATE spaces SET last_thought = ?2, last_action = ?3, last_entity = ?4, indexed_thought = ?5 WHERE id = ?1

-- name: space.new_epoch
UPDATE spaces SET epoch = epoch + 1, version = version + 1 WHERE id = ?1

-- name: space.load
INSERT INTO spaces (tenant, name, last_turn, last_thought, last_action, last_entity)
VALUES (?1, ?2, ?3, ?4, ?5, ?6)
RETURNING id

-- name: space.counters
SELECT id, last_turn, last_thought, last_action, last_entity, indexed_turn, indexed_thought, version, epoch
FROM spaces WHERE tenant = ?1 AND name = ?2

-- name: space.restore
INSERT INTO spaces (tenant, name, last_turn, last_thought, last_action, last_entity, indexed_turn, indexed_thought, version, epoch)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
RETURNING id

-- name: space.delete
DELETE FROM spaces WHERE id = ?1

-- name: turns.insert
INSERT INTO turns (space, id, session, key, asker, answerer, at, recorded_at, recalled, query, response, thought_at, checks, findings)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)

-- name: turns.hide
UPDATE turns SET hidden_by = ?3, stamp = ?4, lease = NULL, lease_until = NULL
WHERE space = ?1 AND id IN (SELECT value FROM json_each(?2))

-- name: turns.show
UPDATE turns SET hidden_by = NULL, stamp = ?3
WHERE space = ?1 AND hidden_by IN (SELECT value FROM json_each(?2))

-- name: turns.hidden_by
SELECT id, hidden_by FROM turns WHERE space = ?1 AND id IN (SELECT value FROM json_each(?2))

-- name: savepoint.begin
SAVEPOINT request

-- name: savepoint.rollback
ROLLBACK TO request

-- name: savepoint.release
RELEASE request

-- name: turns.by_key
SELECT id, session, key, asker, answerer, at, recorded_at, recalled, query, response, thought_at, checks, hidden_by, findings
FROM turns WHERE space = (SELECT id FROM spaces WHERE tenant = ?1 AND name = ?2) AND key = ?3

-- name: turns.select
SELECT id, session, key, asker, answerer, at, recorded_at, recalled, query, response, thought_at, checks, hidden_by, findings
FROM turns WHERE space = ?1 AND id > ?2 AND (?4 OR hidden_by IS NULL)
ORDER BY id LIMIT ?3

-- name: turns.newest
SELECT id, session, key, asker, answerer, at, recorded_at, recalled, query, response, thought_at, checks, hidden_by, findings
FROM turns WHERE space = ?1 AND id > ?2 AND (?4 OR hidden_by IS NULL)
ORDER BY id DESC LIMIT ?3

-- name: turns.select_in_session
SELECT id, session, key, asker, answerer, at, recorded_at, recalled, query, response, thought_at, checks, hidden_by, findings
FROM turns INDEXED BY turns_by_session WHERE space = ?1 AND id > ?2 AND session = ?4 AND (?5 OR hidden_by IS NULL)
ORDER BY id LIMIT ?3

-- name: turns.newest_in_session
SELECT id, session, key, asker, answerer, at, recorded_at, recalled, query, response, thought_at, checks, hidden_by, findings
FROM turns INDEXED BY turns_by_session WHERE space = ?1 AND id > ?2 AND session = ?4 AND (?5 OR hidden_by IS NULL)
ORDER BY id DESC LIMIT ?3

-- name: turns.by_ids
SELECT id, session, key, asker, answerer, at, recorded_at, recalled, query, response, thought_at, checks, hidden_by, findings
FROM turns WHERE space = ?1 AND id IN (SELECT value FROM json_each(?2)) ORDER BY id

-- name: turns.of_user
SELECT id, session, key, asker, answerer, at, recorded_at, recalled, query, response, thought_at, checks, hidden_by, findings
FROM turns WHERE space = (SELECT id FROM spaces WHERE tenant = ?1 AND name = ?2)
  AND id IN (SELECT value FROM json_each(?3)) ORDER BY id

-- name: turns.sessions
SELECT session FROM turns WHERE space = ?1 GROUP BY session ORDER BY min(id)

-- name: turns.of_session
SELECT id FROM turns WHERE space = ?1 AND session = ?2

-- name: turns.recalled
SELECT id, recalled FROM turns WHERE space = ?1 AND recalled <> '[]'

-- name: turns.checked
SELECT id, checks FROM turns WHERE space = ?1 AND checks <> '[]'

-- name: turns.set_checks
UPDATE turns SET checks = ?3 WHERE space = ?1 AND id = ?2

-- name: turns.delete
DELETE FROM turns WHERE space = ?1 AND id IN (SELECT value FROM json_each(?2))

-- name: turns.requeue
UPDATE turns SET thought_at = NULL, lease = NULL, lease_until = NULL, attempts = 0, failure = NULL
WHERE space = ?1 AND id IN (SELECT value FROM json_each(?2))

-- name: queue.head
SELECT turns.space FROM spaces
JOIN turns ON turns.space = spaces.id AND turns.id = (
  SELECT min(id) FROM turns WHERE space = spaces.id AND thought_at IS NULL AND failure IS NULL AND hidden_by IS NULL
)
WHERE spaces.tenant = ?1 AND spaces.name = ?2 AND (turns.lease_until IS NULL OR turns.lease_until <= ?3)
  AND NOT EXISTS (SELECT 1 FROM turns live WHERE live.space = spaces.id AND live.lease IS NOT NULL AND live.lease_until > ?3)

-- name: queue.pending_spaces
WITH heads AS (
  SELECT space, min(id) AS id FROM turns WHERE thought_at IS NULL AND failure IS NULL AND hidden_by IS NULL GROUP BY space
)
SELECT spaces.tenant, spaces.name FROM heads
JOIN turns ON turns.space = heads.space AND turns.id = heads.id
JOIN spaces ON spaces.id = turns.space
WHERE (?1 IS NULL OR spaces.tenant = ?1) AND (turns.lease_until IS NULL OR turns.lease_until <= ?2)
  AND NOT EXISTS (SELECT 1 FROM turns live WHERE live.space = heads.space AND live.lease IS NOT NULL AND live.lease_until > ?2)
ORDER BY turns.recorded_at, turns.space LIMIT ?3

-- name: queue.claim
UPDATE turns SET lease = ?2, lease_until = ?3, attempts = attempts + 1
WHERE space = ?1 AND id IN (
  SELECT id FROM turns WHERE space = ?1 AND thought_at IS NULL AND failure IS NULL AND hidden_by IS NULL ORDER BY id LIMIT ?4
)
RETURNING id, session, key, asker, answerer, at, recorded_at, recalled, query, response, thought_at, checks, hidden_by, findings, attempts

-- name: queue.try_lock
SELECT id FROM spaces WHERE tenant = ?1 AND name = ?2

-- name: queue.renew
UPDATE turns SET lease_until = ?4
WHERE space = (SELECT id FROM spaces WHERE tenant = ?1 AND name = ?2) AND lease = ?3 AND thought_at IS NULL

-- name: queue.lease
SELECT lease, thought_at, at, hidden_by FROM turns
WHERE space = (SELECT id FROM spaces WHERE tenant = ?1 AND name = ?2) AND id = ?3

-- name: queue.done
UPDATE turns SET thought_at = ?3, findings = ?4, stamp = CASE WHEN ?4 <> '' THEN ?5 ELSE stamp END, lease = NULL, lease_until = NULL
WHERE space = ?1 AND id = ?2

-- name: queue.release
UPDATE turns SET lease = NULL, lease_until = ?4, attempts = attempts - NOT ?5
WHERE space = ?1 AND id = ?2 AND lease = ?3

-- name: queue.dead_letter
UPDATE turns SET lease = NULL, lease_until = NULL, failure = ?4 WHERE space = ?1 AND id = ?2 AND lease = ?3

-- name: queue.pending
SELECT count(*) FROM turns WHERE space = (SELECT id FROM spaces WHERE tenant = ?1 AND name = ?2)
  AND thought_at IS NULL AND failure IS NULL AND hidden_by IS NULL

-- name: queue.pending_of_tenant
SELECT count(*) FROM turns
WHERE space IN (SELECT id FROM spaces WHERE tenant = ?1) AND thought_at IS NULL AND failure IS NULL AND hidden_by IS NULL

-- name: queue.backlog
SELECT count(*) FROM turns WHERE thought_at IS NULL AND failure IS NULL AND hidden_by IS NULL

-- name: queue.failures
SELECT id, attempts, failure FROM turns WHERE space = ?1 AND failure IS NOT NULL AND hidden_by IS NULL ORDER BY id

-- name: queue.retry
UPDATE turns SET failure = NULL, attempts = 0, lease_until = NULL
WHERE space = ?1 AND failure IS NOT NULL AND hidden_by IS NULL

-- name: thoughts.write
INSERT INTO thoughts (space, id, entity, subject, relation, objects, sentence, kind, negated,
                      valid_from, valid_to, recorded_at, retired_at, sources, stamp)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)

-- name: thoughts.set_period
UPDATE thoughts SET valid_to = ?3, retired_at = ?4, stamp = ?5 WHERE space = ?1 AND id = ?2

-- name: thoughts.select
SELECT t.id, t.subject, t.relation, t.objects, t.sentence, t.kind, t.negated,
       t.valid_from, t.valid_to, t.recorded_at, t.retired_at, t.sources
FROM thoughts t
WHERE t.space = ?1 AND t.id > ?2
  AND (?3 IS NULL OR t.relation = ?3) AND (?4 IS NULL OR t.kind = ?4) AND (NOT ?5 OR t.retired_at IS NULL)
ORDER BY t.id LIMIT ?6

-- name: thoughts.of_group
SELECT t.id, t.subject, t.relation, t.objects, t.sentence, t.kind, t.negated,
       t.valid_from, t.valid_to, t.recorded_at, t.retired_at, t.sources
FROM entries e INDEXED BY entries_by_group
JOIN thoughts t ON t.space = e.space AND t.id = e.id
WHERE e.space = ?1 AND e.kind = 'thought' AND e.grp = ?2 AND t.id > ?3
  AND (?4 IS NULL OR t.relation = ?4) AND (?5 IS NULL OR t.kind = ?5) AND (NOT ?6 OR t.retired_at IS NULL)
ORDER BY t.id LIMIT ?7

-- name: thoughts.relationships
SELECT t.id, t.subject, t.relation, t.objects, t.sentence, t.kind, t.negated,
       t.valid_from, t.valid_to, t.recorded_at, t.retired_at, t.sources
FROM thoughts t INDEXED BY thoughts_relationships
WHERE t.space = (SELECT id FROM spaces WHERE tenant = ?1 AND name = ?2) AND t.id > ?3 AND t.kind = 'relationship' AND t.retired_at IS NULL
ORDER BY t.id LIMIT ?4

-- name: thoughts.by_subject
SELECT t.id, t.subject, t.relation, t.objects, t.sentence, t.kind, t.negated,
       t.valid_from, t.valid_to, t.recorded_at, t.retired_at, t.sources
FROM thoughts t INDEXED BY thoughts_by_claim
WHERE t.space = (SELECT id FROM spaces WHERE tenant = ?1 AND name = ?2)
  AND t.entity = (SELECT entity FROM aliases WHERE space = (SELECT id FROM spaces WHERE tenant = ?1 AND name = ?2) AND alias = ?3)
  AND t.id > ?4 AND (?5 IS NULL OR t.relation = ?5) AND (?6 IS NULL OR t.kind = ?6) AND (NOT ?7 OR t.retired_at IS NULL)
ORDER BY t.id LIMIT ?8

-- name: thoughts.by_ids
SELECT id, subject, relation, objects, sentence, kind, negated,
       valid_from, valid_to, recorded_at, retired_at, sources
FROM thoughts WHERE space = ?1 AND id IN (SELECT value FROM json_each(?2)) ORDER BY id

-- name: thoughts.of_user
SELECT id, subject, relation, objects, sentence, kind, negated,
       valid_from, valid_to, recorded_at, retired_at, sources
FROM thoughts WHERE space = (SELECT id FROM spaces WHERE tenant = ?1 AND name = ?2)
  AND id IN (SELECT value FROM json_each(?3)) ORDER BY id

-- name: thoughts.delete
DELETE FROM thoughts WHERE space = ?1 AND id IN (SELECT value FROM json_each(?2))

-- name: derived.insert
INSERT OR IGNORE INTO derived (space, turn, thought) VALUES (?1, ?2, ?3)

-- name: derived.of_turns
SELECT DISTINCT thought FROM derived WHERE space = ?1 AND turn IN (SELECT value FROM json_each(?2))

-- name: derived.forgotten
-- the sources of retired thoughts of these turns that the user asked to forget
SELECT t.sources FROM spaces s JOIN derived d ON d.space = s.id JOIN thoughts t ON t.space = s.id AND t.id = d.thought
WHERE s.tenant = ?1 AND s.name = ?2 AND d.turn IN (SELECT value FROM json_each(?3)) AND t.retired_at IS NOT NULL AND EXISTS (
  SELECT 1 FROM touched x JOIN actions a ON a.space = x.space AND a.id = x.action
  WHERE x.space = s.id AND x.thought = t.id AND a.action = 'forget' AND a.actor = ?4 AND a.undone_by IS NULL
)
ORDER BY t.id

-- name: derived.sources
SELECT DISTINCT turn FROM derived WHERE space = ?1 AND thought IN (SELECT value FROM json_each(?2))

-- name: derived.delete
DELETE FROM derived WHERE space = ?1 AND thought IN (SELECT value FROM json_each(?2))

-- name: entities.find
SELECT entity FROM aliases WHERE space = ?1 AND alias = ?2

-- name: entities.insert
INSERT INTO entities (space, id, name) VALUES (?1, ?2, ?3)

-- name: aliases.insert
INSERT INTO aliases (space, alias, entity) VALUES (?1, ?2, ?3)

-- name: entities.select
SELECT e.id, e.name, (SELECT json_group_array(alias) FROM aliases a WHERE a.space = e.space AND a.entity = e.id)
FROM entities e WHERE e.space = ?1 ORDER BY e.id

-- name: entities.names
SELECT name FROM entities WHERE space = (SELECT id FROM spaces WHERE tenant = ?1 AND name = ?2) ORDER BY id

-- name: entities.delete_orphans
DELETE FROM entities WHERE space = ?1 AND id NOT IN (SELECT entity FROM thoughts WHERE space = ?1)

-- name: entities.rename
UPDATE entities SET name = (
  SELECT subject FROM thoughts t WHERE t.space = ?1 AND t.entity = entities.id ORDER BY t.id LIMIT 1
)
WHERE space = ?1
  AND name NOT IN (SELECT subject FROM thoughts t WHERE t.space = ?1 AND t.entity = entities.id)

-- name: aliases.delete_orphans
DELETE FROM aliases WHERE space = ?1 AND entity NOT IN (SELECT id FROM entities WHERE space = ?1)

-- name: recalls.record
INSERT INTO recalls (space, thought, times, last) SELECT ?1, ?2, 1, ?3
WHERE EXISTS (SELECT 1 FROM thoughts WHERE space = ?1 AND id = ?2)
ON CONFLICT (space, thought) DO UPDATE SET times = times + 1, last = max(last, excluded.last)

-- name: recalls.of
SELECT thought, times, last FROM recalls
WHERE space = (SELECT id FROM spaces WHERE tenant = ?1 AND name = ?2) AND thought IN (SELECT value FROM json_each(?3))

-- name: recalls.delete
DELETE FROM recalls WHERE space = ?1 AND thought IN (SELECT value FROM json_each(?2))

-- name: actions.insert
INSERT INTO actions (space, id, action, reason, actor, at, turn, undoes, undone_by, before, after, hides)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)

-- name: actions.set_undone
UPDATE actions SET undone_by = ?3 WHERE space = ?1 AND id = ?2

-- name: actions.select
SELECT id, action, reason, actor, at, turn, undoes, undone_by, before, after, hides
FROM actions WHERE space = (SELECT id FROM spaces WHERE tenant = ?1 AND name = ?2)
  AND id > ?3 AND (?4 IS NULL OR turn = ?4) ORDER BY id LIMIT ?5

-- name: actions.by_ids
SELECT id, action, reason, actor, at, turn, undoes, undone_by, before, after, hides
FROM actions WHERE space = ?1 AND id IN (SELECT value FROM json_each(?2)) ORDER BY id

-- name: actions.by_thought
SELECT id, action, reason, actor, at, turn, undoes, undone_by, before, after, hides
FROM actions WHERE space = ?1 AND id > ?2
  AND id IN (SELECT action FROM touched WHERE space = ?1 AND thought = ?3)
ORDER BY id LIMIT ?4

-- name: actions.of_turns
SELECT id, action, reason, actor, at, turn, undoes, undone_by, before, after, hides
FROM actions WHERE space = ?1 AND turn IN (SELECT value FROM json_each(?2)) ORDER BY id

-- name: actions.involved
WITH RECURSIVE involved (id) AS (
  SELECT action FROM touched WHERE space = ?1 AND thought IN (SELECT value FROM json_each(?2))
  UNION SELECT id FROM actions WHERE space = ?1 AND turn IN (SELECT value FROM json_each(?3))
  UNION SELECT id FROM actions WHERE space = ?1 AND hides <> '[]'
    AND EXISTS (SELECT 1 FROM json_each(hides) h WHERE h.value IN (SELECT value FROM json_each(?3)))
  UNION SELECT a.id FROM involved i JOIN actions a ON a.space = ?1 AND a.undoes = i.id
)
SELECT id, action, reason, actor, at, turn, undoes, undone_by, before, after, hides
FROM actions WHERE space = ?1 AND id IN involved ORDER BY id

-- name: actions.last_of
SELECT id, action, reason, actor, at, turn, undoes, undone_by, before, after, hides
FROM actions WHERE space = ?1 AND id = (SELECT max(action) FROM touched WHERE space = ?1 AND thought = ?2)

-- name: actions.rewrite
UPDATE actions SET action = ?3, reason = ?4, before = ?5, after = ?6, hides = ?7 WHERE space = ?1 AND id = ?2

-- name: actions.delete
DELETE FROM actions WHERE space = ?1 AND id IN (SELECT value FROM json_each(?2))

-- name: touched.insert
INSERT OR IGNORE INTO touched (space, thought, action) VALUES (?1, ?2, ?3)

-- name: touched.standing
SELECT t.action FROM touched t JOIN actions a ON a.space = t.space AND a.id = t.action
WHERE t.space = ?1 AND t.thought = ?2 AND a.undone_by IS NULL AND (a.undoes IS NOT NULL OR a.id > ?3)
ORDER BY a.undoes IS NOT NULL, a.id DESC LIMIT 1

-- name: touched.delete
DELETE FROM touched WHERE space = ?1 AND action IN (SELECT value FROM json_each(?2))

-- name: touched.delete_thoughts
DELETE FROM touched WHERE space = ?1 AND thought IN (SELECT value FROM json_each(?2))

-- name: entries.write
INSERT INTO entries (space, kind, id, embedder, grp, vector, terms, stamp)
SELECT ?1, ?2, ?3, (SELECT value FROM meta WHERE name = 'embedder'), ?4, ?5, ?6, ?7
WHERE CASE ?2 -- skip items that were erased meanwhile
  WHEN 'turn' THEN EXISTS (SELECT 1 FROM turns WHERE space = ?1 AND id = ?3)
  ELSE EXISTS (SELECT 1 FROM thoughts WHERE space = ?1 AND id = ?3) END
ON CONFLICT (space, kind, id) DO UPDATE SET
  embedder = excluded.embedder, grp = excluded.grp, vector = excluded.vector, terms = excluded.terms,
  stamp = excluded.stamp

-- name: entries.unindexed_turns
SELECT s.id, s.epoch, s.version, s.last_turn > s.indexed_turn OR s.last_thought > s.indexed_thought,
  s.last_thought > s.indexed_thought,
  t.id, t.session, t.key, t.asker, t.answerer, t.at, t.recorded_at, t.recalled, t.query, t.response, t.thought_at,
  t.checks, t.hidden_by, t.findings, (SELECT a.at FROM actions a WHERE a.space = t.space AND a.id = t.hidden_by)
FROM spaces s LEFT JOIN turns t ON t.space = s.id AND t.id > s.indexed_turn
WHERE s.tenant = ?1 AND s.name = ?2 ORDER BY t.id LIMIT ?3

-- name: entries.unindexed_thoughts
SELECT t.id, CASE WHEN t.relation IN ('same as', 'instruction') THEN '' ELSE t.sentence END, t.sources,
  t.valid_from, t.valid_to, t.recorded_at, t.retired_at
FROM spaces s JOIN thoughts t ON t.space = s.id AND t.id > s.indexed_thought
WHERE s.tenant = ?1 AND s.name = ?2 ORDER BY t.id LIMIT ?3

-- name: entries.advance
UPDATE spaces SET version = version + 1,
  indexed_turn = max(indexed_turn, ?3), indexed_thought = max(indexed_thought, ?4)
WHERE tenant = ?1 AND name = ?2
RETURNING id, epoch, version, last_turn > indexed_turn OR last_thought > indexed_thought

-- name: entries.changed
SELECT kind, id, grp, vector, terms FROM entries WHERE space = (SELECT id FROM spaces WHERE tenant = ?1 AND name = ?2) AND stamp > ?3 ORDER BY stamp, kind, id

-- name: entries.turn_periods
SELECT t.id, t.at, t.recorded_at, (SELECT a.at FROM actions a WHERE a.space = t.space AND a.id = t.hidden_by)
FROM turns t WHERE t.space = (SELECT id FROM spaces WHERE tenant = ?1 AND name = ?2) AND t.id IN (
  SELECT id FROM entries WHERE space = (SELECT id FROM spaces WHERE tenant = ?1 AND name = ?2) AND kind = 'turn' AND stamp > ?3
  UNION SELECT id FROM turns WHERE space = (SELECT id FROM spaces WHERE tenant = ?1 AND name = ?2) AND stamp > 0 AND stamp > ?3
)
ORDER BY t.id

-- name: entries.thought_periods
SELECT id, sources, valid_from, valid_to, recorded_at, retired_at FROM thoughts
WHERE space = (SELECT id FROM spaces WHERE tenant = ?1 AND name = ?2) AND stamp > ?3 ORDER BY id

-- name: entries.set_group
UPDATE entries SET grp = ?4 WHERE space = ?1 AND kind = ?2 AND id = ?3

-- name: entries.delete
DELETE FROM entries WHERE space = ?1 AND kind = ?2 AND id IN (SELECT value FROM json_each(?3))

-- name: entries.sizes
SELECT count(*) FROM entries e JOIN thoughts t ON t.space = e.space AND t.id = e.id
WHERE e.space = ?1 AND e.kind = 'thought' AND t.retired_at IS NULL GROUP BY e.grp

-- name: entries.exist
SELECT EXISTS (SELECT 1 FROM entries)

-- name: entries.not_by
SELECT count(*) FROM entries WHERE embedder <> ?1

-- name: entries.next_not_by
SELECT s.tenant, s.name, e.space, e.kind, e.id FROM entries e JOIN spaces s ON s.id = e.space
WHERE e.embedder <> ?1 ORDER BY e.space, e.kind, e.id LIMIT ?2

-- name: entries.convert
UPDATE entries SET embedder = ?5, vector = ?6, grp = 0
WHERE space = (SELECT id FROM spaces WHERE tenant = ?1 AND name = ?2) AND kind = ?3 AND id = ?4

-- name: hashings.find
SELECT columns, seed, learned, probes, size, matrix FROM hashings WHERE space = (SELECT id FROM spaces WHERE tenant = ?1 AND name = ?2)

-- name: hashings.write
INSERT INTO hashings (space, columns, seed, learned, probes, size, matrix) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT (space) DO UPDATE SET columns = excluded.columns, seed = excluded.seed, learned = excluded.learned,
  probes = excluded.probes, size = excluded.size, matrix = excluded.matrix

-- name: hashings.delete
DELETE FROM hashings WHERE space = ?1

-- name: hashings.delete_learned
DELETE FROM hashings WHERE space = ?1 AND learned

-- name: hashings.delete_all
DELETE FROM hashings

-- name: epochs.advance_all
UPDATE spaces SET epoch = epoch + 1, version = version + 1

-- name: meta.get
SELECT value FROM meta WHERE name = ?1

-- name: meta.lock
SELECT value FROM meta WHERE name = ?1

-- name: meta.set
INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value

-- name: meta.delete
DELETE FROM meta WHERE name = ?1

-- name: meta.delete_value
DELETE FROM meta WHERE name = ?1 AND value = ?2

-- name: stats.counts
SELECT
  (SELECT count(*) FROM turns WHERE space = ?1),
  (SELECT count(*) FROM thoughts WHERE space = ?1 AND retired_at IS NULL),
  (SELECT count(*) FROM thoughts WHERE space = ?1 AND retired_at IS NOT NULL),
  (SELECT count(*) FROM entities WHERE space = ?1),
  (SELECT count(*) FROM actions WHERE space = ?1),
  (SELECT count(*) FROM turns WHERE space = ?1 AND thought_at IS NULL AND failure IS NULL AND hidden_by IS NULL),
  (SELECT count(*) FROM turns WHERE space = ?1 AND failure IS NOT NULL AND hidden_by IS NULL)

-- name: summaries.find
SELECT body FROM summaries WHERE space = (SELECT id FROM spaces WHERE tenant = ?1 AND name = ?2) AND session = ?3

-- name: summaries.select
SELECT body FROM summaries WHERE space = ?1 ORDER BY session

-- name: summaries.seen
SELECT version, turn FROM summaries WHERE space = ?1 AND session = ?2

-- name: summaries.write
INSERT INTO summaries (space, session, version, turn, body) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (space, session) DO UPDATE SET version = ?3, turn = ?4, body = ?5

-- name: summaries.behind
SELECT session FROM summaries s WHERE space = (SELECT id FROM spaces WHERE tenant = ?1 AND name = ?2)
  AND turn < (SELECT max(id) FROM turns t WHERE t.space = s.space AND t.session = s.session AND t.hidden_by IS NULL)
ORDER BY session

-- name: summaries.delete
DELETE FROM summaries WHERE space = ?1
  AND session IN (SELECT session FROM turns WHERE space = ?1 AND id IN (SELECT value FROM json_each(?2)))

-- name: summaries.delete_covering
DELETE FROM summaries WHERE space = ?1 AND session IN (
  SELECT s.session FROM summaries s JOIN turns t ON t.space = s.space AND t.session = s.session AND t.id <= s.turn
  WHERE s.space = ?1 AND t.id IN (SELECT value FROM json_each(?2))
)

-- name: updates.delete_covering
DELETE FROM summary_updates WHERE space = ?1 AND session IN (
  SELECT s.session FROM summaries s JOIN turns t ON t.space = s.space AND t.session = s.session AND t.id <= s.turn
  WHERE s.space = ?1 AND t.id IN (SELECT value FROM json_each(?2))
)

-- name: updates.insert
INSERT INTO summary_updates (space, session, version, body) VALUES (?1, ?2, ?3, ?4)

-- name: updates.select
SELECT body FROM summary_updates
WHERE space = (SELECT id FROM spaces WHERE tenant = ?1 AND name = ?2) AND session = ?3 ORDER BY version

-- name: updates.delete
DELETE FROM summary_updates WHERE space = ?1
  AND session IN (SELECT session FROM turns WHERE space = ?1 AND id IN (SELECT value FROM json_each(?2)))

-- name: erase.summaries
DELETE FROM summaries WHERE space = ?1

-- name: erase.summary_updates
DELETE FROM summary_updates WHERE space = ?1

-- name: erase.turns
DELETE FROM turns WHERE space = ?1

-- name: erase.thoughts
DELETE FROM thoughts WHERE space = ?1

-- name: erase.derived
DELETE FROM derived WHERE space = ?1

-- name: erase.entities
DELETE FROM entities WHERE space = ?1

-- name: erase.aliases
DELETE FROM aliases WHERE space = ?1

-- name: erase.actions
DELETE FROM actions WHERE space = ?1

-- name: erase.touched
DELETE FROM touched WHERE space = ?1

-- name: erase.recalls
DELETE FROM recalls WHERE space = ?1

-- name: erase.entries
DELETE FROM entries WHERE space = ?1

-- name: keys.insert
INSERT INTO keys (id, tenant, scopes, digest, label, user, created_at, expires_at, revoked_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
ON CONFLICT (id) DO NOTHING

-- name: keys.find
SELECT id, tenant, scopes, digest, label, user, created_at, expires_at, revoked_at FROM keys WHERE id = ?1

-- name: keys.select
SELECT id, tenant, scopes, digest, label, user, created_at, expires_at, revoked_at FROM keys
WHERE ?1 IS NULL OR tenant = ?1 ORDER BY number

-- name: keys.revoke
UPDATE keys SET revoked_at = coalesce(revoked_at, ?2) WHERE id = ?1
RETURNING id, tenant, scopes, digest, label, user, created_at, expires_at, revoked_at

-- name: keys.delete
DELETE FROM keys WHERE id = ?1

-- name: keys.delete_of_tenant
DELETE FROM keys WHERE tenant = ?1

-- name: limits.take_requests
INSERT INTO request_rates AS r (client, tokens, updated_at) VALUES (?1, ?2 - ?4, ?5)
ON CONFLICT (client) DO UPDATE SET
  tokens = min(?2, r.tokens + ?3 * max(0, ?5 - r.updated_at) / 1e6) - ?4,
  updated_at = max(r.updated_at, ?5)
WHERE min(?2, r.tokens + ?3 * max(0, ?5 - r.updated_at) / 1e6) >= ?4
RETURNING tokens

-- name: limits.lock
SELECT ?1 -- a write transaction excludes all others

-- name: limits.slots_of_others
SELECT coalesce(sum(slots), 0) FROM request_slots WHERE client = ?1 AND process <> ?2 AND until > ?3

-- name: limits.set_slots
INSERT INTO request_slots (client, process, slots, until) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (client, process) DO UPDATE SET slots = excluded.slots, until = excluded.until

-- name: limits.renew_slots
UPDATE request_slots SET slots = min(slots, w.value), until = ?4
FROM json_each(?2) AS w
WHERE client = w.key AND process = ?1 AND until > ?3 RETURNING client, slots

-- name: limits.delete_ended_slots
DELETE FROM request_slots WHERE (process = ?1 AND slots = 0) OR until <= ?2

-- name: limits.delete_slots
DELETE FROM request_slots WHERE client = ?1 AND (process = ?2 OR until <= ?3)

-- name: limits.delete_rates
DELETE FROM request_rates WHERE updated_at <= ?1

-- name: metadata.write
INSERT INTO turn_metadata (space, turn, body)
SELECT space, id, ?3 FROM turns WHERE space = ?1 AND id IN (SELECT value FROM json_each(?2))
ON CONFLICT (space, turn) DO UPDATE SET body = excluded.body

-- name: metadata.select
SELECT turn, body FROM turn_metadata
WHERE space = (SELECT id FROM spaces WHERE tenant = ?1 AND name = ?2) AND turn IN (SELECT value FROM json_each(?3))
