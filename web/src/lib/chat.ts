import { ApiError, call, currentUser, get, headerValue, post, readEvents, send } from "./api";
import { explainError } from "./errors";
import { loadSession, session } from "./session";
import type { Action, Check, Page, Thought, Turn } from "./types";

/** One message of the conversation on the screen. */
export interface Message {
  key: string;
  role: "user" | "assistant";
  text: string;
  /** The stored turn; null before it is stored, or if memory was off. */
  turn: Turn | null;
  recalled: string[];
  check: Check | null;
  streaming?: boolean;
  failed?: string;
  /** It is no longer recalled: forgotten, or corrected by a later message. */
  retired?: "forgotten" | "corrected";
  /** The thoughts that were drawn from it. */
  learned?: Thought[];
  /** The answer was drawn from memory alone: only the question is stored. */
  notStored?: boolean;
}

export type MemoryMode = "on" | "read" | "off";

// A model sees the last exchanges; what is older comes from memory.
const HISTORY_MESSAGES = 12;

// Answers that memory gave by itself are not stored in the database. The browser keeps those of this tab until it is
// closed, so that they outlast a reload.
const ANSWERS_ITEM = "thinkback.answers";
const MAX_KEPT_ANSWERS = 200;
const shownAnswers = new Map<string, string>(readAnswers());

function readAnswers(): [string, string][] {
  try {
    const kept: [string, unknown][] = Object.entries(JSON.parse(sessionStorage.getItem(ANSWERS_ITEM) ?? "{}"));
    return kept.filter((entry): entry is [string, string] => typeof entry[1] === "string");
  } catch {
    return [];
  }
}

function writeAnswers(): void {
  try {
    sessionStorage.setItem(ANSWERS_ITEM, JSON.stringify(Object.fromEntries(shownAnswers)));
  } catch {
    // Without storage they last until the page is loaded again.
  }
}

/** With the time, for another database may be served at the same address. */
function answerKey(turn: Turn): string {
  return `${session.get()?.tenant}:${currentUser.get()}:${turn.id}:${turn.recorded_at}`;
}

export function keepAnswer(turn: Turn, text: string): void {
  if (turn.response || !text) return;
  shownAnswers.set(answerKey(turn), text);
  for (const key of [...shownAnswers.keys()].slice(0, -MAX_KEPT_ANSWERS)) shownAnswers.delete(key);
  writeAnswers();
}

/** Nothing of an answer stays after something was erased, or after signing out. */
export function forgetAnswers(): void {
  shownAnswers.clear();
  writeAnswers();
}

export function messagesOf(turns: readonly Turn[]): Message[] {
  return turns.flatMap((turn) => {
    const retired = turn.hidden_by !== null ? ("forgotten" as const) : undefined;
    const base = { turn, check: null, retired };
    const recalled = turn.recalled.map(([kind, id]) => `${kind}:${id}`);
    const messages: Message[] = [];
    if (turn.query) messages.push({ ...base, key: `${turn.id}q`, role: "user", text: turn.query, recalled: [] });
    const text = turn.response || (shownAnswers.get(answerKey(turn)) ?? "");
    const answer: Message = { ...base, key: `${turn.id}r`, role: "assistant", text, recalled };
    if (text) messages.push(answer);
    else if (recalled.length && !retired) messages.push({ ...answer, notStored: true });
    return messages;
  });
}

export async function loadTurns(session: string, signal?: AbortSignal): Promise<Turn[]> {
  const page = await get<Page<Turn>>("/v1/memory/turns", { session, newest: true, limit: 100 }, signal);
  return page.items;
}

// The proxy relays the status of the configured upstream: its 401, 429 or 503 says nothing about this server, so the
// requests for a model and for an answer are quiet.

export async function listModels(signal?: AbortSignal): Promise<string[]> {
  const list = await call<{ data: { id: string }[] }>("GET", "/v1/models", { quiet: true, signal });
  return list.data.map((model) => model.id);
}

interface Request {
  model: string;
  session: string;
  mode: MemoryMode;
  history: readonly Message[];
  text: string;
  signal: AbortSignal;
  onText: (text: string) => void;
}

/** Send a message through the proxy. Returns the references of the recalled memories when the answer is complete. */
export async function streamAnswer(request: Request): Promise<string[]> {
  const history = request.history
    .filter((message) => message.text && !message.failed && !message.retired)
    .slice(-HISTORY_MESSAGES)
    .map(({ role, text }) => ({ role, content: text }));
  const response = await send("POST", "/v1/chat/completions", {
    body: { model: request.model, stream: true, messages: [...history, { role: "user", content: request.text }] },
    headers: {
      "X-Thinkback-User": headerValue(currentUser.get()),
      "X-Thinkback-Session": headerValue(request.session),
      "X-Thinkback-Memory": request.mode,
    },
    signal: request.signal,
    quiet: true,
  });
  let text = "";
  for await (const { data } of readEvents(response)) {
    if (data === "[DONE]") break;
    const chunk = JSON.parse(data);
    if (chunk.error) throw new Error(String(chunk.error.message ?? ""));
    const piece = chunk.choices?.[0]?.delta?.content;
    if (typeof piece === "string" && piece) request.onText((text += piece));
  }
  return (response.headers.get("X-Thinkback-Recalled") ?? "").split(/[,\s]+/).filter(Boolean);
}

/** Why there is no answer, in the words of the upstream or of this server. */
export function explainNoAnswer(error: unknown): string {
  if (!(error instanceof ApiError)) return explainError(error);
  // Whether it was this server (offline, busy, session ended) is what a request of its own tells the banner.
  void loadSession().catch(() => undefined);
  return error.message || explainError(error);
}

/** The turn that was just stored for `text`; its own text may be redacted. `before` are the messages before it. */
export async function storedTurn(session: string, text: string, before: readonly Message[]): Promise<Turn | null> {
  const page = await get<Page<Turn>>("/v1/memory/turns", { session, newest: true, limit: 1 });
  const turn = page.items.at(-1);
  const last = Math.max(0, ...before.map((message) => message.turn?.id ?? 0));
  return turn && (turn.id > last || turn.query.trim() === text.trim()) ? turn : null;
}

const LEARN_DELAYS_MS = [400, 800, 1600, 3200, 6400];

/** The thoughts that were drawn from a turn, once it has been thought over; none if that takes longer. */
export async function learnedFrom(turn: Turn): Promise<Thought[]> {
  for (const delay of LEARN_DELAYS_MS) {
    await new Promise((done) => setTimeout(done, delay));
    const { thought_at: thoughtAt } = await get<Turn>(`/v1/memory/turns/${turn.id}`);
    if (!thoughtAt) continue;
    const journal = await get<Page<Action>>("/v1/memory/journal/recent", { limit: 20 });
    const added = journal.items.filter((action) => action.turn === turn.id).flatMap((action) => action.after);
    return added.filter((thought) => thought.retired_at === null);
  }
  return [];
}

export function checkAnswer(query: string, answer: string, session: string): Promise<Check> {
  return post<Check>("/v1/memory/check", { query, answer, session });
}
