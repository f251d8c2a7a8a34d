import { useEffect, useState } from "preact/hooks";
import { Button, Dialog, Empty, Failure, Field, Loading, Tabs } from "../components/basic";
import { Icon } from "../components/icon";
import { get, memoryVersion, patientUser } from "../lib/api";
import { useLoad } from "../lib/hooks";
import { formatDate, formatNumber, saidText, t } from "../lib/i18n";
import { getOfPatient } from "../lib/patients";
import { href, navigate, replaceParams, route } from "../lib/router";
import { can } from "../lib/session";
import { useStore } from "../lib/store";
import type { Page, Patient, Turn, Visit } from "../lib/types";
import { ConsultTab, visitName } from "./clinic-consult";
import { RecordTab } from "./clinic-record";

type Tab = "consult" | "record" | "visits";

/** A patient's history over visits. It supports and does not replace a clinician, and says so. */
export function ClinicView() {
  const { path } = useStore(route);
  return <div class="view">{path[0] ? <PatientPage key={path[0]} name={path[0]} /> : <Patients />}</div>;
}

function Notice() {
  return (
    <p class="callout" role="note">
      {t("clinic.notice")}
    </p>
  );
}

function Patients() {
  const version = useStore(memoryVersion);
  const { data, error, reload } = useLoad<Page<Patient>>(
    (signal) => get("/v1/clinic/patients", { limit: 500 }, signal),
    [version],
  );
  const [adding, setAdding] = useState(false);
  const [search, setSearch] = useState("");
  const patients = (data?.items ?? []).filter((patient) => patient.name.toLowerCase().includes(search.trim().toLowerCase()));
  return (
    <>
      <div class="view-head">
        <div>
          <h1 class="view-title">{t("nav.clinic")}</h1>
          <p>{t("clinic.intro")}</p>
        </div>
        {can("write") && (
          <Button icon="plus" tone="primary" onClick={() => setAdding(true)}>
            {t("clinic.add")}
          </Button>
        )}
      </div>
      <Notice />
      {error ? <Failure error={error} retry={reload} /> : null}
      {!data && !error && <Loading />}
      {data && data.items.length === 0 && (
        <Empty icon="clinic" title={t("clinic.empty")}>
          <p>{t("clinic.emptyHint")}</p>
          <pre>thinkback-lab patients --only p01</pre>
        </Empty>
      )}
      {data && data.items.length > 0 && (
        <>
          <div class="filters" role="search">
            <div class="search">
              <Icon name="search" />
              <input
                type="search"
                aria-label={t("clinic.search")}
                placeholder={t("clinic.search")}
                value={search}
                onInput={(event) => setSearch(event.currentTarget.value)}
              />
            </div>
          </div>
          <ul class="cards">
            {patients.map((patient) => (
              <li key={patient.name}>
                <a class="card patient" href={href("clinic", [patient.name])}>
                  <strong>{patient.name}</strong>
                  <span class="small muted">
                    {t("clinic.patientCounts", {
                      visits: formatNumber(patient.visits),
                      thoughts: formatNumber(patient.thoughts),
                    })}
                  </span>
                  <span class="small muted">
                    {patient.last_at ? t("clinic.lastVisit", { date: formatDate(patient.last_at) }) : t("clinic.noVisit")}
                  </span>
                </a>
              </li>
            ))}
          </ul>
        </>
      )}
      {adding && <AddPatient onClose={() => setAdding(false)} />}
    </>
  );
}

