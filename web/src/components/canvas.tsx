import type { ComponentChildren, TargetedKeyboardEvent, TargetedPointerEvent } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useSize } from "../lib/hooks";
import { t } from "../lib/i18n";
import { useStore } from "../lib/store";
import { colour, colourVersion } from "../lib/theme";
import { Button } from "./basic";

/** What part of a drawing is visible: a point p of the drawing is shown at `p * scale + offset`. */
export interface Viewport {
  width: number;
  height: number;
  scaleX: number;
  scaleY: number;
  x: number;
  y: number;
}

interface CanvasProps {
  label: string;
  /** Zooming and moving change only the horizontal axis. */
  horizontal?: boolean;
  draw: (context: CanvasRenderingContext2D, view: Viewport) => void;
  /** The item at a point of the screen and its text, or null. */
  hit: (x: number, y: number, view: Viewport) => { id: number; text: string } | null;
  onPick: (id: number) => void;
  /** Shown above the drawing, beside the buttons. */
  legend?: ComponentChildren;
  /** Changes when the drawing must be drawn again. */
  version: unknown;
}

/** A text with a border in the colour of the background, readable above lines and points. */
export function drawLabel(context: CanvasRenderingContext2D, text: string, x: number, y: number, fill: string): void {
  context.lineWidth = 4;
  context.lineJoin = "round";
  context.strokeStyle = colour("surface");
  context.strokeText(text, x, y);
  context.fillStyle = fill;
  context.fillText(text, x, y);
}

const ZOOM_STEP = 1.35;
const PAN_STEP_PX = 60;
const MAX_ZOOM = 400;
const CLICK_TOLERANCE_PX = 4;

interface Camera {
  zoom: number;
  x: number;
  y: number;
}

