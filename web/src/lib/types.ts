/** Values of the server, as its routes send them. */

export type Kind = "profile" | "relationship" | "knowledge" | "event" | "dialogue";
export const KINDS: readonly Kind[] = ["profile", "relationship", "knowledge", "event", "dialogue"];

export interface Page<T> {
  items: T[];
  next: number | null;
}

export interface Session {
  open: boolean;
  authenticated: boolean;
  tenant: string | null;
  user: string | null;
  scopes: string[];
  key: string | null;
  expires_at: string | null;
  version: string;
  upstream: boolean;
  model: string | null;
  embedder: string;
  laboratory: boolean;
}

export interface Thought {
  ref?: string;
  id: number;
  subject: string;
  relation: string;
  objects: string[];
  sentence: string;
  kind: Kind;
  negated: boolean;
  valid_from: string | null;
  valid_to: string | null;
  recorded_at: string;
  retired_at: string | null;
  person?: string;
  group?: number | null;
  /** Turn, speaker, side, start and end of each quote; not sent with lists. */
  sources?: [number, string, string, number, number][];
}

/** The relation of thoughts that keep a sentence as it was said: their value is the sentence itself. */
export const IN_OWN_WORDS = "in own words";

export interface Turn {
  ref: string;
  id: number;
  session: string;
  query: string;
  response: string;
  at: string;
  recorded_at: string;
  thought_at: string | null;
  recalled: [string, number, number, number, number, number][];
  checks: { thought: number; words: string; reason: string; outcome: string }[];
  hidden_by: number | null;
}

export interface Action {
  ref: string;
  id: number;
  action: string;
  reason: string;
  actor: string;
  at: string;
  turn: number | null;
  undoes: number | null;
  undone_by: number | null;
  before: Thought[];
  after: Thought[];
  hides: number[];
}

export interface Browse extends Page<Thought> {
  total: number;
  counts: { kinds: Partial<Record<Kind, number>>; states: { current: number; past: number } };
  people: { name: string; count: number; aliases: string[] }[];
}

export interface ThoughtDetail {
  thought: Thought;
  group: number | null;
  sources: { turn: Turn; side: string; speaker: string; before: string; quote: string; after: string }[];
  history: (Thought & { actions: Action[] })[];
  replaced_by: Thought[];
  replaces: Thought[];
  actions: Action[];
  text: string;
  lines: string[];
}

export interface Stats {
  user: string;
  turns: number;
  thoughts: number;
  retired: number;
  entities: number;
  actions: number;
  pending: number;
  failed: number;
  groups: number;
  largest_group: number;
  embedder: string;
}

export interface ScorePart {
  name: string;
  value: number;
  weight: number;
  contribution: number;
}

export interface Candidate {
  rank: number | null;
  ref: string;
  kind: string;
  text: string;
  score: {
    total: number;
    cosine: number;
    lexical: number;
    sum: {
      parts: ScorePart[];
      linear: number;
      bent: number;
      adjustments: { why: string; before: number; after: number }[];
    } | null;
  };
  group: number;
  verdict: string;
  reason: string;
  past: { until: string; certain: boolean; replaced_by: unknown[] } | null;
  turn: Turn | null;
}

export interface Understanding {
  question: string;
  tense: string;
  manner: string;
  names: string[];
  aliases: string[];
  ways: string[];
  preset: string;
  spans: { words: string; start: string | null; end: string | null }[];
  searched: { kind: string; rows: number; candidates: number; probes: number; exact: boolean }[];
}

export interface Recollection {
  query: string;
  items: Candidate[];
  dropped: Candidate[];
  threshold: number;
  understanding: Understanding | null;
  receipt: { ms: Record<string, number> };
}

export interface Explained {
  recollection: Recollection;
  text: string;
  lines: string[];
  context: { messages: { role: string; content: string; tokens: number }[]; block: string; tokens: number };
}

export interface Conflict {
  thought: Thought;
  sentence: string;
  method: string;
  reason: string;
  score: number;
}

export interface Constraint {
  thought: Thought;
  kind: string;
  reason: string;
}

