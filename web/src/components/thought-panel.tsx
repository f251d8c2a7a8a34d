import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { get, memoryVersion } from "../lib/api";
import { correct, editThought, eraseTurn, forgetThought, undo } from "../lib/changes";
import { formatDate, formatDay, formatTime, personName, reasonText, t, term } from "../lib/i18n";
import { useLoad } from "../lib/hooks";
import { topicLabel, useTopics } from "../lib/topics";
import { href, replaceParams } from "../lib/router";
import { can } from "../lib/session";
import { useStore } from "../lib/store";
import type { Action, Thought, ThoughtDetail } from "../lib/types";
import { Button, Confirm, Failure, KindBadge, Loading } from "./basic";
import { CorrectDialog, EditDialog } from "./thought-dialogs";

// The relation of thoughts that keep a sentence as it was said: their value is the sentence itself.
export const IN_OWN_WORDS = "in own words";

type Open = "edit" | "correct" | "erase" | null;

/** A list's key can open the editor of the thought that is shown: `e` sets this before the panel is rendered. */
export const panelRequest: { open: Open } = { open: null };

/** Everything about one thought: its source with the quote, both axes of time, and what replaced it. */
export function ThoughtPanel({ id, onClose }: { id: number; onClose: () => void }) {
  const version = useStore(memoryVersion);
  const { data, error, loading, reload } = useLoad<ThoughtDetail>(
    (signal) => get(`/v1/memory/thoughts/${id}/detail`, {}, signal),
    [id, version],
  );
  return (
    <aside class="panel" aria-label={t("thought.details")}>
      <header>
        <h2>{t("thought.number", { id })}</h2>
        <Button icon="close" tone="quiet" label={t("action.close")} onClick={onClose} />
      </header>
      {error ? (
        <div class="panel-body">
          <Failure error={error} retry={reload} />
        </div>
      ) : data ? (
        <Details detail={data} />
      ) : (
        loading && (
          <div class="panel-body">
            <Loading />
          </div>
        )
      )}
    </aside>
  );
}

function Details({ detail }: { detail: ThoughtDetail }) {
  const { thought } = detail;
  const topics = useTopics();
  const [open, setOpen] = useState<Open>(null);
  const [gone, setGone] = useState(false);
  const current = thought.retired_at === null && !gone;
  useEffect(() => {
    if (panelRequest.open && current && can("write")) setOpen(panelRequest.open);
    panelRequest.open = null;
  }, []);
  useEffect(() => setGone(false), [thought.retired_at]);
  const last = [...detail.actions].reverse().find((action) => action.undone_by === null && action.action !== "insert");
  const source = detail.sources[0];
  // Sentences kept in the user's own words share one relation; only those that replaced each other are versions.
  const related = new Set([thought.id, ...detail.replaced_by.concat(detail.replaces).map((other) => other.id)]);
  const history =
    thought.relation === IN_OWN_WORDS ? detail.history.filter((version) => related.has(version.id)) : detail.history;
  return (
    <div class="panel-body">
      <section>
        <p class={`thought-sentence${current ? "" : " is-past"}`}>
          {thought.sentence}
        </p>
        <div class="actions">
          <KindBadge kind={thought.kind} />
          <span class={`badge ${current ? "good" : "past"}`}>{t(current ? "thought.current" : "thought.past")}</span>
          {thought.negated && <span class="badge warning">{t("thought.negated")}</span>}
        </div>
      </section>
      {can("write") && (
        <div class="actions">
          {current && (
            <>
              <Button onClick={() => setOpen("edit")}>{t("action.edit")}</Button>
              <Button onClick={() => setOpen("correct")}>{t("action.correct")}</Button>
              <Button
                onClick={() => {
                  setGone(true);
                  void forgetThought(thought.id, () => setGone(false));
                }}
              >
                {t("action.forget")}
              </Button>
            </>
          )}
          {!current && last && (
            <Button icon="undo" onClick={() => void undo(last.id)}>
              {t("action.undo")}
            </Button>
          )}
          {source && (
            <Button tone="danger" onClick={() => setOpen("erase")}>
              {t("action.erase")}
            </Button>
          )}
        </div>
      )}
      <section>
        <h3>{t("thought.triple")}</h3>
        <dl class="pairs">
          <Pair name={t("thought.subject")}>
            <a href={href("memory", [], { person: thought.subject })}>{personName(thought.subject)}</a>
          </Pair>
          <Pair name={t("thought.relation")}>{term("relation", thought.relation)}</Pair>
          {thought.relation !== IN_OWN_WORDS && <Pair name={t("thought.value")}>{thought.objects.join(", ")}</Pair>}
          {detail.group !== null && (
            <Pair name={t("filter.topic")}>
              <a href={href("memory", [], { group: String(detail.group) })}>{topicLabel(topics, detail.group)}</a>
            </Pair>
          )}
        </dl>
      </section>
      <section>
        <h3>{t("thought.times")}</h3>
        <dl class="pairs">
          <Pair name={t("thought.valid")}>{validity(thought)}</Pair>
          <Pair name={t("thought.recorded")}>{`${formatDate(thought.recorded_at)} – ${formatDate(thought.retired_at) || t("time.now")}`}</Pair>
        </dl>
        <TimeBars history={history} id={thought.id} />
      </section>
      <section>
        <h3>{t("thought.source")}</h3>
        {detail.sources.length === 0 && <p class="muted">{t("thought.noSource")}</p>}
        {detail.sources.map((item, index) => (
          <blockquote key={index}>
            <p class="small muted">
              {t("thought.said", { speaker: personName(item.speaker), time: formatTime(item.turn.at) })} ·{" "}
              <a href={href("chat", [item.turn.session], { turn: String(item.turn.id) })}>
                {t("thought.openTurn", { id: item.turn.id })}
              </a>
            </p>
            <p class="quote">
              {item.before}
              <mark>{item.quote}</mark>
              {item.after}
            </p>
          </blockquote>
        ))}
      </section>
      <Linked title={t("thought.replacedBy")} thoughts={detail.replaced_by} />
      <Linked title={t("thought.replaces")} thoughts={detail.replaces} />
      {history.length > 1 && (
        <section>
          <h3>{t("thought.history")}</h3>
          <ol class="versions">
            {history.map((version) => (
              <li key={version.id} class={version.retired_at === null ? "is-current" : ""}>
                <ThoughtLink thought={version} />
                <p class="small muted">{validity(version)}</p>
              </li>
            ))}
          </ol>
        </section>
      )}
      <section>
        <h3>{t("thought.changes")}</h3>
        <ol class="plain-list">
          {detail.actions.map((action) => (
            <ActionLine key={action.id} action={action} />
          ))}
        </ol>
      </section>
      {open === "edit" && <EditDialog thought={thought} onClose={() => setOpen(null)} onSave={save} />}
      {open === "correct" && (
        <CorrectDialog
          text={thought.sentence}
          onClose={() => setOpen(null)}
          onSave={async (text) => {
            const saved = (await correct("thoughts", thought.id, text, source?.turn.session ?? "default")) !== null;
            if (saved) setOpen(null);
            return saved;
          }}
        />
      )}
      {open === "erase" && source && (
        <Confirm
          title={t("erase.title")}
          text={t("erase.text", { text: source.turn.query || source.turn.response })}
          action={t("action.erase")}
          onClose={() => setOpen(null)}
          onConfirm={async () => {
            if (await eraseTurn(source.turn.id)) replaceParams({ thought: null });
          }}
        />
      )}
    </div>
  );

  async function save(change: Parameters<typeof editThought>[1]): Promise<boolean> {
    const next = await editThought(thought.id, change);
    if (!next) return false;
    setOpen(null);
    replaceParams({ thought: String(next.id) });
    return true;
  }
}

