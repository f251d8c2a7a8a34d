import { useState } from "preact/hooks";
import { Button, Failure, Field } from "../components/basic";
import { ApiError } from "../lib/api";
import { language, setLanguage, t } from "../lib/i18n";
import { signIn } from "../lib/session";

/** Sign in with a key. It is exchanged for a cookie that scripts cannot read, and kept nowhere else. */
export function SignInView({ expired }: { expired: boolean }) {
  const [key, setKey] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      await signIn(key.trim());
    } catch (failure) {
      const wrong = failure instanceof ApiError && failure.status === 401;
      setError(wrong ? new Error(t("session.wrongKey")) : failure);
      setBusy(false);
    }
  };
  return (
    <main class="view">
      <form class="sign-in card" onSubmit={submit}>
        <h1>thinkback</h1>
        <p class="muted">{t(expired ? "session.expired" : "session.explain")}</p>
        {error ? <Failure error={error} /> : null}
        <Field label={t("session.key")} hint={t("session.keyHint")}>
          {(id, hint) => (
            <input
              id={id}
              type="password"
              name="key"
              autocomplete="current-password"
              aria-describedby={hint}
              required
              value={key}
              onInput={(event) => setKey(event.currentTarget.value)}
            />
          )}
        </Field>
        <div class="actions">
          <Button tone="primary" type="submit" disabled={busy || !key.trim()}>
            {t("session.signIn")}
          </Button>
          <Button tone="quiet" label={t("language.switch")} onClick={() => setLanguage(language.get() === "en" ? "zh" : "en")}>
            {language.get() === "en" ? "中文" : "English"}
          </Button>
        </div>
      </form>
    </main>
  );
}
