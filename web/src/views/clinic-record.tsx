import { Empty, Failure, Loading } from "../components/basic";
import { LineChart } from "../components/line-chart";
import { memoryVersion } from "../lib/api";
import { useLoad } from "../lib/hooks";
import { formatDate, formatDay, language, t, term } from "../lib/i18n";
import { getOfPatient } from "../lib/patients";
import { replaceParams } from "../lib/router";
import { useStore } from "../lib/store";
import type { Finding as FindingSeries, PatientRecord, RecordRow } from "../lib/types";

function emptyRecord(patient: string): PatientRecord {
  return { patient, notice: "", rows: [], constraints: [], medication: [], findings: [] };
}

/** The structured record: constraints first, then medication, findings over time, and every row. */
export function RecordTab({ name }: { name: string }) {
  const version = useStore(memoryVersion);
  const { data, error, reload } = useLoad<PatientRecord>(
    (signal) => getOfPatient(name, "record", emptyRecord(name), {}, signal),
    [name, version],
  );
  if (error) return <Failure error={error} retry={reload} />;
  if (!data) return <Loading />;
  if (!data.rows.length && !data.constraints.length) {
    return (
      <Empty icon="clinic" title={t("clinic.noRecord")}>
        <p>{t("clinic.noRecordHint")}</p>
      </Empty>
    );
  }
  const findings = data.findings.filter((finding) => finding.points.length > 0);
  return (
    <>
      <div class="two-columns">
        <section class="card">
          <h2>{t("clinic.constraints")}</h2>
          {data.constraints.length === 0 && <p class="muted">{t("clinic.noConstraints")}</p>}
          <ul class="plain-list">
            {data.constraints.map((constraint, index) => (
              <li key={index}>
                <span class="badge danger">{term("category", constraint.kind)}</span>
                <button type="button" class="link" onClick={() => replaceParams({ thought: String(constraint.thought) })}>
                  {constraint.text}
                </button>
                <span class="small muted">{formatDate(constraint.at)}</span>
              </li>
            ))}
          </ul>
        </section>
        <section class="card">
          <h2>{t("clinic.medication")}</h2>
          {data.medication.length === 0 && <p class="muted">{t("clinic.noMedication")}</p>}
          <ul class="plain-list">
            {data.medication.map((row, index) => (
              <li key={index} class={row.current ? "" : "is-former"}>
                <Finding row={row} text={row.result} />
                <span class="small muted">{said(row)}</span>
              </li>
            ))}
          </ul>
        </section>
      </div>
      {findings.length > 0 && (
        <section class="findings-over-time">
          <h2>{t("clinic.findings")}</h2>
          <div class="cards">
            {findings.map((finding) => {
              const label = finding.label[language.get()] || finding.item;
              const last = finding.points.at(-1)!;
              return (
                <figure key={finding.item} class="card">
                  <figcaption>
                    <strong>{label}</strong>
                    <span class="number">
                      {last.text} <span class="small muted">{finding.unit}</span>
                    </span>
                  </figcaption>
                  {finding.points.length > 1 ? (
                    <LineChart finding={finding} label={label} />
                  ) : (
                    <p class="small muted">{formatDate(last.at)}</p>
                  )}
                </figure>
              );
            })}
          </div>
        </section>
      )}
      <section class="table-scroll" tabIndex={0} role="region" aria-label={t("clinic.record")}>
        <table>
          <caption>{t("clinic.recordCaption", { count: data.rows.length })}</caption>
          <thead>
            <tr>
              <th scope="col">{t("clinic.category")}</th>
              <th scope="col">{t("clinic.finding")}</th>
              <th scope="col">{t("clinic.date")}</th>
              <th scope="col">{t("clinic.quote")}</th>
            </tr>
          </thead>
          <tbody>
            {data.rows.map((row, index) => (
              <tr key={index} class={row.current ? "" : "is-former"}>
                <td class="nowrap">
                  {term("category", row.category)}
                  {row.denied && <span class="badge past denied">{t("clinic.denied")}</span>}
                </td>
                <td>
                  <Finding row={row} text={findingText(row, data.findings)} />
                </td>
                <td class="nowrap">{said(row)}</td>
                <td class="muted">{row.result === row.quote ? t("clinic.ownWords") : <q>{row.quote}</q>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

/** What a row says; it opens the thought that was drawn from it. */
function Finding({ row, text }: { row: RecordRow; text: string }) {
  if (!row.thought) return <span>{text}</span>;
  return (
    <button type="button" class="link" onClick={() => replaceParams({ thought: String(row.thought) })}>
      {text}
    </button>
  );
}

/** When it was said first, and last if it was repeated on another day. */
function said(row: RecordRow): string {
  const [first, last] = [row.valid_from ? formatDay(row.valid_from) : formatDate(row.at), formatDate(row.last_at)];
  return formatDate(row.at) === last ? first : t("clinic.saidAgain", { first, last });
}

/** A quantity with its name and value; for everything else the value, or the sentence as it was said. */
function findingText(row: RecordRow, findings: readonly FindingSeries[]): string {
  const quantity = findings.find((finding) => finding.label.en === row.item || finding.item === row.item);
  if (quantity) return `${quantity.label[language.get()] || row.item}: ${row.result}`;
  return row.result;
}
