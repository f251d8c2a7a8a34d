import { useState } from "preact/hooks";
import { Button, Empty, Failure, Loading } from "../components/basic";
import { Icon } from "../components/icon";
import { ApiError, call, get } from "../lib/api";
import { useDebounced, useLoad } from "../lib/hooks";
import { formatDate, formatNumber, t } from "../lib/i18n";
import { navigate, replaceParams, route } from "../lib/router";
import { useStore } from "../lib/store";
import type { ComparedItem, Comparison, Page, Run } from "../lib/types";

const MAX_RUNS = 3;
const PAGE_QUESTIONS = 50;

/** Finished runs of the laboratory, and up to three of them compared question by question. */
export function LaboratoryView() {
  const { path } = useStore(route);
  const chosen = path.filter(Boolean).slice(0, MAX_RUNS);
  return <div class="view">{chosen.length ? <Compare key={chosen.join("/")} names={chosen} /> : <Runs />}</div>;
}

function Runs() {
  const { data, error, reload } = useLoad<Page<Run>>((signal) => get("/v1/lab/runs", { limit: 500 }, signal), []);
  const [chosen, setChosen] = useState<string[]>([]);
  const missing = error instanceof ApiError && error.status === 404;
  const runs = data?.items ?? [];
  const metrics = [...new Set(runs.flatMap((run) => Object.keys(run.metrics)))].slice(0, 6);
  return (
    <>
      <div class="view-head">
        <div>
          <h1 class="view-title">{t("nav.laboratory")}</h1>
          <p>{t("lab.intro")}</p>
        </div>
        {runs.length > 0 && (
          <Button tone="primary" disabled={chosen.length === 0} onClick={() => navigate("laboratory", chosen)}>
            {t(chosen.length > 1 ? "lab.compare" : "lab.open")}
          </Button>
        )}
      </div>
      {error && !missing ? <Failure error={error} retry={reload} /> : null}
      {!data && !error && <Loading />}
      {(missing || (data && runs.length === 0)) && (
        <Empty icon="laboratory" title={t("lab.empty")}>
          <p>{t("lab.emptyHint")}</p>
          <pre>thinkback serve --runs runs</pre>
        </Empty>
      )}
      {runs.length > 0 && (
        <div class="table-scroll" tabIndex={0} role="region" aria-label={t("lab.runs")}>
          <table>
            <caption>{t("lab.choose", { count: MAX_RUNS })}</caption>
            <thead>
              <tr>
                <th scope="col">{t("lab.run")}</th>
                <th scope="col">{t("lab.dataset")}</th>
                <th scope="col">{t("lab.system")}</th>
                <th scope="col" class="number">
                  {t("lab.questions")}
                </th>
                {metrics.map((metric) => (
                  <th key={metric} scope="col" class="number">
                    {metric}
                  </th>
                ))}
                <th scope="col">{t("lab.date")}</th>
              </tr>
            </thead>
            <tbody>
              {runs.map((run) => (
                <tr key={run.name}>
                  <td>
                    <label class="check nowrap">
                      <input
                        type="checkbox"
                        checked={chosen.includes(run.name)}
                        disabled={!run.has_questions || (chosen.length >= MAX_RUNS && !chosen.includes(run.name))}
                        onChange={(event) =>
                          setChosen(
                            event.currentTarget.checked ? [...chosen, run.name] : chosen.filter((name) => name !== run.name),
                          )
                        }
                      />
                      {run.name}
                    </label>
                  </td>
                  <td class="nowrap">{run.dataset}</td>
                  <td class="nowrap">{run.system}</td>
                  <td class="number">{formatNumber(run.n)}</td>
                  {metrics.map((metric) => (
                    <td key={metric} class="number">
                      {typeof run.metrics[metric] === "number" ? formatNumber(run.metrics[metric], 3) : "–"}
                    </td>
                  ))}
                  <td class="nowrap">{formatDate(run.modified_at)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

function Compare({ names }: { names: string[] }) {
  const { params } = useStore(route);
  const metric = params.get("metric") ?? "";
  const only = params.get("only") ?? (names.length > 1 ? "different" : "all");
  const category = params.get("category") ?? "";
  const [text, setText] = useState("");
  const words = useDebounced(text.trim(), 150);
  const [page, setPage] = useState(0);
  const { data, error, reload } = useLoad<Comparison>(
    (signal) => {
      const query = new URLSearchParams(names.map((name) => ["run", name]));
      const options = { metric, only, category, q: words, after: String(page), limit: String(PAGE_QUESTIONS) };
      for (const [name, value] of Object.entries(options)) if (value) query.set(name, value);
      return call<Comparison>("GET", `/v1/lab/compare?${query}`, { signal });
    },
    [names.join("/"), metric, only, category, words, page],
  );
  const set = (name: string) => (event: { currentTarget: { value: string } }) => {
    setPage(0);
    replaceParams({ [name]: event.currentTarget.value });
  };
  return (
    <>
      <div class="view-head">
        <div>
          <p class="small">
            <a href="#/laboratory">{t("lab.runs")}</a>
          </p>
          <h1>{names.join(" · ")}</h1>
          {data && (
            <p role="status">{t("lab.counts", { total: formatNumber(data.total), different: formatNumber(data.different) })}</p>
          )}
        </div>
      </div>
      {error ? <Failure error={error} retry={reload} /> : null}
      {!data && !error && <Loading />}
      {data && (
        <>
          <dl class="figures card">
            {data.runs.map((run, index) => (
              <div key={run.name}>
                <dt>
                  {run.label} · {data.metric}
                </dt>
                <dd>
                  {data.means[index] === null || data.means[index] === undefined ? "–" : formatNumber(data.means[index], 3)}
                </dd>
              </div>
            ))}
          </dl>
          <div class="filters" role="search">
            <div class="search">
              <Icon name="search" />
              <input
                type="search"
                aria-label={t("lab.search")}
                placeholder={t("lab.search")}
                value={text}
                onInput={(event) => {
                  setPage(0);
                  setText(event.currentTarget.value);
                }}
              />
            </div>
            <select aria-label={t("lab.metric")} value={data.metric} onChange={set("metric")}>
              {data.metrics.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
            <select aria-label={t("lab.category")} value={category} onChange={set("category")}>
              <option value="">{t("lab.allCategories")}</option>
              {data.categories.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
            {names.length > 1 && (
              <select aria-label={t("lab.only")} value={only} onChange={set("only")}>
                <option value="all">{t("lab.all")}</option>
                <option value="different">{t("lab.different")}</option>
              </select>
            )}
          </div>
          {data.items.length === 0 && <p class="muted">{t("lab.noQuestions")}</p>}
          <div class="candidates">
            {data.items.map((item) => (
              <Question key={`${item.case}:${item.id}`} item={item} comparison={data} />
            ))}
          </div>
          <div class="actions">
            {page > 0 && <Button onClick={() => setPage(Math.max(0, page - PAGE_QUESTIONS))}>{t("action.previous")}</Button>}
            {data.next !== null && <Button onClick={() => setPage(data.next!)}>{t("action.next")}</Button>}
          </div>
        </>
      )}
    </>
  );
}

function score(value: number | null | undefined): string {
  return typeof value === "number" ? formatNumber(value, 2) : "–";
}

function Question({ item, comparison }: { item: ComparedItem; comparison: Comparison }) {
  const values = item.runs.map((run) => run?.scores[comparison.metric] ?? -Infinity);
  const isBest = (index: number) => values.every((value, other) => other === index || value < values[index]!);
  return (
    <details class="card visit">
      <summary>
        <strong>{item.question}</strong>
        <span class="actions small">
          {item.category && <span class="badge">{item.category}</span>}
          {item.runs.map((run, index) => (
            <span key={index} class={`number ${isBest(index) ? "best" : "muted"}`}>
              {comparison.runs[index]?.label}: {score(run?.scores[comparison.metric])}
            </span>
          ))}
        </span>
      </summary>
      {item.expected && (
        <p>
          <span class="label">{t("lab.expected")}</span> {item.expected}
        </p>
      )}
      <div class="two-columns">
        {item.runs.map((run, index) => (
          <section key={index} class="plain-list">
            <h3>{comparison.runs[index]?.label}</h3>
            {!run && <p class="muted">{t("lab.notRun")}</p>}
            {run?.answer && <p>{run.answer}</p>}
            <ol class="plain-list">
              {run?.found.map((found, position) => (
                <li key={position} class={`small${found.gold ? " is-gold" : " muted"}`}>
                  {found.gold && (
                    <>
                      <Icon name="check" size={14} />
                      <span class="visually-hidden">{t("lab.gold")}</span>
                    </>
                  )}
                  {found.text}
                </li>
              ))}
            </ol>
          </section>
        ))}
      </div>
    </details>
  );
}
