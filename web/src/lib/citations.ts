/** A memory that an answer cites, such as [thought:7] or [turn:3]. */
export interface Citation {
  kind: "thought" | "turn";
  id: number;
}

const CITATION = /\s*\[(thought|turn):(\d+)\]/g;

/** The text between citations as strings, and the citations themselves, in order. */
export function splitCitations(text: string): (string | Citation)[] {
  const parts: (string | Citation)[] = [];
  let end = 0;
  for (const match of text.matchAll(CITATION)) {
    parts.push(text.slice(end, match.index), { kind: match[1] as Citation["kind"], id: Number(match[2]) });
    end = match.index + match[0].length;
  }
  return [...parts, text.slice(end)].filter((part) => part !== "");
}

/** The memories that an answer cites, each once. */
export function citations(text: string): Citation[] {
  const found = splitCitations(text).filter((part) => typeof part !== "string");
  return found.filter((part, index) => found.findIndex((other) => other.kind === part.kind && other.id === part.id) === index);
}

export function withoutCitations(text: string): string {
  return splitCitations(text)
    .filter((part) => typeof part === "string")
    .join("");
}
