import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { Button, Dialog, Empty, Failure, Field, KindBadge, Loading } from "../components/basic";
import { Icon } from "../components/icon";
import { panelRequest } from "../components/thought-panel";
import { VirtualList } from "../components/virtual-list";
import { activeUser, get, isAbort, memoryVersion, post, url } from "../lib/api";
import { eraseAll, forgetThought, remember } from "../lib/changes";
import { useLoad } from "../lib/hooks";
import { candidateText, formatNumber, formatStart, personName, relationName, t, term } from "../lib/i18n";
import { href, replaceParams, route } from "../lib/router";
import { can } from "../lib/session";
import { useStore } from "../lib/store";
import { topicLabel, useTopics } from "../lib/topics";
import { type Browse, IN_OWN_WORDS, KINDS, type Recollection, type Thought, type Topic } from "../lib/types";

const PAGE_ROWS = 100;
const ROW_HEIGHT_PX = 62;
const MAX_SIMILAR = 5;
const SETTLE_MS = 300; // without typing, before recall is asked
const FILTERS = ["q", "kind", "person", "state", "since", "until", "group", "sort"] as const;
type Filters = Record<(typeof FILTERS)[number], string>;

/** The query of a request for one page of the list. */
function query(filters: Filters, after: number): Record<string, string | number> {
  const since = filters.since && `${filters.since}T00:00:00Z`;
  const until = filters.until && `${filters.until}T23:59:59Z`;
  return { ...filters, since, until, after, limit: PAGE_ROWS };
}

export function MemoryView() {
  const { params } = useStore(route);
  const version = useStore(memoryVersion);
  const topics = useTopics();
  const filters = Object.fromEntries(FILTERS.map((name) => [name, params.get(name) ?? ""])) as Filters;
  const key = JSON.stringify(filters);
  const [first, setFirst] = useState<Browse | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [active, setActive] = useState(-1);
  const [adding, setAdding] = useState(false);
  const [erasing, setErasing] = useState(false);
  const [, setLoadedPages] = useState(0);
  // Pages of rows by number; a page that is being loaded is null.
  const pages = useRef(new Map<number, Thought[] | null>());
  const hidden = useRef(new Set<number>());

  const load = useCallback(() => {
    const controller = new AbortController();
    get<Browse>("/v1/memory/browse", query(filters, 0), controller.signal).then(
      (result) => {
        pages.current = new Map([[0, result.items]]);
        hidden.current.clear();
        setError(null);
        setFirst(result);
      },
      (failure: unknown) => !isAbort(failure) && setError(failure),
    );
    return () => controller.abort();
  }, [key, version]);
  useEffect(load, [load]);
  useEffect(() => setActive(-1), [key]);
  const opened = Number(params.get("thought")) || null;
  useEffect(() => {
    // What is opened by its address is the row that is marked, or none if it is not among the rows.
    if (opened === null || !first) return;
    for (const [page, rows] of pages.current) {
      const index = rows?.findIndex((thought) => thought.id === opened) ?? -1;
      if (index >= 0) return setActive(page * PAGE_ROWS + index);
    }
    setActive(-1);
  }, [opened, first]);

  const loadRange = useCallback(
    (from: number, to: number) => {
      const last = Math.floor(Math.max(from, to - 1) / PAGE_ROWS);
      for (let page = Math.floor(from / PAGE_ROWS); page <= last; page++) {
        const target = pages.current;
        if (target.has(page)) continue;
        target.set(page, null);
        get<Browse>("/v1/memory/browse", query(filters, page * PAGE_ROWS)).then(
          (result) => {
            target.set(page, result.items);
            setLoadedPages((count) => count + 1);
          },
          (failure: unknown) => {
            target.delete(page);
            if (target === pages.current) setError(failure);
          },
        );
      }
    },
    [first], // not the filters: the list shows the rows of the former ones until `first` is loaded
  );

  const rowOf = (index: number): Thought | null => pages.current.get(Math.floor(index / PAGE_ROWS))?.[index % PAGE_ROWS] ?? null;
  const show = (index: number) => {
    const thought = rowOf(index);
    if (thought) replaceParams({ thought: String(thought.id) });
  };
  const forget = (thought: Thought) => {
    hidden.current.add(thought.id);
    setLoadedPages((count) => count + 1);
    void forgetThought(thought.id, () => {
      hidden.current.delete(thought.id);
      setLoadedPages((count) => count + 1);
    });
  };
  const filtered = FILTERS.some((name) => filters[name] && name !== "sort");
  const row = (index: number) => {
    const thought = rowOf(index);
    if (!thought) return <span class="sentence muted">…</span>;
    const past = thought.retired_at !== null || hidden.current.has(thought.id);
    return (
      <>
        <span class={`sentence${past ? " is-past" : ""}`} title={thought.sentence}>
          {thought.sentence}
        </span>
        <span class="meta">
          <span>{personName(thought.person ?? thought.subject)}</span>
          {thought.relation !== IN_OWN_WORDS && <span>{relationName(thought.relation, thought.negated)}</span>}
          <span>{formatStart(thought)}</span>
          {typeof thought.group === "number" && <span>{topicLabel(topics, thought.group)}</span>}
        </span>
        <span class="side">
          <KindBadge kind={thought.kind} />
        </span>
      </>
    );
  };

  return (
    <div class="view fill memory-view">
      <div class="view-head">
        <div>
          <h1 class="view-title">{t("nav.memory")}</h1>
          <p role="status">
            {first ? t(filtered ? "memory.found" : "memory.count", { count: formatNumber(first.total) }) : t("state.loading")}
          </p>
        </div>
        <div class="actions">
          {can("write") && (
            <Button icon="plus" tone="primary" onClick={() => setAdding(true)}>
              {t("memory.add")}
            </Button>
          )}
          <a class="button" href={url("/v1/memory/export", { user: activeUser() })} download={`${activeUser()}.jsonl`}>
            <Icon name="download" />
            {t("memory.export")}
          </a>
          {can("write") && first && first.counts.states.current + first.counts.states.past > 0 && (
            <Button icon="erase" label={t("memory.eraseAll")} onClick={() => setErasing(true)} />
          )}
        </div>
      </div>
      <FilterBar filters={filters} counts={first} topics={topics} />
      {error ? <Failure error={error} retry={load} /> : null}
      {!first && !error && <Loading />}
      {first && first.total === 0 && (
        <Empty icon="memory" title={t(filtered ? "memory.noneFound" : "memory.empty")}>
          <p>{t(filtered ? "memory.noneFoundHint" : "memory.emptyHint")}</p>
          {filtered ? (
            <Button onClick={() => replaceParams(Object.fromEntries(FILTERS.map((name) => [name, null])))}>
              {t("filter.clear")}
            </Button>
          ) : (
            <a class="button primary" href={href("chat")}>
              {t("memory.startChat")}
            </a>
          )}
        </Empty>
      )}
      {first && first.total === 0 && filters.q.trim() && <Similar query={filters.q.trim()} />}
      {first && first.total > 0 && (
        <VirtualList
          label={t("memory.list")}
          count={first.total}
          rowHeight={ROW_HEIGHT_PX}
          active={active}
          onActive={setActive}
          onOpen={show}
          onRange={loadRange}
          row={row}
          onKey={(event, index) => {
            const thought = rowOf(index);
            if (!thought || !can("write") || thought.retired_at !== null) return;
            if (event.key === "Delete") forget(thought);
            else if (event.key === "e") {
              event.preventDefault();
              panelRequest.open = "edit";
              replaceParams({ thought: String(thought.id) });
            }
          }}
        />
      )}
      {adding && <AddDialog onClose={() => setAdding(false)} />}
      {erasing && <EraseAllDialog onClose={() => setErasing(false)} />}
    </div>
  );
}

