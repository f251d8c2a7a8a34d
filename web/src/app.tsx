import type { ComponentChild } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Empty, Failure, Loading, Notices } from "./components/basic";
import { Banner, Sidebar, Topbar, viewLabel } from "./components/navigation";
import { Shortcuts, useShortcuts } from "./components/shortcuts";
import { ThoughtPanel } from "./components/thought-panel";
import { connection, currentUser } from "./lib/api";
import { language, t } from "./lib/i18n";
import { href, replaceParams, route } from "./lib/router";
import { loadSession, session } from "./lib/session";
import { useStore } from "./lib/store";
import { ChatView } from "./views/chat";
import { ClinicView } from "./views/clinic";
import { HealthView } from "./views/health";
import { JournalView } from "./views/journal";
import { LaboratoryView } from "./views/laboratory";
import { MemoryView } from "./views/memory";
import { SignInView } from "./views/sign-in";
import { TimelineView } from "./views/timeline";
import { WhyView } from "./views/why";

/** What an address shows that names no view. */
function UnknownView() {
  return (
    <div class="view">
      <h1 class="view-title">{t("nav.unknown")}</h1>
      <Empty icon="help" title={t("nav.unknownTitle")}>
        <p>{t("nav.unknownHint")}</p>
        <a class="button primary" href={href("memory")}>
          {t("nav.memory")}
        </a>
      </Empty>
    </div>
  );
}

const COMPONENTS: Record<string, () => ComponentChild> = {
  chat: ChatView,
  memory: MemoryView,
  timeline: TimelineView,
  why: WhyView,
  journal: JournalView,
  health: HealthView,
  clinic: ClinicView,
  laboratory: LaboratoryView,
};

export function App() {
  const chosen = useStore(language);
  const who = useStore(session);
  const user = useStore(currentUser);
  const state = useStore(connection);
  const [error, setError] = useState<unknown>(null);
  const load = () => {
    setError(null);
    loadSession().catch(setError);
  };
  useEffect(load, []);

  if (error && !who) {
    return (
      <main class="view">
        <h1>thinkback</h1>
        <Failure error={error} retry={load} />
      </main>
    );
  }
  if (!who) return <Loading />;
  if (!who.authenticated || state === "signed out") {
    return (
      <>
        <SignInView key={chosen} expired={who.authenticated} />
        <Notices />
      </>
    );
  }
  // Another user or language starts every view afresh: nothing of the former one stays on the screen.
  return <SignedIn key={`${chosen}:${who.tenant}:${user}`} />;
}

function SignedIn() {
  const { view, params } = useStore(route);
  const [menuOpen, setMenuOpen] = useState(false);
  const [helpOpen, setHelpOpen] = useState(false);
  const content = useRef<HTMLElement>(null);
  const opened = useRef(false);
  const name = Object.hasOwn(COMPONENTS, view) ? view : "";
  const View = COMPONENTS[name] ?? UnknownView;
  const thought = Number(params.get("thought")) || null;
  useShortcuts(() => setHelpOpen(true));
  useEffect(() => {
    document.title = `${t(viewLabel(name))} · thinkback`;
    setMenuOpen(false);
    // A new view takes the focus, so that a screen reader reads it; the first one leaves it at the top.
    if (opened.current) content.current?.focus({ preventScroll: true });
    opened.current = true;
  }, [name]);
  return (
    <div class={`page${thought ? " with-panel" : ""}`}>
      <a
        class="skip-link"
        href="#content"
        onClick={(event) => {
          event.preventDefault();
          content.current?.focus();
        }}
      >
        {t("nav.skip")}
      </a>
      <Banner />
      <Topbar view={name} open={menuOpen} onToggle={() => setMenuOpen(!menuOpen)} />
      <Sidebar view={name} open={menuOpen} onHelp={() => setHelpOpen(true)} onClose={() => setMenuOpen(false)} />
      <main id="content" ref={content} tabIndex={-1}>
        <View key={name} />
      </main>
      {thought && <ThoughtPanel key={thought} id={thought} onClose={() => replaceParams({ thought: null })} />}
      {helpOpen && <Shortcuts onClose={() => setHelpOpen(false)} />}
      <Notices />
    </div>
  );
}