/** Nothing is stored for a new patient until the first message of a consultation. */
function AddPatient({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  return (
    <Dialog title={t("clinic.add")} onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          onClose();
          navigate("clinic", [name.trim()]);
        }}
      >
        <Field label={t("clinic.name")} hint={t("clinic.nameHint")}>
          {(id, hint) => (
            <input
              id={id}
              aria-describedby={hint}
              required
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          )}
        </Field>
        <footer class="actions">
          <Button onClick={onClose}>{t("action.cancel")}</Button>
          <Button tone="primary" type="submit" disabled={!name.trim()}>
            {t("clinic.add")}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

function PatientPage({ name }: { name: string }) {
  const { params } = useStore(route);
  const version = useStore(memoryVersion);
  const value = params.get("tab");
  const tab: Tab = value === "record" || value === "visits" ? value : "consult";
  const visits = useLoad<Page<Visit>>(
    (signal) => getOfPatient(name, "visits", { items: [], next: null }, { limit: 500 }, signal),
    [name, version],
  );
  // Details of a thought are requested for the patient, not for the user of the page.
  patientUser.set(`patient:${name}`);
  useEffect(() => {
    patientUser.set(`patient:${name}`);
    return () => patientUser.set(null);
  }, [name]);
  const exportUrl = (format: string) => `/v1/clinic/patients/${encodeURIComponent(name)}/export?format=${format}`;
  return (
    <>
      <div class="view-head">
        <div>
          <p class="small">
            <a href={href("clinic")}>{t("clinic.patients")}</a>
          </p>
          <h1>{name}</h1>
        </div>
        <div class="actions">
          <a class="button" href={exportUrl("json")} download>
            <Icon name="download" />
            {t("clinic.exportJson")}
          </a>
          <a class="button" href={exportUrl("text")} download>
            <Icon name="download" />
            {t("clinic.exportText")}
          </a>
        </div>
      </div>
      <Notice />
      <Tabs
        label={t("nav.clinic")}
        value={tab}
        onChange={(next) => replaceParams({ tab: next === "consult" ? null : next })}
        options={[
          ["consult", t("clinic.consultation")],
          ["record", t("clinic.record")],
          ["visits", t("clinic.visits")],
        ]}
      />
      {tab === "consult" && visits.data && <ConsultTab name={name} visits={visits.data.items} />}
      {tab === "consult" && !visits.data && (visits.error ? <Failure error={visits.error} retry={visits.reload} /> : <Loading />)}
      {tab === "record" && <RecordTab name={name} />}
      {tab === "visits" && <Visits name={name} visits={visits} />}
    </>
  );
}

function Visits({ name, visits }: { name: string; visits: ReturnType<typeof useLoad<Page<Visit>>> }) {
  if (visits.error) return <Failure error={visits.error} retry={visits.reload} />;
  if (!visits.data) return <Loading />;
  if (!visits.data.items.length) {
    return (
      <Empty icon="clinic" title={t("clinic.noVisits")}>
        <p>{t("clinic.noVisitsHint")}</p>
      </Empty>
    );
  }
  return (
    <div class="candidates">
      {visits.data.items.map((visit) => (
        <VisitCard key={visit.session} name={name} visit={visit} />
      ))}
    </div>
  );
}

function VisitCard({ name, visit }: { name: string; visit: Visit }) {
  const [turns, setTurns] = useState<Turn[] | null>(null);
  const [error, setError] = useState<unknown>(null);
  const load = () => {
    if (turns) return;
    get<Page<Turn>>("/v1/memory/turns", { user: `patient:${name}`, session: visit.session, limit: 500 }).then(
      (page) => setTurns(page.items),
      setError,
    );
  };
  const { summary } = visit;
  const points = [...summary.facts, ...summary.constraints, ...summary.needs];
  return (
    <details class="card visit" onToggle={(event) => event.currentTarget.open && load()}>
      <summary>
        <strong>{visitName(visit.session)}</strong>
        <span class="small muted">
          {formatDate(visit.first_at)} · {t("clinic.turns", { count: formatNumber(visit.turns) })}
        </span>
        {(summary.topic || summary.conclusion) && (
          <span class="visit-topic">{[summary.topic, summary.conclusion].filter(Boolean).join(" · ")}</span>
        )}
      </summary>
      {points.length > 0 && (
        <ul class="bullets">
          {points.map((point, index) => (
            <li key={index}>{point}</li>
          ))}
        </ul>
      )}
      {error ? <Failure error={error} /> : null}
      {turns?.map((turn) => (
        <div key={turn.id} class="visit-turn">
          {turn.query && (
            <p>
              <span class="label">{t("clinic.patient")}</span> {saidText(turn.query)}
            </p>
          )}
          {turn.response && (
            <p class="muted">
              <span class="label">{t("clinic.doctor")}</span> {saidText(turn.response)}
            </p>
          )}
        </div>
      ))}
    </details>
  );
}
