import { call, connection, get, setUser } from "./api";
import { Store } from "./store";
import type { Session } from "./types";

/** Who is signed in; null until the server has said so. */
export const session = new Store<Session | null>(null);

export async function loadSession(): Promise<void> {
  accept(await get<Session>("/v1/web/session"));
}

/** Exchange a key for a session cookie. The key itself is not kept by the page. */
export async function signIn(key: string): Promise<void> {
  accept(await call<Session>("POST", "/v1/web/session", { body: { key }, quiet: true }));
  connection.set("online");
}

export async function signOut(): Promise<void> {
  await call<null>("DELETE", "/v1/web/session");
  await loadSession();
}

function accept(value: Session): void {
  if (value.user !== null) setUser(value.user);
  session.set(value);
}

export function can(scope: "read" | "write" | "admin"): boolean {
  return session.get()?.scopes.includes(scope) ?? false;
}
