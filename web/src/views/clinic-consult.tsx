import { useState } from "preact/hooks";
import { Button, Cited, Empty, Failure, Field, KindBadge } from "../components/basic";
import { ThoughtLink } from "../components/thought-panel";
import { get, memoryChanged, orMissing, post } from "../lib/api";
import { distinctConstraints } from "../lib/constraints";
import { useLoad } from "../lib/hooks";
import { formatDate, formatNumber, reasonText, t, term } from "../lib/i18n";
import { replaceParams } from "../lib/router";
import { can } from "../lib/session";
import type { Conflict, Constraint, Consultation, PatientRecord, Visit } from "../lib/types";

interface Exchange {
  message: string;
  result: Consultation;
}

/** The name of a visit on the screen: "visit-3" is the third one. */
export function visitName(session: string): string {
  const number = /^visit-(\d+)$/.exec(session)?.[1];
  return number ? t("clinic.visitNumber", { number }) : session;
}

function firstUnused(visits: Visit[]): string {
  const used = new Set(visits.map((visit) => visit.session));
  let number = 1;
  while (used.has(`visit-${number}`)) number++;
  return `visit-${number}`;
}

/** A consultation answered twice: with the patient's memory and without it, side by side. */
export function ConsultTab({ name, visits }: { name: string; visits: Visit[] }) {
  const next = firstUnused(visits);
  const [visit, setVisit] = useState<string | null>(null);
  const [message, setMessage] = useState("");
  const [remember, setRemember] = useState(true);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [exchanges, setExchanges] = useState<Exchange[]>([]);
  // The visit of this consultation stays chosen when it becomes one of the stored visits.
  const chosen = visit ?? next;
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    setVisit(chosen);
    try {
      const result = await post<Consultation>("/v1/clinic/consult", {
        patient: name,
        message: message.trim(),
        session: chosen,
        remember,
      });
      setExchanges((former) => [{ message: message.trim(), result }, ...former]);
      setMessage("");
      if (remember) memoryChanged();
    } catch (failure) {
      setError(failure);
    }
    setBusy(false);
  };
  const names = [...new Set([...visits.map((item) => item.session), chosen, next])];
  return (
    <>
      <form class="card" onSubmit={submit}>
        <Field label={t("clinic.message")} hint={t("clinic.messageHint")}>
          {(id, hint) => (
            <textarea
              id={id}
              rows={3}
              required
              aria-describedby={hint}
              value={message}
              disabled={!can("write")}
              onInput={(event) => setMessage(event.currentTarget.value)}
            />
          )}
        </Field>
        <div class="actions submit-last">
          <select aria-label={t("clinic.visit")} value={chosen} onChange={(event) => setVisit(event.currentTarget.value)}>
            {names.map((item) => (
              <option key={item} value={item}>
                {visits.some((stored) => stored.session === item) ? visitName(item) : t("clinic.newVisit", { name: visitName(item) })}
              </option>
            ))}
          </select>
          <label class="check">
            <input type="checkbox" checked={remember} onChange={(event) => setRemember(event.currentTarget.checked)} />
            {t("clinic.remember")}
          </label>
          <Button tone="primary" type="submit" disabled={busy || !message.trim()}>
            {t(busy ? "state.loading" : "clinic.consult")}
          </Button>
        </div>
      </form>
      {error ? <Failure error={error} /> : null}
      {exchanges.length === 0 && (
        <Empty icon="clinic" title={t("clinic.consultEmpty")}>
          <p>{t("clinic.consultEmptyHint")}</p>
        </Empty>
      )}
      {exchanges.map(({ message: asked, result }, index) => (
        <article key={exchanges.length - index} class="consultation" aria-label={asked}>
          <blockquote class="quote">{asked}</blockquote>
          <Constraints name={name} constraints={distinctConstraints(result.with_memory.constraints)} />
          <div class="two-columns">
            <section class="card with-memory">
              <header>
                <h2>{t("clinic.withMemory")}</h2>
                <span class="small muted number">{t("why.tokens", { tokens: formatNumber(result.with_memory.tokens) })}</span>
              </header>
              <p class="answer">
                <Cited text={result.with_memory.text} />
              </p>
              <Conflicts conflicts={result.with_memory.conflicts} />
              {result.with_memory.recalled.length > 0 && (
                <div>
                  <h3>{t("chat.recalled", { count: result.with_memory.recalled.length })}</h3>
                  <ul class="plain-list">
                    {result.with_memory.recalled.map((candidate) => (
                      <li key={candidate.ref} class="small">
                        <KindBadge kind={candidate.kind} />
                        {candidate.ref.startsWith("thought:") ? (
                          <button type="button" class="link" onClick={() => replaceParams({ thought: candidate.ref.slice(8) })}>
                            {candidate.text}
                          </button>
                        ) : (
                          <span>{candidate.text}</span>
                        )}
                      </li>
                    ))}
                  </ul>
                </div>
              )}
            </section>
            <section class="card">
              <header>
                <h2>{t("clinic.withoutMemory")}</h2>
                <span class="small muted number">{t("why.tokens", { tokens: formatNumber(result.without_memory.tokens) })}</span>
              </header>
              <p class="answer">{result.without_memory.text}</p>
              <Conflicts conflicts={result.without_memory.conflicts} />
            </section>
          </div>
          <p class="small muted">{t(result.by === "model" ? "clinic.byModel" : "clinic.byMemory")}</p>
        </article>
      ))}
    </>
  );
}

/** Allergies, medication and the like that the message or the answer touches. */
function Constraints({ name, constraints }: { name: string; constraints: Constraint[] }) {
  // The date is when it was said, as in the record: a history may have been recorded much later.
  const { data } = useLoad<PatientRecord | null>(
    async (signal) =>
      constraints.length ? orMissing(get(`/v1/clinic/patients/${encodeURIComponent(name)}/record`, {}, signal), null) : null,
    [name],
  );
  const saidAt = (constraint: Constraint) =>
    formatDate(data?.constraints.find((fact) => fact.thought === constraint.thought.id)?.at);
  if (!constraints.length) return null;
  return (
    <div class="callout danger" role="alert">
      <strong>{t("clinic.constraintTouched")}</strong>
      <ul class="plain-list">
        {constraints.map((constraint, index) => (
          <li key={index}>
            <span class="badge danger">{term("category", constraint.kind)}</span>
            <ThoughtLink thought={constraint.thought} />
            <span class="small">{[reasonText(constraint.reason), saidAt(constraint)].filter(Boolean).join(" · ")}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Conflicts({ conflicts }: { conflicts: Conflict[] }) {
  if (!conflicts.length) return null;
  return (
    <div class="callout danger">
      <strong>{t("clinic.conflicts")}</strong>
      <ul class="plain-list">
        {conflicts.map((conflict, index) => (
          <li key={index} class="small">
            <q>{conflict.sentence}</q>
            <span>{reasonText(conflict.reason)}</span>
            <ThoughtLink thought={conflict.thought} />
          </li>
        ))}
      </ul>
    </div>
  );
}