/** What recall finds for words that no thought has as they are: other spellings, and messages. */
function Similar({ query: words }: { query: string }) {
  const [settled, setSettled] = useState(words);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(words), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [words]);
  const { data, error } = useLoad<Recollection>(
    (signal) => post("/v1/memory/recall", { query: settled, k: MAX_SIMILAR }, signal),
    [settled],
  );
  if (error || !data?.items.length) return null;
  return (
    <section class="card similar">
      <h2>{t("memory.similar")}</h2>
      <p class="muted small">{t("memory.similarHint")}</p>
      <ul class="plain-list">
        {data.items.map((item) => (
          <li key={item.ref}>
            {item.turn ? (
              <a href={href("chat", [item.turn.session], { turn: String(item.turn.id) })}>{candidateText(item.text)}</a>
            ) : (
              <button type="button" class="link" onClick={() => replaceParams({ thought: item.ref.slice("thought:".length) })}>
                {candidateText(item.text)}
              </button>
            )}
            <KindBadge kind={item.kind} />
          </li>
        ))}
      </ul>
    </section>
  );
}

interface FilterBarProps {
  filters: Filters;
  counts: Browse | null;
  topics: Topic[];
}

function FilterBar({ filters, counts, topics }: FilterBarProps) {
  const set = (name: string) => (event: { currentTarget: { value: string } }) =>
    replaceParams({ [name]: event.currentTarget.value });
  const number = (value: number | undefined) => (value === undefined ? "" : ` (${formatNumber(value)})`);
  const people = counts?.people ?? [];
  const active = FILTERS.some((name) => filters[name]);
  const [open, setOpen] = useState(false); // on a phone the filters are closed until they are wanted
  return (
    <div class={`filters wide-search${open ? " open" : ""}`} role="search">
      <div class="search-row">
        <div class="search">
          <Icon name="search" />
          <input
            type="search"
            aria-label={t("memory.search")}
            placeholder={t("memory.search")}
            value={filters.q}
            onInput={set("q")}
          />
        </div>
        <button type="button" class="button filter-toggle" aria-expanded={open} onClick={() => setOpen(!open)}>
          {t("filter.show")}
          {active ? " •" : ""}
        </button>
        <select aria-label={t("filter.sort")} value={filters.sort} onChange={set("sort")}>
          <option value="">{t("filter.newest")}</option>
          <option value="oldest">{t("filter.oldest")}</option>
          <option value="person">{t("filter.byPerson")}</option>
          <option value="topic">{t("filter.byTopic")}</option>
        </select>
        {active && (
          <Button tone="quiet" icon="close" onClick={() => replaceParams(Object.fromEntries(FILTERS.map((name) => [name, null])))}>
            {t("filter.clear")}
          </Button>
        )}
      </div>
      <select aria-label={t("filter.kind")} value={filters.kind} onChange={set("kind")}>
        <option value="">{t("filter.allKinds")}</option>
        {KINDS.map((kind) => (
          <option key={kind} value={kind}>
            {term("kind", kind)}
            {number(counts?.counts.kinds[kind])}
          </option>
        ))}
      </select>
      <select aria-label={t("filter.person")} value={filters.person} onChange={set("person")}>
        <option value="">{t("filter.allPeople")}</option>
        {filters.person && !people.some((person) => person.name === filters.person) && (
          <option value={filters.person}>{personName(filters.person)}</option>
        )}
        {people.map((person) => (
          <option key={person.name} value={person.name}>
            {personName(person.name)} ({formatNumber(person.count)})
          </option>
        ))}
      </select>
      <select aria-label={t("filter.topic")} value={filters.group} onChange={set("group")}>
        <option value="">{t("filter.allTopics")}</option>
        {filters.group && !topics.some((topic) => String(topic.group) === filters.group) && (
          <option value={filters.group}>{filters.group}</option>
        )}
        {topics.map((topic) => (
          <option key={topic.group} value={String(topic.group)}>
            {topic.label || topic.group} ({formatNumber(topic.count)})
          </option>
        ))}
      </select>
      <select aria-label={t("filter.state")} value={filters.state} onChange={set("state")}>
        <option value="">
          {t("filter.current")}
          {number(counts?.counts.states.current)}
        </option>
        <option value="past">
          {t("filter.past")}
          {number(counts?.counts.states.past)}
        </option>
        <option value="all">{t("filter.all")}</option>
      </select>
      <span class="date-range">
        <label class="inline-field">
          {t("filter.from")}
          <input type="date" aria-label={t("filter.since")} value={filters.since} onChange={set("since")} />
        </label>
        <label class="inline-field">
          {t("filter.to")}
          <input type="date" aria-label={t("filter.until")} value={filters.until} onChange={set("until")} />
        </label>
      </span>
    </div>
  );
}

