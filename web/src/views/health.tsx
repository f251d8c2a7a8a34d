import { useState } from "preact/hooks";
import { Button, Confirm, Dialog, Failure, Field, Loading } from "../components/basic";
import { call, get, memoryChanged, memoryVersion, post } from "../lib/api";
import { explainError } from "../lib/errors";
import { useLoad } from "../lib/hooks";
import { formatDate, formatNumber, formatTime, reasonText, refName, saidText, t, term } from "../lib/i18n";
import { notify } from "../lib/notices";
import { replaceParams } from "../lib/router";
import { can, loadSession, session } from "../lib/session";
import { useStore } from "../lib/store";
import type { ApiKey, Health, Page } from "../lib/types";

export function HealthView() {
  const version = useStore(memoryVersion);
  const { data, error, reload } = useLoad<Health>((signal) => get("/v1/memory/health", {}, signal), [version]);
  return (
    <div class="view">
      <div class="view-head">
        <div>
          <h1 class="view-title">{t("nav.health")}</h1>
          <p>{data ? t("health.of", { user: data.user, version: data.version }) : t("health.intro")}</p>
        </div>
        <Button onClick={reload}>{t("action.refresh")}</Button>
      </div>
      {error ? <Failure error={error} retry={reload} /> : null}
      {!data && !error && <Loading />}
      {data && (
        <>
          <Counts health={data} />
          <div class="two-columns">
            <Queue health={data} />
            <Models health={data} />
          </div>
          <Audit health={data} />
          {data.usage && <UsageCard usage={data.usage} />}
        </>
      )}
      {can("admin") && <Keys />}
    </div>
  );
}

