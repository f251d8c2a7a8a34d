import { Empty, Failure, Loading } from "../components/basic";
import { LineChart } from "../components/line-chart";
import { get, memoryVersion, orMissing } from "../lib/api";
import { useLoad } from "../lib/hooks";
import { formatDate, formatDay, language, t, term } from "../lib/i18n";
import { replaceParams } from "../lib/router";
import { useStore } from "../lib/store";
import type { Finding, PatientRecord, RecordRow } from "../lib/types";

function emptyRecord(patient: string): PatientRecord {
  return { patient, notice: "", rows: [], constraints: [], medication: [], findings: [] };
}

/** The structured record: constraints first, then medication, findings over time, and every row. */
export function RecordTab({ name }: { name: string }) {
  const version = useStore(memoryVersion);
  const { data, error, reload } = useLoad<PatientRecord>(
    (signal) => orMissing(get(`/v1/clinic/patients/${encodeURIComponent(name)}/record`, {}, signal), emptyRecord(name)),
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
                <Row row={row} />
                <span class="small muted">{formatDate(row.at)}</span>
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
                  <LineChart finding={finding} label={label} />
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
              <th scope="col">{t("clinic.item")}</th>
              <th scope="col">{t("clinic.result")}</th>
              <th scope="col">{t("clinic.date")}</th>
              <th scope="col">{t("clinic.quote")}</th>
            </tr>
          </thead>
          <tbody>
            {data.rows.map((row, index) => (
              <tr key={index} class={row.current ? "" : "is-former"}>
                <td class="nowrap">{term("category", row.category)}</td>
                <td>{itemName(row.item, data.findings)}</td>
                <td>{row.result}</td>
                <td class="nowrap">{row.valid_from ? formatDay(row.valid_from) : formatDate(row.at)}</td>
                <td>
                  {row.thought ? (
                    <button type="button" class="link" onClick={() => replaceParams({ thought: String(row.thought) })}>
                      {row.quote || `thought:${row.thought}`}
                    </button>
                  ) : (
                    row.quote
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

function Row({ row }: { row: RecordRow }) {
  const text = [row.item === row.category ? "" : row.item, row.result].filter(Boolean).join(": ");
  if (!row.thought) return <span>{text}</span>;
  return (
    <button type="button" class="link" onClick={() => replaceParams({ thought: String(row.thought) })}>
      {text}
    </button>
  );
}

/** The name of a row in the chosen language: that of a quantity, or that of its category. */
function itemName(item: string, findings: readonly Finding[]): string {
  const quantity = findings.find((finding) => finding.label.en === item || finding.item === item);
  return quantity?.label[language.get()] || term("category", item);
}
