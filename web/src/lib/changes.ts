import { ApiError, call, memoryChanged, post } from "./api";
import type { Citation } from "./citations";
import { forgetAnswers } from "./chat";
import { explainError } from "./errors";
import { t } from "./i18n";
import { dismissUndo, notify } from "./notices";
import type { Action, Thought, Turn } from "./types";

/** Changes of the memory that the page can make. Each tells the user what happened and offers to undo it. */

function offerUndo(text: string, action: Action): void {
  notify(text, "info", { label: t("action.undo"), run: () => void undo(action.id) }, [action.id]);
}

/** Run a change after it has been shown; if it fails, `rollBack` restores the view and the reason is told. */
async function attempt<T>(change: () => Promise<T>, rollBack?: () => void): Promise<T | null> {
  try {
    const result = await change();
    memoryChanged();
    return result;
  } catch (error) {
    rollBack?.();
    notify(t("notice.rolledBack", { reason: explainError(error) }), "error");
    if (error instanceof ApiError && (error.status === 404 || error.status === 409)) memoryChanged();
    return null;
  }
}

export async function forgetThought(id: number, rollBack?: () => void): Promise<void> {
  const action = await attempt(
    () => call<Action>("DELETE", `/v1/memory/thoughts/${id}`, { query: { reason: "forgotten on the web page" } }),
    rollBack,
  );
  if (action) offerUndo(t("notice.forgotten"), action);
}

/** Forget thoughts and turns together. `rollBack` is also called when the user undoes it. */
export async function forgetMemories(memories: readonly Citation[], rollBack: () => void): Promise<void> {
  const actions: Action[] = [];
  const done = await attempt(async () => {
    for (const { kind, id } of memories) {
      const query = { reason: "forgotten on the web page" };
      actions.unshift(await call<Action>("DELETE", `/v1/memory/${kind}s/${id}`, { query }));
    }
    return true;
  }, rollBack);
  if (!done) return;
  const undoAll = async () => {
    for (const action of actions) if (!(await undo(action.id))) return;
    rollBack();
  };
  notify(t("notice.forgotten"), "info", { label: t("action.undo"), run: () => void undoAll() }, actions.map(({ id }) => id));
}

export interface ThoughtChange {
  sentence?: string;
  value?: string;
  kind?: string;
  valid_from?: string | null;
  valid_to?: string | null;
}

export async function editThought(id: number, change: ThoughtChange): Promise<Thought | null> {
  const action = await attempt(() =>
    call<Action>("PATCH", `/v1/memory/thoughts/${id}`, { body: { ...change, reason: "edited on the web page" } }),
  );
  if (!action) return null;
  offerUndo(t("notice.edited"), action);
  return action.after.find((thought) => thought.id !== id) ?? action.after[0] ?? null;
}

export async function correct(kind: "thoughts" | "turns", id: number, text: string, sessionName: string): Promise<Turn | null> {
  const turn = await attempt(() =>
    post<Turn>(`/v1/memory/${kind}/${id}/correct`, { text, reason: "corrected on the web page", session: sessionName }),
  );
  if (turn) notify(t("notice.corrected"));
  return turn;
}

export async function remember(text: string, sessionName: string): Promise<Turn | null> {
  const body = { query: text, response: "", session: sessionName, key: randomKey() };
  const result = await attempt(() => post<{ turns: Turn[] }>("/v1/memory/turns", body));
  if (result) notify(t("notice.remembered"));
  return result?.turns[0] ?? null;
}

export async function undo(id: number, rollBack?: () => void): Promise<Action | null> {
  const action = await attempt(() => post<Action>(`/v1/memory/journal/${id}/undo`), rollBack);
  if (action) {
    dismissUndo(id);
    notify(t("notice.undone"));
  }
  return action;
}

export async function eraseTurn(id: number): Promise<boolean> {
  const result = await attempt(() =>
    post<{ turns: number; thoughts: number; bytes_pending: boolean }>("/v1/memory/erase", { turn: id }),
  );
  if (result) {
    forgetAnswers();
    const text = t("notice.erased", { turns: result.turns, thoughts: result.thoughts });
    notify(result.bytes_pending ? `${text} ${t("notice.bytesPending")}` : text);
  }
  return result !== null;
}

export async function eraseAll(): Promise<boolean> {
  const result = await attempt(() => post<{ turns: number; thoughts: number }>("/v1/memory/erase", { all: true }));
  if (result) {
    forgetAnswers();
    notify(t("notice.erased", { turns: result.turns, thoughts: result.thoughts }));
  }
  return result !== null;
}

/** An idempotency key. `randomUUID` exists only in secure contexts. */
export function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