function Counts({ health }: { health: Health }) {
  const { stats } = health;
  const figures: [string, number][] = [
    [t("health.turns"), stats.turns],
    [t("health.thoughts"), stats.thoughts],
    [t("health.retired"), stats.retired],
    [t("health.actions"), stats.actions],
    [t("health.groups"), stats.groups],
  ];
  return (
    <section class="card" aria-label={t("health.counts")}>
      <dl class="figures">
        {figures.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{formatNumber(value)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Queue({ health }: { health: Health }) {
  const { queue } = health;
  const act = async (path: string, body: unknown, done: () => string) => {
    try {
      await post(path, body);
      notify(done());
      memoryChanged();
    } catch (failure) {
      notify(explainError(failure), "error");
    }
  };
  return (
    <section class="card">
      <header>
        <h2>{t("health.queue")}</h2>
        <span class={`badge ${queue.failed ? "danger" : queue.pending ? "warning" : "good"}`}>
          {t(queue.failed ? "health.queueFailed" : queue.pending ? "health.queueWorking" : "health.queueIdle")}
        </span>
      </header>
      <dl class="pairs">
        <dt>{t("health.pending")}</dt>
        <dd class="number">{formatNumber(queue.pending)}</dd>
        <dt>{t("health.failed")}</dt>
        <dd class="number">{formatNumber(queue.failed)}</dd>
        <dt>{t("health.scrubs")}</dt>
        <dd>{t(health.scrubs_pending ? "health.scrubsPending" : "health.scrubsDone")}</dd>
      </dl>
      {queue.failures.length > 0 && (
        <ul class="plain-list">
          {queue.failures.map((failure) => (
            <li key={failure.turn} class="small">
              {refName(`turn:${failure.turn}`)} · {t("health.attempts", { count: failure.attempts })} · {failure.reason}
            </li>
          ))}
        </ul>
      )}
      {can("write") && (
        <div class="actions">
          <Button onClick={() => void act("/v1/memory/think", { limit: 10 }, () => t("health.thought"))}>
            {t("health.think")}
          </Button>
          {queue.failed > 0 && (
            <Button onClick={() => void act("/v1/memory/failures/retry", {}, () => t("health.retried"))}>
              {t("health.retry")}
            </Button>
          )}
        </div>
      )}
    </section>
  );
}

function Models({ health }: { health: Health }) {
  const { models } = health;
  const rows: [string, string][] = [
    [t("health.llm"), models.llm ?? t("health.builtIn")],
    [t("health.embedder"), models.embedder],
    [t("health.upstream"), t(models.upstream ? "health.configured" : "health.none")],
  ];
  return (
    <section class="card">
      <h2>{t("health.models")}</h2>
      <dl class="pairs">
        {rows.map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
      </dl>
      <p class="hint">{t("health.localHint")}</p>
    </section>
  );
}

function Audit({ health }: { health: Health }) {
  const { audit } = health;
  return (
    <section class="card">
      <header>
        <h2>{t("health.audit")}</h2>
        <span class="actions">
          {Object.entries(audit.counts).map(([concern, count]) => (
            <span key={concern} class={`badge ${count ? "warning" : "past"}`}>
              {term("concern", concern)} {formatNumber(count)}
            </span>
          ))}
        </span>
      </header>
      {audit.findings.length === 0 ? (
        <p class="muted">
          {t("health.noFindings", { turns: formatNumber(audit.turns), thoughts: formatNumber(audit.thoughts) })}
        </p>
      ) : (
        <ul class="plain-list findings">
          {audit.findings.slice(0, 100).map((finding, index) => (
            <li key={index}>
              <span class="badge warning">{term("concern", finding.concern)}</span>
              <span>{saidText(finding.text)}</span>
              <span class="small muted">{reasonText(finding.reason)}</span>
              {finding.refs
                .filter((ref) => ref.startsWith("thought:"))
                .map((ref) => (
                  <button key={ref} type="button" class="link small" onClick={() => replaceParams({ thought: ref.slice(8) })}>
                    {refName(ref)}
                  </button>
                ))}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function UsageCard({ usage }: { usage: NonNullable<Health["usage"]> }) {
  return (
    <section class="card">
      <header>
        <h2>{t("health.usage")}</h2>
        <span class="small muted">{t("health.usageHint")}</span>
      </header>
      <dl class="figures">
        <div>
          <dt>{t("health.requests")}</dt>
          <dd>{formatNumber(usage.requests)}</dd>
        </div>
        <div>
          <dt>{t("health.recalls")}</dt>
          <dd>{formatNumber(usage.recalls)}</dd>
        </div>
        <div>
          <dt>{t("health.recallsSkipped")}</dt>
          <dd>{formatNumber(usage.recalls_skipped)}</dd>
        </div>
        {Object.entries(usage.tokens).map(([purpose, tokens]) => (
          <div key={purpose}>
            <dt>{t("health.tokens", { purpose })}</dt>
            <dd>{formatNumber(tokens.prompt + tokens.completion)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Keys() {
  const { data, error, reload } = useLoad<Page<ApiKey>>((signal) => get("/v1/web/keys", {}, signal), []);
  const [creating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<ApiKey | null>(null);
  const keys = (data?.items ?? []).filter((key) => !key.session);
  const revoke = async (key: ApiKey) => {
    try {
      await call("DELETE", `/v1/web/keys/${key.id}`);
      notify(t("keys.revoked"));
    } catch (failure) {
      notify(explainError(failure), "error");
    }
    reload();
  };
  return (
    <section class="card">
      <header>
        <h2>{t("keys.title")}</h2>
        <Button icon="plus" onClick={() => setCreating(true)}>
          {t("keys.create")}
        </Button>
      </header>
      {error ? <Failure error={error} retry={reload} /> : null}
      {data && keys.length === 0 && <p class="muted">{t("keys.empty")}</p>}
      {keys.length > 0 && (
        <div class="table-scroll" tabIndex={0} role="region" aria-label={t("keys.title")}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t("keys.label")}</th>
                <th scope="col">{t("keys.user")}</th>
                <th scope="col">{t("keys.scopes")}</th>
                <th scope="col">{t("keys.created")}</th>
                <th scope="col">{t("keys.expires")}</th>
                <th scope="col">
                  <span class="visually-hidden">{t("keys.revoke")}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {keys.map((key) => (
                <tr key={key.id}>
                  <td>
                    {key.label || <code>{key.id}</code>} {key.mine && <span class="badge good">{t("keys.mine")}</span>}
                  </td>
                  <td>{key.user ?? t("keys.anyUser")}</td>
                  <td>{key.scopes.map((scope) => term("scope", scope)).join(", ")}</td>
                  <td class="nowrap">{formatDate(key.created_at)}</td>
                  <td class="nowrap">{formatDate(key.expires_at) || t("keys.never")}</td>
                  <td>
                    {key.revoked_at ? (
                      <span class="badge past">{t("keys.isRevoked", { at: formatTime(key.revoked_at) })}</span>
                    ) : (
                      <Button onClick={() => setRevoking(key)} label={t("keys.revokeOf", { label: key.label || key.id })}>
                        {t("keys.revoke")}
                      </Button>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {creating && (
        <CreateKey
          onClose={() => {
            setCreating(false);
            reload();
          }}
        />
      )}
      {revoking && (
        <Confirm
          title={t("keys.revoke")}
          text={t("keys.revokeText", { label: revoking.label || revoking.id })}
          action={t("keys.revoke")}
          onClose={() => setRevoking(null)}
          onConfirm={() => void revoke(revoking)}
        />
      )}
    </section>
  );
}

const SCOPES = ["read", "write", "admin"] as const;

function CreateKey({ onClose }: { onClose: () => void }) {
  const [label, setLabel] = useState("");
  const [user, setUser] = useState("");
  const [expires, setExpires] = useState("");
  const [scopes, setScopes] = useState<string[]>(["read", "write"]);
  const [created, setCreated] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  const open = session.get()?.open ?? false;
  const create = async (event: Event) => {
    event.preventDefault();
    try {
      const body = { label, scopes, user: user.trim() || null, expires_at: expires ? `${expires}T00:00:00Z` : null };
      setCreated((await post<{ text: string }>("/v1/web/keys", body)).text);
    } catch (failure) {
      setError(failure);
    }
  };
  const close = () => {
    onClose();
    if (created && open) void loadSession().catch(() => undefined);
  };
  if (created) {
    return (
      <Dialog title={t("keys.createdTitle")} onClose={close}>
        <p>{t("keys.once")}</p>
        <pre tabIndex={0}>{created}</pre>
        {open && <p class="callout">{t("keys.closesServer")}</p>}
        <footer class="actions">
          <Button onClick={() => void navigator.clipboard?.writeText(created).then(() => notify(t("keys.copied")))}>
            {t("action.copy")}
          </Button>
          <Button tone="primary" onClick={close}>
            {t("action.close")}
          </Button>
        </footer>
      </Dialog>
    );
  }
  return (
    <Dialog title={t("keys.create")} onClose={onClose}>
      <form class="form" onSubmit={create}>
        {open && <p class="callout">{t("keys.closesServer")}</p>}
        {error ? <Failure error={error} /> : null}
        <Field label={t("keys.label")}>
          {(id) => <input id={id} maxLength={200} value={label} onInput={(event) => setLabel(event.currentTarget.value)} />}
        </Field>
        <Field label={t("keys.user")} hint={t("keys.userHint")}>
          {(id, hint) => (
            <input id={id} aria-describedby={hint} value={user} onInput={(event) => setUser(event.currentTarget.value)} />
          )}
        </Field>
        <fieldset class="actions">
          <legend class="label">{t("keys.scopes")}</legend>
          {SCOPES.map((scope) => (
            <label key={scope} class="check">
              <input
                type="checkbox"
                checked={scopes.includes(scope)}
                onChange={(event) =>
                  setScopes(event.currentTarget.checked ? [...scopes, scope] : scopes.filter((name) => name !== scope))
                }
              />
              {term("scope", scope)}
            </label>
          ))}
        </fieldset>
        <Field label={t("keys.expires")}>
          {(id) => <input id={id} type="date" value={expires} onInput={(event) => setExpires(event.currentTarget.value)} />}
        </Field>
        <footer class="actions">
          <Button onClick={onClose}>{t("action.cancel")}</Button>
          <Button tone="primary" type="submit" disabled={scopes.length === 0}>
            {t("keys.create")}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
