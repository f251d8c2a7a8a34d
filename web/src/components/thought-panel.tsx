import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { get, memoryVersion } from "../lib/api";
import { correct, editThought, eraseTurn, forgetThought, undo } from "../lib/changes";
import { formatKnown, formatTime, formatValidity, personName, reasonText, relationName, saidText, t, term } from "../lib/i18n";
import { useLoad } from "../lib/hooks";
import { topicLabel, useTopics } from "../lib/topics";
import { href, replaceParams } from "../lib/router";
import { can } from "../lib/session";
import { useStore } from "../lib/store";
import { type Action, IN_OWN_WORDS, type Thought, type ThoughtDetail } from "../lib/types";
import { Button, Confirm, Failure, KindBadge, Loading } from "./basic";
import { CorrectDialog, EditDialog } from "./thought-dialogs";

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
  const axis = axisOf([thought, ...history]);
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
          <Pair name={t("thought.relation")}>{relationName(thought.relation, thought.negated)}</Pair>
          {thought.relation !== IN_OWN_WORDS && <Pair name={t("thought.value")}>{thought.objects.map(personName).join(", ")}</Pair>}
          {detail.group !== null && (
            <Pair name={t("filter.topic")}>
              <a href={href("memory", [], { group: String(detail.group) })}>{topicLabel(topics, detail.group)}</a>
            </Pair>
          )}
        </dl>
      </section>
      <section>
        <h3>{t("thought.times")}</h3>
        <Times thought={thought} axis={axis} />
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
              {saidText(item.before)}
              <mark>{saidText(item.quote)}</mark>
              {saidText(item.after)}
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
                <Times thought={version} axis={axis} />
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

/** The times between which the bars of a thought are drawn: from its first version until now. */
interface Axis {
  first: number;
  last: number;
}

function axisOf(history: readonly Thought[]): Axis {
  const times = history.flatMap((thought) => [thought.valid_from, thought.valid_to, thought.recorded_at, thought.retired_at]);
  const known = times.flatMap((time) => (time ? [Date.parse(time)] : [])).filter(Number.isFinite);
  return { first: Math.min(...known), last: Math.max(Date.now(), ...known) };
}

/** Both axes of time of one version: when it is true, and when it was known. The bars repeat the dates. */
function Times({ thought, axis }: { thought: Thought; axis: Axis }) {
  const rows: [string, string, string | null, string | null][] = [
    [t("thought.valid"), formatValidity(thought), thought.valid_from, thought.valid_to ?? thought.retired_at],
    [t("thought.recorded"), formatKnown(thought), thought.recorded_at, thought.retired_at],
  ];
  const share = (time: number) => Math.min(100, Math.max(0, ((time - axis.first) / (axis.last - axis.first || 1)) * 100));
  return (
    <dl class={`times${thought.retired_at === null ? " is-current" : ""}`}>
      {rows.map(([name, text, from, to]) => {
        const start = from ? share(Date.parse(from)) : 0;
        const end = to ? share(Date.parse(to)) : 100;
        return (
          <>
            <dt>{name}</dt>
            <dd class="track" aria-hidden="true">
              <span style={{ left: `min(${start}%, 100% - 4px)`, width: `${Math.max(0, end - start)}%` }} />
            </dd>
            <dd>{text}</dd>
          </>
        );
      })}
    </dl>
  );
}
