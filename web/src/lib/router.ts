import { Store } from "./store";

/** The route is in the fragment of the URL: `#/memory?thought=7`. Fragments are never sent to a server. */
export interface Route {
  view: string;
  path: string[];
  params: URLSearchParams;
}

export function parseRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const parts = path.split("/").map(decode);
  return { view: parts[0] || "chat", path: parts.slice(1), params: new URLSearchParams(query) };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const route = new Store<Route>(parseRoute(location.hash));

window.addEventListener("hashchange", () => route.set(parseRoute(location.hash)));

export function href(view: string, path: string[] = [], params: Record<string, string> = {}): string {
  const query = new URLSearchParams(params).toString();
  return `#/${[view, ...path.map(encodeURIComponent)].join("/")}${query ? `?${query}` : ""}`;
}

export function navigate(view: string, path: string[] = [], params: Record<string, string> = {}): void {
  location.hash = href(view, path, params);
}

/** Change parameters of the current route without a new entry in the browser's history. */
export function replaceParams(changes: Record<string, string | null>): void {
  const { view, path, params } = route.get();
  const next = new URLSearchParams(params);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") next.delete(name);
    else next.set(name, value);
  }
  history.replaceState(null, "", href(view, path, Object.fromEntries(next)));
  route.set(parseRoute(location.hash));
}
