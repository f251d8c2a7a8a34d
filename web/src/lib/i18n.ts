import { en } from "../locales/en";
import { zh } from "../locales/zh";
import { zhRelations } from "../locales/zh-relations";
import { FOUND, zhReasons } from "../locales/zh-reasons";
import { readSetting, Store, writeSetting } from "./store";

export type Language = "en" | "zh";
export type Key = keyof typeof en;

const TEXTS: Record<Language, Record<Key, string>> = { en, zh };
const saved = readSetting("language");
const preferred = navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";

export const language = new Store<Language>(saved === "en" || saved === "zh" ? saved : preferred);

export function setLanguage(value: Language): void {
  writeSetting("language", value);
  apply(value);
  language.set(value);
}

function apply(value: Language): void {
  document.documentElement.lang = value === "zh" ? "zh-Hans" : "en";
}

apply(language.get());

const PARAMETER = /\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}/g;

/**
 * A text of the interface in the chosen language. `{name}` is replaced by a parameter, and `{count|one|many}` by one of
 * the two words, depending on whether the parameter is 1.
 */
export function t(key: Key, params: Record<string, string | number> = {}): string {
  return TEXTS[language.get()][key].replace(PARAMETER, (whole, name: string, one?: string, many?: string) => {
    const value = String(params[name] ?? whole);
    if (one === undefined || many === undefined) return value;
    return value === "1" ? one : many;
  });
}

/** A word of the server (a kind, an operation, ...) in the chosen language, or the word itself. */
export function term(group: string, word: string): string {
  const key = `${group}.${word}` as Key;
  const own = language.get() === "zh" && group === "relation" ? zhRelations[word] : undefined;
  return TEXTS[language.get()][key] ?? own ?? word;
}

/** Somebody named by what they are to somebody else: "user's mother". */
const ROLE_OF = /^(.+)['’]s (.+)$/;

/** A name as the page shows it: the user, and what others are to somebody, in the chosen language. */
export function personName(name: string): string {
  if (name === "user") return t("node.user");
  const [, owner, role] = (language.get() === "zh" && ROLE_OF.exec(name)) || [];
  if (!owner || !role) return name;
  const ownRole = zhRelations[`has ${role.toLowerCase()}`];
  return ownRole || ROLE_OF.test(owner) || owner === "user" ? `${personName(owner)}的${ownRole ?? role}` : name;
}

/** The relation of a thought as the page shows it, with its negation. */
export function relationName(relation: string, negated: boolean): string {
  const name = term("relation", relation);
  return negated ? t("thought.not", { relation: name }) : name;
}

const REDACTION_MARK = /\[(?:redacted|quarantined) ([a-z ]+)\]/g;

/** A text that was said, with the marks for what was redacted in the chosen language. */
export function saidText(text: string): string {
  if (language.get() === "en") return text;
  return text.replace(REDACTION_MARK, (mark, kind: string) => (FOUND[kind] ? `[已隐去：${FOUND[kind]}]` : mark));
}

/** The speaker and the day before the text of a turn: "user, 2026-11-19: I sold the car." */
const SAID_BY = /^([^,:\n]+), (\d{4}-\d\d-\d\d): /;

/** The text of a candidate as the page shows it. */
export function candidateText(text: string): string {
  return saidText(text).replace(SAID_BY, (_, speaker: string, day: string) =>
    t("why.saidBy", { speaker: personName(speaker), day: formatDay(day) }),
  );
}

/** A reason of the server in the chosen language; what has no translation stays as it is. */
export function reasonText(reason: string): string {
  if (language.get() === "en") return reason;
  return zhReasons.reduce((text, [pattern, wording]) => text.replace(pattern, wording as string), reason);
}

const locale = (): string => (language.get() === "zh" ? "zh-CN" : "en-GB");

export function formatNumber(value: number, digits?: number): string {
  const shown = digits !== undefined && Math.abs(value) < 0.5 * 10 ** -digits ? 0 : value; // no "-0.000"
  return shown.toLocaleString(
    locale(),
    digits === undefined ? {} : { minimumFractionDigits: digits, maximumFractionDigits: digits },
  );
}

export function formatDate(value: string | null | undefined, timeZone?: "UTC"): string {
  if (!value) return "";
  const date = new Date(value);
  if (Number.isNaN(date.getTime())) return value;
  return date.toLocaleDateString(locale(), { year: "numeric", month: "short", day: "numeric", timeZone });
}

/** A day since or until which something is true. Such days are stored as midnight UTC, wherever the reader is. */
export function formatDay(value: string | null | undefined): string {
  return formatDate(value, "UTC");
}

/** Since when a thought is true, or else when it was recorded. */
export function formatStart(thought: { valid_from: string | null; recorded_at: string }): string {
  return thought.valid_from ? formatDay(thought.valid_from) : formatDate(thought.recorded_at);
}

/** From when to when something is true, as days. */
export function formatValidity(thought: { valid_from: string | null; valid_to: string | null }): string {
  const [from, to] = [formatDay(thought.valid_from) || t("time.open"), formatDay(thought.valid_to) || t("time.now")];
  return from === to ? from : `${from} – ${to}`;
}

/** From when to when something was held true, with the time of day where both are on one day. */
export function formatKnown(thought: { recorded_at: string; retired_at: string | null }): string {
  const [from, to] = [formatDate(thought.recorded_at), formatDate(thought.retired_at)];
  if (!to) return `${from} – ${t("time.now")}`;
  if (from !== to) return `${from} – ${to}`;
  const end = new Date(thought.retired_at!).toLocaleTimeString(locale(), { hour: "2-digit", minute: "2-digit" });
  const start = formatTime(thought.recorded_at);
  return start.endsWith(end) ? start : `${start} – ${end}`;
}

/** A reference of the server, such as thought:7, as the page names it. */
export function refName(ref: string): string {
  const [kind, id = ""] = ref.split(":");
  if (kind === "thought") return t("thought.number", { id });
  return kind === "turn" ? t("thought.openTurn", { id }) : ref;
}

export function formatTime(value: string | null | undefined): string {
  if (!value) return "";
  const date = new Date(value);
  if (Number.isNaN(date.getTime())) return value;
  return date.toLocaleString(locale(), { year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });
}
