import { readSetting, Store, writeSetting } from "./store";

export type Theme = "system" | "light" | "dark";

const THEMES: readonly Theme[] = ["system", "light", "dark"];
const darkPreference = window.matchMedia("(prefers-color-scheme: dark)");
const saved = readSetting("theme") as Theme | null;

export const theme = new Store<Theme>(saved && THEMES.includes(saved) ? saved : "system");
/** Counts changes of colours, so that canvases are drawn again. */
export const colourVersion = new Store(0);

export function setTheme(value: Theme): void {
  writeSetting("theme", value);
  theme.set(value);
  apply();
}

export function isDark(): boolean {
  return theme.get() === "dark" || (theme.get() === "system" && darkPreference.matches);
}

function apply(): void {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  colourVersion.update((count) => count + 1);
}

darkPreference.addEventListener("change", apply);
apply();

/** A colour of the style sheet, for canvases. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
