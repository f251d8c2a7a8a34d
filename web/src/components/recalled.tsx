import { useEffect, useRef, useState } from "preact/hooks";
import { get } from "../lib/api";
import { formatDate, formatNumber, formatStart, saidText, t } from "../lib/i18n";
import { replaceParams } from "../lib/router";
import type { Thought, Turn } from "../lib/types";
import { Failure, KindBadge, Loading } from "./basic";

interface RecalledMemory {
  ref: string;
  text: string;
  kind: string;
  date: string;
  thought: number | null;
  score: number | null;
  cosine: number;
  lexical: number;
}

async function loadMemory(ref: string, turn: Turn | null): Promise<RecalledMemory> {
  const [kind, id] = ref.split(":");
  const row = turn?.recalled.find((item) => `${item[0]}:${item[1]}` === ref);
  const scores = { score: row?.[2] ?? null, cosine: row?.[3] ?? 0, lexical: row?.[4] ?? 0 };
  if (kind === "thought") {
    const thought = await get<Thought>(`/v1/memory/thoughts/${id}`);
    return {
      ref,
      text: thought.sentence,
      kind: thought.kind,
      date: formatStart(thought),
      thought: thought.id,
      ...scores,
    };
  }
  const said = await get<Turn>(`/v1/memory/turns/${id}`);
  return { ref, text: said.query || said.response, kind: "turn", date: formatDate(said.at), thought: null, ...scores };
}

interface RecalledProps {
  /** References of the memories that the answer was given. */
  recalled: readonly string[];
  /** References of those that it cites: they may also stand in the conversation itself. */
  cited: readonly string[];
  turn: Turn | null;
}

/** The memories that an answer was given or cites, with their scores; loaded when it is opened. */
export function Recalled({ recalled, cited, turn }: RecalledProps) {
  const references = [...new Set([...cited, ...recalled])];
  const [memories, setMemories] = useState<RecalledMemory[] | null>(null);
  const [error, setError] = useState<unknown>(null);
  const details = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (memories) details.current?.scrollIntoView({ block: "nearest" });
  }, [memories]);
  const rank = (memory: RecalledMemory) => (cited.includes(memory.ref) ? 2 : 0) + (memory.score ?? 0);
  const load = () => {
    if (memories) return;
    setError(null);
    Promise.allSettled(references.map((ref) => loadMemory(ref, turn))).then((results) => {
      const found = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
      if (!found.length && results[0]?.status === "rejected") setError(results[0].reason);
      else setMemories(found.sort((a, b) => rank(b) - rank(a)));
    });
  };
  return (
    <details ref={details} class="recalled" onToggle={(event) => event.currentTarget.open && load()}>
      <summary>{t("chat.recalled", { count: references.length })}</summary>
      {error ? <Failure error={error} retry={load} /> : !memories && <Loading />}
      <ul>
        {memories?.map((memory) => (
          <li key={memory.ref}>
            {memory.thought ? (
              <button type="button" class="link" onClick={() => replaceParams({ thought: String(memory.thought) })}>
                {memory.text}
              </button>
            ) : (
              <span>{saidText(memory.text)}</span>
            )}
            <p class="small muted number">
              <KindBadge kind={memory.kind} /> {memory.date}
              {cited.includes(memory.ref) && ` · ${t("chat.cited")}`}
              {memory.score !== null &&
                ` · ${t("chat.scores", {
                  score: formatNumber(memory.score, 2),
                  cosine: formatNumber(memory.cosine, 2),
                  lexical: formatNumber(memory.lexical, 2),
                })}`}
            </p>
          </li>
        ))}
      </ul>
    </details>
  );
}
