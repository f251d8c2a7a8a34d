import { useState } from "preact/hooks";
import type { ThoughtChange } from "../lib/changes";
import { t, term } from "../lib/i18n";
import { KINDS, type Thought } from "../lib/types";
import { Button, Dialog, Field } from "./basic";

interface EditProps {
  thought: Thought;
  onSave: (change: ThoughtChange) => Promise<boolean>;
  onClose: () => void;
}

const day = (value: string | null): string => (value ? value.slice(0, 10) : "");
const startOf = (value: string): string | null => (value ? `${value}T00:00:00Z` : null);
const endOf = (value: string): string | null => (value ? `${value}T23:59:59Z` : null);

/** Change the words, the value, the kind or the period of a thought. */
export function EditDialog({ thought, onSave, onClose }: EditProps) {
  const [sentence, setSentence] = useState(thought.sentence);
  const [value, setValue] = useState(thought.objects.join(", "));
  const [kind, setKind] = useState<string>(thought.kind);
  const [from, setFrom] = useState(day(thought.valid_from));
  const [to, setTo] = useState(day(thought.valid_to));
  const [busy, setBusy] = useState(false);
  const change: ThoughtChange = {};
  if (sentence.trim() !== thought.sentence) change.sentence = sentence.trim();
  if (value.trim() !== thought.objects.join(", ")) change.value = value.trim();
  if (kind !== thought.kind) change.kind = kind;
  if (from !== day(thought.valid_from)) change.valid_from = startOf(from);
  if (to !== day(thought.valid_to)) change.valid_to = endOf(to);
  const changed = Object.keys(change).length > 0 && sentence.trim() !== "";
  return (
    <Dialog title={t("edit.title")} onClose={onClose}>
      <form
        class="form"
        onSubmit={async (event) => {
          event.preventDefault();
          setBusy(true);
          if (!(await onSave(change))) setBusy(false);
        }}
      >
        <Field label={t("edit.sentence")}>
          {(id) => (
            <textarea id={id} rows={3} required value={sentence} onInput={(event) => setSentence(event.currentTarget.value)} />
          )}
        </Field>
        <Field label={t("thought.value")} hint={t("edit.valueHint")}>
          {(id, hint) => (
            <input id={id} aria-describedby={hint} value={value} onInput={(event) => setValue(event.currentTarget.value)} />
          )}
        </Field>
        <div class="two-fields">
          <Field label={t("edit.from")}>
            {(id) => <input id={id} type="date" value={from} onInput={(event) => setFrom(event.currentTarget.value)} />}
          </Field>
          <Field label={t("edit.to")}>
            {(id) => <input id={id} type="date" value={to} onInput={(event) => setTo(event.currentTarget.value)} />}
          </Field>
        </div>
        <Field label={t("filter.kind")}>
          {(id) => (
            <select id={id} value={kind} onChange={(event) => setKind(event.currentTarget.value)}>
              {KINDS.map((name) => (
                <option key={name} value={name}>
                  {term("kind", name)}
                </option>
              ))}
            </select>
          )}
        </Field>
        <p class="hint">{t("edit.hint")}</p>
        <footer class="actions">
          <Button onClick={onClose}>{t("action.cancel")}</Button>
          <Button tone="primary" type="submit" disabled={busy || !changed}>
            {t("action.save")}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

interface CorrectProps {
  text: string;
  onSave: (text: string) => Promise<boolean>;
  onClose: () => void;
}

/** Say what is true instead, in one's own words. */
export function CorrectDialog({ text, onSave, onClose }: CorrectProps) {
  const [words, setWords] = useState("");
  const [busy, setBusy] = useState(false);
  return (
    <Dialog title={t("correct.title")} onClose={onClose}>
      <form
        class="form"
        onSubmit={async (event) => {
          event.preventDefault();
          setBusy(true);
          if (!(await onSave(words.trim()))) setBusy(false);
        }}
      >
        <blockquote class="quote">{text}</blockquote>
        <Field label={t("correct.label")} hint={t("correct.hint")}>
          {(id, hint) => (
            <textarea
              id={id}
              rows={3}
              required
              aria-describedby={hint}
              placeholder={t("correct.placeholder")}
              value={words}
              onInput={(event) => setWords(event.currentTarget.value)}
            />
          )}
        </Field>
        <footer class="actions">
          <Button onClick={onClose}>{t("action.cancel")}</Button>
          <Button tone="primary" type="submit" disabled={busy || !words.trim()}>
            {t("action.correct")}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