export interface Check {
  conflicts: Conflict[];
  constraints: Constraint[];
}

export interface TimelineItem {
  id: number;
  at: string;
  until: string | null;
  dated: boolean;
  sentence: string;
  kind: Kind;
  person: string;
  current: boolean;
}

export interface Timeline extends Page<TimelineItem> {
  total: number;
  first: string | null;
  last: string | null;
  buckets: { start: string; counts: Partial<Record<Kind, number>> }[];
  step: "day" | "month" | "year";
}

export interface Graph {
  nodes: { id: number; name: string; aliases: string[]; type: "user" | "person" | "thing"; thoughts: number }[];
  edges: { source: number; target: number; relation: string; negated: boolean; thought: number; current: boolean }[];
  total: number;
}

/** A group of similar thoughts, named by its most telling words. */
export interface Topic {
  group: number;
  count: number;
  label: string;
}

export interface GroupMap {
  method: string;
  points: [number, number, number, number, number][];
  kinds: Kind[];
  groups: (Topic & { x: number; y: number })[];
  ms: number;
}

export interface Health {
  version: string;
  user: string;
  queue: {
    pending: number;
    failed: number;
    failures: { turn: number; attempts: number; reason: string }[];
    backlog: number | null;
  };
  stats: Stats;
  models: { llm: string | null; embedder: string; upstream: boolean };
  usage: {
    tokens: Record<string, { prompt: number; completion: number }>;
    thoughts: Record<string, number>;
    requests: number;
    recalls: number;
    recalls_skipped: number;
  } | null;
  scrubs_pending: boolean;
  audit: {
    turns: number;
    thoughts: number;
    counts: Record<string, number>;
    findings: { concern: string; refs: string[]; reason: string; text: string }[];
  };
}

export interface ApiKey {
  id: string;
  tenant: string;
  user: string | null;
  scopes: string[];
  label: string;
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  session: boolean;
  mine: boolean;
}

export interface Patient {
  name: string;
  user: string;
  turns: number;
  thoughts: number;
  pending: number;
  visits: number;
  last_at: string | null;
}

export interface Summary {
  topic: string;
  conclusion: string;
  needs: string[];
  constraints: string[];
  facts: string[];
  to_clarify: string[];
  discussed: string[];
}

export interface Visit {
  session: string;
  first_at: string;
  last_at: string;
  turns: number;
  summary: Summary;
}

export interface RecordRow {
  category: string;
  item: string;
  result: string;
  at: string;
  last_at: string;
  denied: boolean;
  valid_from: string | null;
  valid_to: string | null;
  current: boolean;
  thought: number | null;
  turn: number;
  quote: string;
}

export interface Finding {
  item: string;
  label: { en: string; zh: string };
  unit: string;
  points: { at: string; values: number[]; text: string; turn: number; quote: string }[];
}

export interface PatientRecord {
  patient: string;
  notice: string;
  rows: RecordRow[];
  constraints: { kind: string; text: string; thought: number; at: string }[];
  medication: RecordRow[];
  findings: Finding[];
}

export interface Consultation {
  with_memory: { text: string; recalled: Candidate[]; constraints: Constraint[]; conflicts: Conflict[]; tokens: number };
  without_memory: { text: string; conflicts: Conflict[]; tokens: number };
  turn: Turn | null;
  by: string;
  notice: string;
}

export interface Run {
  name: string;
  dataset: string;
  system: string;
  settings: Record<string, unknown>;
  metrics: Record<string, number>;
  n: number;
  modified_at: string;
  has_questions: boolean;
}

export interface ComparedItem {
  case: string;
  id: string;
  category: string;
  question: string;
  expected: string;
  gold_texts: string[];
  runs: ({
    scores: Record<string, number>;
    answer: string | null;
    found: { text: string; score: number; gold: boolean }[];
  } | null)[];
}

export interface Comparison extends Page<ComparedItem> {
  runs: { name: string; label: string }[];
  metric: string;
  metrics: string[];
  categories: string[];
  total: number;
  different: number;
  means: (number | null)[];
}
