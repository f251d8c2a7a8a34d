import { Store } from "./store";

export interface Notice {
  id: number;
  text: string;
  tone: "info" | "error";
  action?: { label: string; run: () => void };
  /** The actions of the journal that it offers to undo. */
  undoes?: readonly number[];
}

const LIFETIME_MS = 8000;
let nextId = 1;

/** Short messages at the bottom of the page; a screen reader reads them aloud. */
export const notices = new Store<Notice[]>([]);

export function notify(text: string, tone: Notice["tone"] = "info", action?: Notice["action"], undoes?: readonly number[]): void {
  const id = nextId++;
  notices.update((list) => [...list.slice(-2), { id, text, tone, action, undoes }]);
  setTimeout(() => dismiss(id), tone === "error" ? LIFETIME_MS * 2 : LIFETIME_MS);
}

export function dismiss(id: number): void {
  notices.update((list) => list.filter((notice) => notice.id !== id));
}

/** An action was undone elsewhere: no notice offers it any more. */
export function dismissUndo(action: number): void {
  notices.update((list) => list.filter((notice) => !notice.undoes?.includes(action)));
}
