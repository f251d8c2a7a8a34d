import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { Button, Empty, Failure, Loading } from "../components/basic";
import { Icon } from "../components/icon";
import { ThoughtLink } from "../components/thought-panel";
import { activeUser, get, isAbort, memoryVersion, url } from "../lib/api";
import { undo } from "../lib/changes";
import { useDebounced } from "../lib/hooks";
import { formatTime, personName, reasonText, t, term } from "../lib/i18n";
import { can } from "../lib/session";
import { useStore } from "../lib/store";
import type { Action, Page, Thought } from "../lib/types";

const OPERATIONS = ["insert", "merge", "supersede", "end", "forget", "undo"] as const;
const ACTORS = ["user"] as const;
const PAGE_ACTIONS = 50;

/** Every change of the memory, newest first and live; each can be undone. */
export function JournalView() {
  const version = useStore(memoryVersion);
  const [operation, setOperation] = useState("");
  const [actor, setActor] = useState("");
  const [text, setText] = useState("");
  const words = useDebounced(text.trim(), 120);
  const [actions, setActions] = useState<Action[] | null>(null);
  const [next, setNext] = useState<number | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [live, setLive] = useState(true);
  const [status, setStatus] = useState<{ pending: number; failed: number } | null>(null);
  const [undone, setUndone] = useState<ReadonlySet<number>>(new Set());
  const filters = { action: operation, actor, q: words };
  const current = useRef(filters);
  current.current = filters;

  const load = useCallback(
    (before: number | null) => {
      const controller = new AbortController();
      get<Page<Action>>("/v1/memory/journal/recent", { ...filters, before, limit: PAGE_ACTIONS }, controller.signal).then(
        (page) => {
          setActions((former) => (before === null ? page.items : [...(former ?? []), ...page.items]));
          if (before === null) setUndone(new Set()); // the actions say themselves what is undone
          setNext(page.next);
          setError(null);
        },
        (failure: unknown) => !isAbort(failure) && setError(failure),
      );
      return () => controller.abort();
    },
    [operation, actor, words, version],
  );
  useEffect(() => load(null), [load]);

  useEffect(() => {
    if (!live) return;
    const source = new EventSource(url("/v1/memory/journal/stream", { user: activeUser() }));
    source.addEventListener("action", (event) => {
      const action = JSON.parse(event.data) as Action;
      if (!matches(action, current.current)) return;
      setActions((former) => (former?.some((item) => item.id === action.id) ? former : [action, ...(former ?? [])]));
    });
    source.addEventListener("status", (event) => setStatus(JSON.parse(event.data)));
    return () => source.close();
  }, [live]);

  const filtered = operation || actor || words;
  return (
    <div class="view">
      <div class="view-head">
        <div>
          <h1 class="view-title">{t("nav.journal")}</h1>
          <p role="status">
            {!status
              ? t("journal.intro")
              : status.pending || status.failed
                ? t("journal.status", { pending: status.pending, failed: status.failed })
                : t("journal.idle")}
          </p>
        </div>
        <label class="check">
          <input type="checkbox" checked={live} onChange={(event) => setLive(event.currentTarget.checked)} />
          {t("journal.live")}
        </label>
      </div>
      <div class="filters" role="search">
        <div class="search">
          <Icon name="search" />
          <input
            type="search"
            aria-label={t("journal.search")}
            placeholder={t("journal.search")}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </div>
        <select
          aria-label={t("journal.operation")}
          value={operation}
          onChange={(event) => setOperation(event.currentTarget.value)}
        >
          <option value="">{t("journal.allOperations")}</option>
          {OPERATIONS.map((name) => (
            <option key={name} value={name}>
              {term("operation", name)}
            </option>
          ))}
        </select>
        <select aria-label={t("journal.actor")} value={actor} onChange={(event) => setActor(event.currentTarget.value)}>
          <option value="">{t("journal.allActors")}</option>
          {[...new Set([...ACTORS, ...(actions ?? []).map((action) => action.actor)])].map((name) => (
            <option key={name} value={name}>
              {personName(name)}
            </option>
          ))}
        </select>
      </div>
      {error ? <Failure error={error} retry={() => load(null)} /> : null}
      {!actions && !error && <Loading />}
      {actions && actions.length === 0 && (
        <Empty icon="journal" title={t(filtered ? "journal.noneFound" : "journal.empty")}>
          <p>{t("journal.emptyHint")}</p>
        </Empty>
      )}
      <ol class="journal" aria-label={t("nav.journal")}>
        {actions?.map((action) => (
          <Entry
            key={action.id}
            action={action}
            undone={undone.has(action.id)}
            onUndo={() => {
              const mark = (on: boolean) =>
                setUndone((former) => {
                  const set = new Set(former);
                  if (on) set.add(action.id);
                  else set.delete(action.id);
                  return set;
                });
              mark(true);
              void undo(action.id, () => mark(false));
            }}
          />
        ))}
      </ol>
      {next !== null && <Button onClick={() => void load(next)}>{t("action.more")}</Button>}
    </div>
  );
}

function matches(action: Action, filters: { action: string; actor: string; q: string }): boolean {
  if (filters.action && action.action !== filters.action) return false;
  if (filters.actor && action.actor !== filters.actor) return false;
  const text = [action.reason, ...action.before.concat(action.after).map((thought) => thought.sentence)].join(" ").toLowerCase();
  return filters.q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function Entry({ action, undone, onUndo }: { action: Action; undone: boolean; onUndo: () => void }) {
  const before = new Map(action.before.map((thought) => [thought.id, thought]));
  const unchanged = (thought: Thought) => before.get(thought.id)?.retired_at === thought.retired_at && before.has(thought.id);
  const changed = action.after.filter((thought) => !unchanged(thought));
  const isUndone = undone || action.undone_by !== null;
  return (
    <li class={isUndone ? "is-undone" : ""}>
      <span>
        <span class={`badge operation-${action.action}`}>{term("operation", action.action)}</span>
      </span>
      <div>
        <ul class="plain-list">
          {changed.map((thought) => (
            <li key={thought.id} class={`signed${thought.retired_at ? " is-past" : ""}`}>
              <span aria-hidden="true" class="sign">
                {thought.retired_at ? "−" : "+"}
              </span>
              <span class="visually-hidden">{t(thought.retired_at ? "journal.retired" : "journal.added")}</span>
              <ThoughtLink thought={thought} />
            </li>
          ))}
          {action.hides.length > 0 && <li class="muted small">{t("journal.hides", { turns: action.hides.join(", ") })}</li>}
        </ul>
        <p class="small muted">
          {reasonText(action.reason)} · {formatTime(action.at)} · {personName(action.actor)}
        </p>
      </div>
      {isUndone ? (
        <span class="badge past">{t("journal.undone")}</span>
      ) : (
        can("write") && (
          <Button icon="undo" tone="quiet" onClick={onUndo} label={t("journal.undo", { id: action.id })} title={t("action.undo")}>
            {t("action.undo")}
          </Button>
        )
      )}
    </li>
  );
}