function Pair({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function validity(thought: Thought): string {
  return `${formatDay(thought.valid_from) || t("time.open")} – ${formatDay(thought.valid_to) || t("time.now")}`;
}

export function ThoughtLink({ thought }: { thought: Thought }) {
  return (
    <button type="button" class="link" onClick={() => replaceParams({ thought: String(thought.id) })}>
      {thought.sentence}
    </button>
  );
}

function Linked({ title, thoughts }: { title: string; thoughts: Thought[] }) {
  if (!thoughts.length) return null;
  return (
    <section>
      <h3>{title}</h3>
      <ul class="plain-list">
        {thoughts.map((thought) => (
          <li key={thought.id}>
            <ThoughtLink thought={thought} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function ActionLine({ action }: { action: Action }) {
  return (
    <li>
      <span class="badge">{term("operation", action.action)}</span>
      <span class="small muted">
        {formatTime(action.at)} · {personName(action.actor)}
      </span>
      <span class="small reason-line">{reasonText(action.reason)}</span>
    </li>
  );
}

/** Valid time of every version on one axis, as bars of a small drawing. The dates stand beside it as text. */
function TimeBars({ history, id }: { history: Thought[]; id: number }) {
  const now = Date.now();
  const rows = history.slice(-8).map((thought) => {
    const start = Date.parse(thought.valid_from ?? thought.recorded_at);
    const end = thought.valid_to ? Date.parse(thought.valid_to) : thought.retired_at ? Date.parse(thought.retired_at) : now;
    return { thought, start, end: Math.max(start, end) };
  });
  const first = Math.min(...rows.map((row) => row.start));
  const last = Math.max(...rows.map((row) => row.end), first + 1);
  if (rows.length < 2 || !Number.isFinite(first)) return null;
  const x = (time: number) => ((time - first) / (last - first)) * 296 + 2;
  return (
    <svg class="time-bars" viewBox={`0 0 300 ${rows.length * 12}`} aria-hidden="true" preserveAspectRatio="none">
      {rows.map((row, index) => (
        <rect
          key={row.thought.id}
          class={row.thought.id === id ? "this" : ""}
          x={x(row.start)}
          y={index * 12 + 3}
          width={Math.max(3, x(row.end) - x(row.start))}
          height={6}
          rx={3}
        />
      ))}
    </svg>
  );
}
