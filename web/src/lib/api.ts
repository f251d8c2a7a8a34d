import { readSetting, Store, writeSetting } from "./store";

/** A request that failed. `status` is 0 if the server could not be reached. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly retryAfter: number | null = null,
  ) {
    super(message);
  }
}

export type Connection = "online" | "offline" | "signed out" | "too many requests" | "unavailable";

/** What the banner at the top of the page says about the server. */
export const connection = new Store<Connection>("online");
/** The user whose memory is shown; a key that is bound to a user decides it on the server. */
export const currentUser = new Store<string>(readSetting("user") || "default");
/** While a patient is shown, requests are about that patient's memory. */
export const patientUser = new Store<string | null>(null);
/** Increased by every change of the memory, so that views load again. */
export const memoryVersion = new Store(0);

export function setUser(name: string): void {
  writeSetting("user", name);
  currentUser.set(name);
}

/** The user that requests are about. */
export function activeUser(): string {
  return patientUser.get() ?? currentUser.get();
}

export function memoryChanged(): void {
  memoryVersion.update((count) => count + 1);
}

const CONNECTION_OF_STATUS: Record<number, Connection> = {
  0: "offline",
  401: "signed out",
  429: "too many requests",
  503: "unavailable",
};

interface RequestOptions {
  body?: unknown;
  query?: Record<string, string | number | boolean | null | undefined>;
  signal?: AbortSignal;
  headers?: Record<string, string>;
  /** The banner is not changed by this request. */
  quiet?: boolean;
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** Header values are bytes; names with other characters travel as UTF-8, as the server expects them. */
export function headerValue(text: string): string {
  return String.fromCharCode(...new TextEncoder().encode(text));
}

export function url(path: string, query: RequestOptions["query"] = {}): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") params.set(name, String(value));
  }
  const text = params.toString();
  return text ? `${path}?${text}` : path;
}

/** Send a request and return the response; throws `ApiError` for every status that is not 2xx. */
export async function send(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
  const headers: Record<string, string> = { "X-Thinkback-Web": "1", ...options.headers };
  // The session is not about a user: the page must open whatever name was saved.
  if (path.startsWith("/v1/") && !path.startsWith("/v1/web/")) headers["X-Thinkback-User"] ??= headerValue(activeUser());
  if (options.body !== undefined) headers["Content-Type"] = "application/json";
  let response: Response;
  try {
    response = await fetch(url(path, options.query), {
      method,
      headers,
      body: options.body === undefined ? undefined : JSON.stringify(options.body),
      signal: options.signal,
      credentials: "same-origin",
      cache: "no-store",
    });
  } catch (error) {
    if (isAbort(error)) throw error;
    if (!options.quiet) connection.set("offline");
    throw new ApiError(0, "offline", "");
  }
  if (!options.quiet) connection.set(CONNECTION_OF_STATUS[response.status] ?? "online");
  if (!response.ok) throw await errorOf(response);
  return response;
}

async function errorOf(response: Response): Promise<ApiError> {
  let code = "";
  let message = "";
  try {
    const body = await response.json();
    const error = body?.error ?? body;
    code = String(error?.code ?? error?.type ?? "");
    message = String(error?.message ?? body?.detail ?? "");
  } catch {
    // Not JSON: the status says enough.
  }
  const seconds = Number(response.headers.get("Retry-After"));
  return new ApiError(response.status, code, message, seconds > 0 ? seconds : null);
}

export async function call<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
  const response = await send(method, path, options);
  return (response.status === 204 ? null : await response.json()) as T;
}

/** `fallback` where the server says that there is nothing yet (404). */
export async function orMissing<T>(request: Promise<T>, fallback: T): Promise<T> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return fallback;
    throw error;
  }
}

export const get = <T>(path: string, query?: RequestOptions["query"], signal?: AbortSignal): Promise<T> =>
  call<T>("GET", path, { query, signal });
export const post = <T>(path: string, body: unknown = {}, signal?: AbortSignal): Promise<T> =>
  call<T>("POST", path, { body, signal });

/** The events of a server-sent event stream, one string of data each. */
export async function* readEvents(response: Response): AsyncGenerator<{ event: string; data: string }> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      rest += value.replaceAll("\r\n", "\n");
      let end = rest.indexOf("\n\n");
      while (end >= 0) {
        const block = rest.slice(0, end);
        rest = rest.slice(end + 2);
        end = rest.indexOf("\n\n");
        let event = "message";
        const data: string[] = [];
        for (const line of block.split("\n")) {
          if (line.startsWith("event:")) event = line.slice(6).trim();
          else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
        }
        if (data.length) yield { event, data: data.join("\n") };
      }
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}
