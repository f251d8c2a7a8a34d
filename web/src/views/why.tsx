import { useEffect, useState } from "preact/hooks";
import { Button, Empty, Failure, KindBadge, Loading, Tabs } from "../components/basic";
import { Icon } from "../components/icon";
import { isAbort, memoryVersion, post } from "../lib/api";
import { candidateText, formatNumber, reasonText, refName, t, term } from "../lib/i18n";
import { replaceParams, route } from "../lib/router";
import { useStore } from "../lib/store";
import type { Candidate, Explained, Understanding } from "../lib/types";

type Tab = "candidates" | "context" | "query";

/** Why a query recalls what it recalls: every candidate with every part of its score, and the context. */
export function WhyView() {
  const { params } = useStore(route);
  const version = useStore(memoryVersion);
  const query = params.get("q") ?? "";
  const [text, setText] = useState(query);
  const [result, setResult] = useState<Explained | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [loading, setLoading] = useState(false);
  const [tab, setTab] = useState<Tab>("candidates");
  const load = () => {
    if (!query) return;
    const controller = new AbortController();
    setLoading(true);
    post<Explained>("/v1/memory/explain", { query, k: 5 }, controller.signal).then(
      (value) => {
        setResult(value);
        setError(null);
        setLoading(false);
      },
      (failure: unknown) => {
        if (isAbort(failure)) return;
        setError(failure);
        setLoading(false);
      },
    );
    return () => controller.abort();
  };
  useEffect(load, [query, version]);
  useEffect(() => setText(query), [query]);
  return (
    <div class="view">
      <div class="view-head">
        <div>
          <h1 class="view-title">{t("nav.why")}</h1>
          <p>{t("why.intro")}</p>
        </div>
      </div>
      <form
        class="filters"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          replaceParams({ q: text.trim() });
        }}
      >
        <div class="search">
          <Icon name="search" />
          <input
            type="search"
            aria-label={t("why.query")}
            placeholder={t("why.query")}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </div>
        <Button tone="primary" type="submit" disabled={!text.trim()}>
          {t("why.run")}
        </Button>
      </form>
      {error ? <Failure error={error} retry={load} /> : null}
      {loading && !result && <Loading />}
      {!query && (
        <Empty icon="why" title={t("why.empty")}>
          <p>{t("why.emptyHint")}</p>
        </Empty>
      )}
      {query && result && (
        <>
          <Tabs
            label={t("nav.why")}
            value={tab}
            onChange={setTab}
            options={[
              ["candidates", t("why.candidates")],
              ["context", t("why.context", { tokens: formatNumber(result.context.tokens) })],
              ["query", t("why.understanding")],
            ]}
          />
          {tab === "candidates" && <Candidates result={result} />}
          {tab === "context" && <Context result={result} />}
          {tab === "query" && <QueryTab result={result} />}
        </>
      )}
    </div>
  );
}

function Candidates({ result }: { result: Explained }) {
  const { items, dropped, threshold } = result.recollection;
  const highest = Math.max(1e-6, threshold, ...items.concat(dropped).map((item) => item.score.total));
  return (
    <div class="candidates">
      <h2>{t("why.kept", { count: items.length })}</h2>
      {items.length === 0 && <p class="muted">{t("why.nothingKept")}</p>}
      {items.map((item, index) => (
        <CandidateRow key={item.ref} candidate={item} rank={index + 1} highest={highest} open={index === 0} />
      ))}
      <h2>{t("why.dropped", { count: dropped.length })}</h2>
      <p class="muted small">{t("why.threshold", { threshold: formatNumber(threshold, 3) })}</p>
      {dropped.map((item) => (
        <CandidateRow key={item.ref} candidate={item} rank={null} highest={highest} />
      ))}
    </div>
  );
}

interface RowProps {
  candidate: Candidate;
  rank: number | null;
  highest: number;
  open?: boolean;
}

export function CandidateRow({ candidate, rank, highest, open = false }: RowProps) {
  const { score } = candidate;
  const thought = candidate.ref.startsWith("thought:") ? candidate.ref.slice(8) : null;
  return (
    <details class={`candidate${rank === null ? " dropped" : ""}`} open={open}>
      <summary>
        <span class="rank">{rank ?? "–"}</span>
        <span class="text">{candidateText(candidate.text)}</span>
        <span class="reason">
          <KindBadge kind={candidate.kind} /> {reasonText(candidate.reason)}
        </span>
        <span class="value number">
          {formatNumber(score.total, 3)}
          <span class={`score${rank === null ? " low" : ""}`}>
            <span style={{ width: `${Math.max(0, Math.min(100, (score.total / highest) * 100))}%` }} />
          </span>
        </span>
      </summary>
      <div class="parts">
        {score.sum ? <ScoreTable candidate={candidate} /> : <p class="muted small">{t("why.noParts")}</p>}
        {thought && (
          <button type="button" class="link small" onClick={() => replaceParams({ thought })}>
            {t("thought.number", { id: thought })}
          </button>
        )}
      </div>
    </details>
  );
}

