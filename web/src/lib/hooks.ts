import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { isAbort } from "./api";

export interface Loaded<T> {
  data: T | null;
  error: unknown;
  loading: boolean;
  reload: () => void;
  setData: (change: (data: T | null) => T | null) => void;
}

/** Load a value when the inputs change; an outdated request is aborted. The former value stays visible. */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<{ data: T | null; error: unknown; loading: boolean }>({
    data: null,
    error: null,
    loading: true,
  });
  const [count, setCount] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    setState((former) => ({ ...former, loading: true }));
    load(controller.signal).then(
      (data) => {
        if (!controller.signal.aborted) setState({ data, error: null, loading: false });
      },
      (error: unknown) => {
        if (!controller.signal.aborted && !isAbort(error)) setState((former) => ({ ...former, error, loading: false }));
      },
    );
    return () => controller.abort();
  }, [...inputs, count]);
  const reload = useCallback(() => setCount((value) => value + 1), []);
  const setData = useCallback(
    (change: (data: T | null) => T | null) => setState((former) => ({ ...former, data: change(former.data) })),
    [],
  );
  return { ...state, reload, setData };
}

/** The size of an element in CSS pixels. */
export function useSize<E extends Element>(): [{ current: E | null }, { width: number; height: number }] {
  const element = useRef<E | null>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  useEffect(() => {
    if (!element.current) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry) setSize({ width: entry.contentRect.width, height: entry.contentRect.height });
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return [element, size];
}

/** A value that follows another one after it has been still for a while. */
export function useDebounced<T>(value: T, milliseconds: number): T {
  const [debounced, setDebounced] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(() => value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return debounced;
}