/** A drawing that can be moved and zoomed with pointer, wheel, touch or keys. Coordinates are 0 to 1. */
export function Canvas({ label, horizontal = false, draw, hit, onPick, legend, version }: CanvasProps) {
  const [frame, size] = useSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const camera = useRef<Camera>({ zoom: 1, x: 0, y: 0 });
  const pending = useRef(0);
  const drag = useRef<{ x: number; y: number; moved: number } | null>(null);
  const pointers = useRef(new Map<number, { x: number; y: number }>());
  const [tooltip, setTooltip] = useState<{ x: number; y: number; text: string } | null>(null);
  const colours = useStore(colourVersion);

  const viewport = (): Viewport => {
    const { zoom, x, y } = camera.current;
    return {
      width: size.width,
      height: size.height,
      scaleX: size.width * zoom,
      scaleY: size.height * (horizontal ? 1 : zoom),
      x,
      y: horizontal ? 0 : y,
    };
  };
  const paint = () => {
    pending.current = 0;
    const element = canvas.current;
    if (!element || !size.width) return;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [Math.round(size.width * ratio), Math.round(size.height * ratio)];
    if (element.width !== width || element.height !== height) {
      element.width = width;
      element.height = height;
    }
    const context = element.getContext("2d")!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, size.width, size.height);
    draw(context, viewport());
  };
  const repaint = () => {
    if (!pending.current) pending.current = requestAnimationFrame(paint);
  };
  useEffect(() => {
    repaint();
    return () => {
      cancelAnimationFrame(pending.current);
      pending.current = 0;
    };
  }, [size.width, size.height, colours, version]);

  const zoomAt = (factor: number, x: number, y: number) => {
    const { current } = camera;
    const zoom = Math.min(MAX_ZOOM, Math.max(0.6, current.zoom * factor));
    const change = zoom / current.zoom;
    current.x = x - (x - current.x) * change;
    current.y = y - (y - current.y) * change;
    current.zoom = zoom;
    setTooltip(null);
    repaint();
  };
  const pan = (dx: number, dy: number) => {
    camera.current.x += dx;
    camera.current.y += dy;
    setTooltip(null);
    repaint();
  };
  const reset = () => {
    camera.current = { zoom: 1, x: 0, y: 0 };
    repaint();
  };
  const position = (event: { clientX: number; clientY: number }) => {
    const box = canvas.current!.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  useEffect(() => {
    const element = canvas.current!;
    const wheel = (event: WheelEvent) => {
      event.preventDefault();
      const { x, y } = position(event);
      zoomAt(Math.exp(-event.deltaY * 0.002), x, y);
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  }, [size.width, size.height, version]);

  const down = (event: TargetedPointerEvent<HTMLCanvasElement>) => {
    event.currentTarget.setPointerCapture(event.pointerId);
    const point = position(event);
    pointers.current.set(event.pointerId, point);
    drag.current = { ...point, moved: 0 };
  };
  const move = (event: TargetedPointerEvent<HTMLCanvasElement>) => {
    const point = position(event);
    const former = pointers.current.get(event.pointerId);
    if (former && pointers.current.size === 2) {
      const other = [...pointers.current].find(([id]) => id !== event.pointerId)![1];
      const before = Math.hypot(former.x - other.x, former.y - other.y);
      const after = Math.hypot(point.x - other.x, point.y - other.y);
      if (before > 0) zoomAt(after / before, (point.x + other.x) / 2, (point.y + other.y) / 2);
      if (drag.current) drag.current.moved = Infinity;
    } else if (former && drag.current) {
      drag.current.moved += Math.abs(point.x - former.x) + Math.abs(point.y - former.y);
      pan(point.x - former.x, point.y - former.y);
    } else {
      const found = hit(point.x, point.y, viewport());
      setTooltip(found ? { ...point, text: found.text } : null);
    }
    if (former) pointers.current.set(event.pointerId, point);
  };
  const up = (event: TargetedPointerEvent<HTMLCanvasElement>) => {
    pointers.current.delete(event.pointerId);
    if (drag.current && drag.current.moved < CLICK_TOLERANCE_PX) {
      const found = hit(drag.current.x, drag.current.y, viewport());
      if (found) onPick(found.id);
    }
    if (pointers.current.size === 0) drag.current = null;
  };
  const press = (event: TargetedKeyboardEvent<HTMLCanvasElement>) => {
    const keys: Record<string, () => void> = {
      ArrowLeft: () => pan(PAN_STEP_PX, 0),
      ArrowRight: () => pan(-PAN_STEP_PX, 0),
      ArrowUp: () => pan(0, PAN_STEP_PX),
      ArrowDown: () => pan(0, -PAN_STEP_PX),
      "+": () => zoomAt(ZOOM_STEP, size.width / 2, size.height / 2),
      "=": () => zoomAt(ZOOM_STEP, size.width / 2, size.height / 2),
      "-": () => zoomAt(1 / ZOOM_STEP, size.width / 2, size.height / 2),
      "0": reset,
    };
    const action = keys[event.key];
    if (!action || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    action();
  };
  const right = tooltip && tooltip.x > size.width / 2;
  return (
    <div>
      <div class="canvas-toolbar">
        {legend ?? <span />}
        <div class="actions">
          <Button label={t("canvas.in")} icon="plus" onClick={() => zoomAt(ZOOM_STEP, size.width / 2, size.height / 2)} />
          <Button label={t("canvas.out")} icon="forget" onClick={() => zoomAt(1 / ZOOM_STEP, size.width / 2, size.height / 2)} />
          <Button title={t("canvas.reset")} onClick={reset}>
            {t("canvas.all")}
          </Button>
        </div>
      </div>
      <div class="canvas-frame" ref={frame}>
        <canvas
          ref={canvas}
          role="img"
          aria-label={label}
          tabIndex={0}
          onPointerDown={down}
          onPointerMove={move}
          onPointerUp={up}
          onPointerCancel={up}
          onPointerLeave={() => setTooltip(null)}
          onKeyDown={press}
        />
        {tooltip && (
          <div
            class="tooltip"
            style={{
              transform: `translate(${tooltip.x + (right ? -12 : 12)}px, ${tooltip.y + 12}px)${right ? " translateX(-100%)" : ""}`,
            }}
          >
            {tooltip.text}
          </div>
        )}
      </div>
    </div>
  );
}
