import { useEffect, useState } from "preact/hooks";
import { t } from "../lib/i18n";
import { navigate, replaceParams, route } from "../lib/router";
import { readSetting, writeSetting } from "../lib/store";
import { Dialog } from "./basic";
import { availableViews } from "./navigation";

const SEQUENCE_MS = 1200;
let enabled = readSetting("shortcuts") !== "off";

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

/** Keys that work everywhere: "/" searches, "g" and a letter opens a view, "?" lists the keys. */
export function useShortcuts(openHelp: () => void): void {
  useEffect(() => {
    let sequenceUntil = 0;
    const press = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !document.querySelector("dialog[open]") && route.get().params.get("thought")) {
        replaceParams({ thought: null });
        return;
      }
      if (!enabled || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector("dialog[open]")) return;
      if (Date.now() < sequenceUntil) {
        sequenceUntil = 0;
        const entry = availableViews().find((view) => view.shortcut === event.key);
        if (entry) {
          event.preventDefault();
          event.stopImmediatePropagation();
          navigate(entry.name);
        }
      } else if (event.key === "g") {
        sequenceUntil = Date.now() + SEQUENCE_MS;
      } else if (event.key === "/") {
        event.preventDefault();
        document.querySelector<HTMLInputElement>("main input[type=search], main textarea")?.focus();
      } else if (event.key === "?") {
        event.preventDefault();
        openHelp();
      }
    };
    window.addEventListener("keydown", press, true);
    return () => window.removeEventListener("keydown", press, true);
  }, []);
}

export function Shortcuts({ onClose }: { onClose: () => void }) {
  const [on, setOn] = useState(enabled);
  const rows: [string[], string][] = [
    [["/"], t("shortcuts.search")],
    ...availableViews().map((view): [string[], string] => [["g", view.shortcut], t(view.label)]),
    [["↑", "↓"], t("shortcuts.move")],
    [["Enter"], t("shortcuts.details")],
    [["e"], t("shortcuts.edit")],
    [["Delete"], t("shortcuts.forget")],
    [["+", "−"], t("shortcuts.zoom")],
    [["0"], t("shortcuts.showAll")],
    [["Esc"], t("shortcuts.close")],
    [["?"], t("shortcuts.open")],
  ];
  return (
    <Dialog title={t("shortcuts.open")} onClose={onClose}>
      <dl class="pairs">
        {rows.map(([keys, text]) => (
          <>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </>
        ))}
      </dl>
      <label class="check">
        <input
          type="checkbox"
          checked={on}
          onChange={(event) => {
            enabled = event.currentTarget.checked;
            writeSetting("shortcuts", enabled ? "on" : "off");
            setOn(enabled);
          }}
        />
        {t("shortcuts.enabled")}
      </label>
    </Dialog>
  );
}
