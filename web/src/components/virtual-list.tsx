import type { ComponentChildren, TargetedKeyboardEvent } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

interface VirtualListProps {
  label: string;
  count: number;
  rowHeight: number;
  /** The row that has the keyboard focus within the list; -1 for none. */
  active: number;
  onActive: (index: number) => void;
  onOpen: (index: number) => void;
  /** Called with the rows that are about to be visible, so that their data can be loaded. */
  onRange?: (first: number, last: number) => void;
  row: (index: number) => ComponentChildren;
  /** Further keys of a row, for example Delete. */
  onKey?: (event: KeyboardEvent, index: number) => void;
}

const OVERSCAN_ROWS = 8;
// Browsers limit the height of an element (about 33 million pixels in Chromium).
const MAX_HEIGHT_PX = 8_000_000;

/** A list that draws only its visible rows, so that its length does not matter. Rows have one height. */
export function VirtualList(props: VirtualListProps) {
  const { label, count, rowHeight, active, row } = props;
  const element = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  useEffect(() => {
    const list = element.current!;
    const observer = new ResizeObserver(() => setView({ top: list.scrollTop, height: list.clientHeight }));
    observer.observe(list);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    const list = element.current!;
    if (list.scrollTop > count * rowHeight) list.scrollTop = 0;
  }, [count, rowHeight]);

  const first = Math.max(0, Math.floor(view.top / rowHeight) - OVERSCAN_ROWS);
  const last = Math.min(count, Math.ceil((view.top + view.height) / rowHeight) + OVERSCAN_ROWS);
  useEffect(() => props.onRange?.(first, last), [first, last, count, props.onRange]);

  const select = (index: number) => {
    const next = Math.max(0, Math.min(count - 1, index));
    props.onActive(next);
    const list = element.current!;
    const top = next * rowHeight;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (top + rowHeight > list.scrollTop + list.clientHeight) list.scrollTop = top + rowHeight - list.clientHeight;
  };
  const press = (event: TargetedKeyboardEvent<HTMLDivElement>) => {
    const page = Math.max(1, Math.floor(view.height / rowHeight) - 1);
    const moves: Record<string, number> = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      j: active + 1,
      k: active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: count - 1,
    };
    const target = event.ctrlKey || event.metaKey || event.altKey ? undefined : moves[event.key];
    if (target !== undefined) {
      event.preventDefault();
      select(target);
    } else if (event.key === "Enter" && active >= 0) {
      event.preventDefault();
      props.onOpen(active);
    } else if (active >= 0) props.onKey?.(event, active);
  };

  const rows = [];
  for (let index = first; index < last; index++) {
    rows.push(
      <div
        key={index}
        id={`row-${index}`}
        role="option"
        class={`row${index === active ? " active" : ""}`}
        aria-selected={index === active}
        aria-setsize={count}
        aria-posinset={index + 1}
        style={{ top: `${index * rowHeight}px`, height: `${rowHeight}px` }}
        onClick={() => {
          props.onActive(index);
          props.onOpen(index);
        }}
      >
        {row(index)}
      </div>,
    );
  }
  return (
    <div
      ref={element}
      class="virtual-list"
      style={{ minHeight: `min(240px, ${count * rowHeight + 2}px)` }}
      role="listbox"
      tabIndex={0}
      aria-label={label}
      aria-activedescendant={active >= first && active < last ? `row-${active}` : undefined}
      onKeyDown={press}
      onFocus={() => active < 0 && count > 0 && props.onActive(Math.floor(view.top / rowHeight))}
      onScroll={(event) => setView({ top: event.currentTarget.scrollTop, height: event.currentTarget.clientHeight })}
    >
      <div class="virtual-space" style={{ height: `${Math.min(count * rowHeight, MAX_HEIGHT_PX)}px` }}>
        {rows}
      </div>
    </div>
  );
}
