import { useEffect, useState } from "preact/hooks";
import { call, connection, currentUser, get, headerValue, setUser } from "../lib/api";
import { forgetAnswers } from "../lib/chat";
import { type Key, language, setLanguage, t } from "../lib/i18n";
import { href } from "../lib/router";
import { can, loadSession, session, signOut } from "../lib/session";
import { useStore } from "../lib/store";
import { isDark, setTheme, theme } from "../lib/theme";
import type { Page, Stats } from "../lib/types";
import { Button, Dialog, Failure, Field } from "./basic";
import { Icon, type IconName } from "./icon";

export interface ViewEntry {
  name: string;
  label: Key;
  icon: IconName;
  /** Typed after "g", this key opens the view. */
  shortcut: string;
}

export const VIEWS: readonly ViewEntry[] = [
  { name: "chat", label: "nav.chat", icon: "chat", shortcut: "c" },
  { name: "memory", label: "nav.memory", icon: "memory", shortcut: "m" },
  { name: "timeline", label: "nav.timeline", icon: "timeline", shortcut: "t" },
  { name: "why", label: "nav.why", icon: "why", shortcut: "w" },
  { name: "journal", label: "nav.journal", icon: "journal", shortcut: "j" },
  { name: "health", label: "nav.health", icon: "health", shortcut: "h" },
  { name: "clinic", label: "nav.clinic", icon: "clinic", shortcut: "p" },
  { name: "laboratory", label: "nav.laboratory", icon: "laboratory", shortcut: "l" },
];

/** The name of a view; of an address without one, that it is unknown. */
export function viewLabel(name: string): Key {
  return VIEWS.find((view) => view.name === name)?.label ?? "nav.unknown";
}

/** The views that whoever is signed in may see. */
export function availableViews(): readonly ViewEntry[] {
  return VIEWS.filter((view) => view.name !== "laboratory" || (session.get()?.laboratory && can("admin")));
}

const RETRY_MS = 4000;
const MAX_USER_CHARS = 256;

/** Says plainly what is wrong with the connection, and tries again by itself. */
export function Banner() {
  const state = useStore(connection);
  useEffect(() => {
    if (state === "online") return;
    const timer = setInterval(() => void loadSession().catch(() => undefined), RETRY_MS);
    return () => clearInterval(timer);
  }, [state]);
  if (state === "online" || state === "signed out") return null;
  const texts: Record<string, Key> = {
    offline: "banner.offline",
    "too many requests": "banner.tooMany",
    unavailable: "banner.unavailable",
  };
  return (
    <div class="banner" role="alert">
      <Icon name="warning" />
      <span>{t(texts[state]!)}</span>
      <Button onClick={() => void loadSession().catch(() => undefined)}>{t("action.retry")}</Button>
    </div>
  );
}

export function Topbar({ view, open, onToggle }: { view: string; open: boolean; onToggle: () => void }) {
  return (
    <header class="topbar">
      <Button icon="menu" tone="quiet" label={t(open ? "nav.closeMenu" : "nav.openMenu")} onClick={onToggle} />
      <strong>{t(viewLabel(view))}</strong>
    </header>
  );
}

interface SidebarProps {
  view: string;
  open: boolean;
  onHelp: () => void;
  onClose: () => void;
}

export function Sidebar({ view, open, onHelp, onClose }: SidebarProps) {
  const chosen = useStore(language);
  useStore(theme);
  const who = useStore(session);
  const user = useStore(currentUser);
  const [choosing, setChoosing] = useState(false);
  const leave = () => {
    forgetAnswers();
    void signOut();
  };
  const available = availableViews();
  const entries = VIEWS.filter((entry) => available.includes(entry) || entry.name === view);
  useEffect(() => {
    if (!open) return;
    const close = (event: KeyboardEvent) => event.key === "Escape" && onClose();
    window.addEventListener("keydown", close);
    return () => window.removeEventListener("keydown", close);
  }, [open]);
  return (
    <div class={`sidebar${open ? " open" : ""}`}>
      <a class="brand" href={href("chat")}>
        <img src="/favicon.svg" alt="" width={24} height={24} />
        thinkback
      </a>
      <nav aria-label={t("nav.label")}>
        <ul>
          {entries.map((entry) => (
            <li key={entry.name}>
              <a href={href(entry.name)} aria-current={entry.name === view ? "page" : undefined} onClick={onClose}>
                <Icon name={entry.icon} />
                {t(entry.label)}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div class="settings">
        <div class="setting-row">
          <Button icon="person" tone="quiet" onClick={() => setChoosing(true)} label={t("user.choose", { user })}>
            <span class="user-name">{user}</span>
          </Button>
        </div>
        <div class="setting-row">
          <Button
            tone="quiet"
            icon={isDark() ? "sun" : "moon"}
            label={t(isDark() ? "theme.light" : "theme.dark")}
            onClick={() => setTheme(isDark() ? "light" : "dark")}
          />
          <Button
            tone="quiet"
            label={t("language.switch")}
            title={t("language.switch")}
            onClick={() => setLanguage(chosen === "en" ? "zh" : "en")}
          >
            <span lang={chosen === "en" ? "zh-Hans" : "en"}>{chosen === "en" ? "中文" : "English"}</span>
          </Button>
          <Button tone="quiet" icon="help" label={t("shortcuts.open")} onClick={onHelp} />
          {who && !who.open && <Button tone="quiet" icon="key" label={t("session.signOut")} onClick={leave} />}
        </div>
      </div>
      {choosing && <UserDialog onClose={() => setChoosing(false)} />}
    </div>
  );
}

/** Choose whose memory is shown. Administrators see a list; a key bound to one user cannot change it. */
function UserDialog({ onClose }: { onClose: () => void }) {
  const who = useStore(session);
  const [name, setName] = useState(currentUser.get());
  const [users, setUsers] = useState<Stats[]>([]);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    if (can("admin"))
      get<Page<Stats>>("/v1/memory/users", { limit: 200 }).then(
        (page) => setUsers(page.items),
        () => undefined,
      );
  }, []);
  const bound = who?.user !== null;
  return (
    <Dialog title={t("user.title")} onClose={onClose}>
      <form
        class="plain-list"
        onSubmit={async (event) => {
          event.preventDefault();
          const chosen = name.trim();
          try {
            if (chosen && !bound) {
              // The server decides which names are valid; an invalid one is not saved.
              const headers = { "X-Thinkback-User": headerValue(chosen) };
              await call("GET", "/v1/memory/sessions", { query: { limit: 1 }, headers });
              setUser(chosen);
            }
            onClose();
          } catch (failure) {
            setError(failure);
          }
        }}
      >
        {error ? <Failure error={error} /> : null}
        <Field label={t("user.name")} hint={t(bound ? "user.bound" : "user.hint")}>
          {(id, hint) => (
            <input
              id={id}
              aria-describedby={hint}
              list="known-users"
              maxLength={MAX_USER_CHARS}
              value={name}
              disabled={bound}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          )}
        </Field>
        <datalist id="known-users">
          {users.map((item) => (
            <option key={item.user} value={item.user} />
          ))}
        </datalist>
        {who && !who.open && <p class="hint">{t("session.of", { tenant: who.tenant ?? "", scopes: who.scopes.join(", ") })}</p>}
        <footer class="actions">
          <Button onClick={onClose}>{t("action.cancel")}</Button>
          <Button tone="primary" type="submit" disabled={bound}>
            {t("user.show")}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