function AddDialog({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState("");
  return (
    <Dialog title={t("memory.add")} onClose={onClose}>
      <form
        class="form"
        onSubmit={async (event) => {
          event.preventDefault();
          if (await remember(text.trim(), "default")) onClose();
        }}
      >
        <Field label={t("memory.addLabel")} hint={t("memory.addHint")}>
          {(id, hint) => (
            <textarea
              id={id}
              rows={4}
              required
              aria-describedby={hint}
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          )}
        </Field>
        <footer class="actions">
          <Button onClick={onClose}>{t("action.cancel")}</Button>
          <Button tone="primary" type="submit" disabled={!text.trim()}>
            {t("action.remember")}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

/** Erasing everything cannot be undone, so the word must be typed. */
function EraseAllDialog({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState("");
  const word = t("erase.word");
  return (
    <Dialog title={t("memory.eraseAll")} onClose={onClose}>
      <form
        class="form"
        onSubmit={async (event) => {
          event.preventDefault();
          if (text.trim() === word && (await eraseAll())) onClose();
        }}
      >
        <p>{t("erase.allText")}</p>
        <Field label={t("erase.type", { word })}>
          {(id) => <input id={id} autocomplete="off" value={text} onInput={(event) => setText(event.currentTarget.value)} />}
        </Field>
        <footer class="actions">
          <Button onClick={onClose}>{t("action.cancel")}</Button>
          <Button tone="danger" type="submit" disabled={text.trim() !== word}>
            {t("memory.eraseAll")}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