function ScoreTable({ candidate }: { candidate: Candidate }) {
  const sum = candidate.score.sum!;
  const parts = [...sum.parts].sort((a, b) => Math.abs(b.contribution) - Math.abs(a.contribution));
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label={t("why.scoreOf", { ref: refName(candidate.ref) })}>
      <table>
        <caption>{t("why.scoreOf", { ref: refName(candidate.ref) })}</caption>
        <thead>
          <tr>
            <th scope="col">{t("why.part")}</th>
            <th scope="col" class="number">
              {t("why.value")}
            </th>
            <th scope="col" class="number">
              {t("why.weight")}
            </th>
            <th scope="col" class="number">
              {t("why.contribution")}
            </th>
          </tr>
        </thead>
        <tbody>
          {parts.map((part) => (
            <tr key={part.name} class={part.contribution ? "" : "zero"}>
              <th scope="row">{term("part", part.name)}</th>
              <td class="number">{formatNumber(part.value, 3)}</td>
              <td class="number">{formatNumber(part.weight, 3)}</td>
              <td class="number">{formatNumber(part.contribution, 3)}</td>
            </tr>
          ))}
          <tr>
            <th scope="row">{t("why.linear")}</th>
            <td class="number" />
            <td class="number" />
            <td class="number">{formatNumber(sum.linear, 3)}</td>
          </tr>
          <tr>
            <th scope="row">{t("why.initial")}</th>
            <td class="number" />
            <td class="number" />
            <td class="number">{formatNumber(sum.bent, 3)}</td>
          </tr>
          {sum.adjustments.map((adjustment, index) => (
            <tr key={index}>
              <th scope="row">{reasonText(adjustment.why)}</th>
              <td class="number">{formatNumber(adjustment.before, 3)}</td>
              <td class="number">→</td>
              <td class="number">{formatNumber(adjustment.after, 3)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Context({ result }: { result: Explained }) {
  const { messages, tokens } = result.context;
  return (
    <div class="candidates">
      <p class="muted">{t("why.contextHint", { tokens: formatNumber(tokens) })}</p>
      {messages.map((message, index) => (
        <section key={index} class="card">
          <header>
            <h2>{term("role", message.role)}</h2>
            <span class="muted small number">{t("why.tokens", { tokens: formatNumber(message.tokens) })}</span>
          </header>
          <pre tabIndex={0}>{message.content}</pre>
        </section>
      ))}
    </div>
  );
}

function QueryTab({ result }: { result: Explained }) {
  const { understanding, receipt } = result.recollection;
  return (
    <div class="two-columns">
      {understanding && <UnderstandingCard understanding={understanding} />}
      <section class="card">
        <h2>{t("why.inWords")}</h2>
        <pre tabIndex={0}>{result.text || result.lines.join("\n")}</pre>
      </section>
      <section class="card">
        <h2>{t("why.time")}</h2>
        <dl class="pairs">
          {Object.entries(receipt.ms).map(([stage, ms]) => (
            <>
              <dt>{term("stage", stage)}</dt>
              <dd class="number">{formatNumber(ms, 1)} ms</dd>
            </>
          ))}
        </dl>
      </section>
    </div>
  );
}

function UnderstandingCard({ understanding }: { understanding: Understanding }) {
  const rows: [string, string][] = [
    [t("why.question"), term("question", understanding.question)],
    [t("why.tense"), term("tense", understanding.tense)],
    [t("why.manner"), term("manner", understanding.manner)],
    [t("why.names"), [...understanding.names, ...understanding.aliases].join(", ")],
    [t("why.ways"), understanding.ways.join("; ")],
    [t("why.spans"), understanding.spans.map((span) => span.words).join(", ")],
    [t("why.preset"), understanding.preset],
    [
      t("why.searched"),
      understanding.searched
        .map((search) => `${term("searched", search.kind)}: ${search.candidates} / ${search.rows}`)
        .join(", "),
    ],
  ];
  return (
    <section class="card">
      <h2>{t("why.understanding")}</h2>
      <dl class="pairs">
        {rows
          .filter(([, value]) => value)
          .map(([name, value]) => (
            <>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </>
          ))}
      </dl>
    </section>
  );
}
