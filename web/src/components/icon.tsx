/** Line icons, drawn for this page on a grid of 20 by 20. */
const PATHS = {
  chat: "M3.5 4.5h13v8.5h-7l-3.5 3v-3H3.5z",
  memory: "M4 5h12M4 10h12M4 15h7",
  timeline: "M3 10h14M6 10V6.5M10 10v4M14 10V4.5",
  why: "M7.3 7.4a2.8 2.8 0 1 1 4 2.5c-.9.4-1.3 1-1.3 2.1M10 15.2v.1",
  journal: "M5 3.5h10v13H5zM7.5 7h5M7.5 10h5M7.5 13h3",
  health: "M2.5 10.5h3.5l2-5 3.5 9 2-4h4",
  clinic: "M10 3.5v13M3.5 10h13",
  laboratory: "M8 3.5h4M8.8 3.5v5L4.5 16.5h11l-4.3-8v-5M7 12.5h6",
  search: "M8.8 14.1a5.3 5.3 0 1 0 0-10.6 5.3 5.3 0 0 0 0 10.6zM12.8 12.8l3.7 3.7",
  close: "M5 5l10 10M15 5L5 15",
  menu: "M3 5.5h14M3 10h14M3 14.5h14",
  undo: "M7.5 4.5L4 8l3.5 3.5M4.5 8h7a4 4 0 0 1 0 8H8",
  edit: "M4 16l.8-3.4L13.3 4l2.7 2.7-8.6 8.5z",
  forget: "M4 10h12",
  erase: "M4.5 6h11M8 6V4h4v2M6 6l.7 10.5h6.6L14 6",
  plus: "M10 4.5v11M4.5 10h11",
  send: "M3.5 10l13-6-4.5 13-2.5-5.5z",
  download: "M10 3.5v9M6.5 9l3.5 3.5L13.5 9M4 16.5h12",
  sun: "M10 13a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM10 2.5v2M10 15.5v2M2.5 10h2M15.5 10h2M4.7 4.7l1.4 1.4M13.9 13.9l1.4 1.4M4.7 15.3l1.4-1.4M13.9 6.1l1.4-1.4",
  moon: "M16 11.8A6.5 6.5 0 0 1 8.2 4a6.5 6.5 0 1 0 7.8 7.8z",
  warning: "M10 3.5l7 12.5H3zM10 8v4M10 13.9v.1",
  key: "M12.5 10.5a3.5 3.5 0 1 0-3-3L3.5 13.5v3h3v-2h2v-2z",
  person: "M10 9.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM4 16.5c.6-3.2 2.9-5 6-5s5.4 1.8 6 5",
  help: "M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM8 8a2 2 0 1 1 2.9 1.8c-.7.3-.9.7-.9 1.4M10 13.6v.1",
  check: "M4.5 10.5l3.5 3.5 7.5-8",
  pin: "M10 17s5-5 5-8.5a5 5 0 0 0-10 0C5 12 10 17 10 17z",
} as const;

export type IconName = keyof typeof PATHS;

/** A decorative icon: what it means is said by a label beside it. */
export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" />
    </svg>
  );
}
