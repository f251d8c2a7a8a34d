import { get, orMissing } from "./api";
import type { Page } from "./types";

/** What the clinic has about a patient; `fallback` for one of whom nothing is stored yet, which is not asked for. */
export async function getOfPatient<T>(
  name: string,
  resource: "visits" | "record",
  fallback: T,
  query: Record<string, number>,
  signal: AbortSignal,
): Promise<T> {
  const sessions = await get<Page<string>>("/v1/memory/sessions", { user: `patient:${name}`, limit: 1 }, signal);
  if (!sessions.items.length) return fallback;
  return orMissing(get<T>(`/v1/clinic/patients/${encodeURIComponent(name)}/${resource}`, query, signal), fallback);
}
