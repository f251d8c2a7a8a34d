import { useMemo, useState } from "preact/hooks";
import { Empty, Failure, KindBadge, Loading } from "../components/basic";
import { Canvas, drawLabel, type Viewport } from "../components/canvas";
import { KindLegend } from "../components/kind-legend";
import { VirtualList } from "../components/virtual-list";
import { get, memoryVersion } from "../lib/api";
import { useLoad } from "../lib/hooks";
import { formatDate, formatDay, formatNumber, language, personName, t, term } from "../lib/i18n";
import { replaceParams } from "../lib/router";
import { useStore } from "../lib/store";
import { colour } from "../lib/theme";
import { type Kind, KINDS, type Timeline, type TimelineItem } from "../lib/types";

const PAGE_ITEMS = 5000;
const MAX_ITEMS = 20_000;
const AXIS_PX = 26;
const HISTOGRAM_PX = 64;
const LANE_LABEL_PX = 26;
const LANE_MARGIN_PX = 10;
const LABEL_SPACING_PX = 110; // from one label of the axis to the next, about
const LABEL_GAP_PX = 14;
const LABEL_MARGIN_PX = 6;
const DAY_MS = 86_400_000;

interface Placed {
  item: TimelineItem;
  start: number;
  end: number;
  lane: number;
  /** Vertical place within the lane, 0 to 1: spreads items of the same day. */
  spread: number;
}

async function loadTimeline(signal: AbortSignal): Promise<Timeline> {
  const first = await get<Timeline>("/v1/memory/timeline", { limit: PAGE_ITEMS }, signal);
  let next = first.next;
  while (next !== null && first.items.length < MAX_ITEMS) {
    const page = await get<Timeline>("/v1/memory/timeline", { limit: PAGE_ITEMS, after: next }, signal);
    first.items.push(...page.items);
    next = page.next;
  }
  return first;
}

export function LifeTab() {
  const version = useStore(memoryVersion);
  const { data, error, reload } = useLoad(loadTimeline, [version]);
  const [active, setActive] = useState(-1);
  // Kinds without a thought need no lane.
  const lanes = useMemo(() => KINDS.filter((kind) => data?.items.some((item) => item.kind === kind)), [data]);
  const placed = useMemo(() => place(data?.items ?? [], lanes), [data]);
  const range = useMemo(() => {
    let low = Infinity;
    let high = -Infinity;
    for (const { start, end } of placed) {
      low = Math.min(low, start);
      high = Math.max(high, end);
    }
    const margin = Math.max(DAY_MS * 3, (high - low) * 0.03);
    return { low: low - margin, span: high - low + 2 * margin };
  }, [placed]);
  if (error) return <Failure error={error} retry={reload} />;
  if (!data) return <Loading />;
  if (!data.items.length) {
    return (
      <Empty icon="timeline" title={t("timeline.empty")}>
        <p>{t("timeline.emptyHint")}</p>
      </Empty>
    );
  }
  const x = (time: number, view: Viewport) => ((time - range.low) / range.span) * view.scaleX + view.x;
  const laneHeight = (view: Viewport) => (view.height - AXIS_PX - HISTOGRAM_PX) / lanes.length;
  // Below the label of the lane, so that no point is hidden by it.
  const y = ({ lane, spread }: Placed, view: Viewport) => {
    const height = laneHeight(view);
    const top = Math.min(LANE_LABEL_PX, height * 0.4);
    return HISTOGRAM_PX + height * lane + top + spread * Math.max(0, height - top - LANE_MARGIN_PX);
  };

  const draw = (context: CanvasRenderingContext2D, view: Viewport) => {
    const [border, muted] = [colour("border"), colour("muted")];
    const kinds = lanes.map((kind) => colour(`kind-${kind}`));
    context.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    context.textBaseline = "middle";
    drawAxis(context, view, range, border, muted);
    drawHistogram(context, data, view, x, lanes);
    lanes.forEach((_, lane) => {
      const top = HISTOGRAM_PX + lane * laneHeight(view);
      context.fillStyle = border;
      context.fillRect(0, top, view.width, 1);
    });
    for (const item of placed) {
      const from = x(item.start, view);
      const to = x(item.end, view);
      if (to < -10 || from > view.width + 10) continue;
      const top = y(item, view);
      context.fillStyle = kinds[item.lane]!;
      if (to - from > 6) {
        context.globalAlpha = item.item.current ? 0.35 : 0.16;
        context.fillRect(from, top - 2, to - from, 4);
      }
      context.globalAlpha = item.item.current ? 0.9 : 0.4;
      context.beginPath();
      context.arc(from, top, 3.5, 0, Math.PI * 2);
      context.fill();
    }
    context.globalAlpha = 1;
    lanes.forEach((kind, lane) => drawLabel(context, term("kind", kind), 10, HISTOGRAM_PX + lane * laneHeight(view) + 13, muted));
  };
  const hit = (px: number, py: number, view: Viewport) => {
    let best: Placed | null = null;
    let distance = 10;
    for (const item of placed) {
      const from = x(item.start, view);
      const to = x(item.end, view);
      const dx = px < from ? from - px : px > to ? px - to : 0;
      const length = Math.hypot(dx, py - y(item, view));
      if (length < distance) [best, distance] = [item, length];
    }
    return best && { id: best.item.id, text: `${dateOf(best.item)} · ${best.item.sentence}` };
  };
  return (
    <>
      <Canvas
        legend={<KindLegend />}
        key={language.get()}
        label={t("timeline.canvas", { count: formatNumber(data.items.length) })}
        horizontal
        draw={draw}
        hit={hit}
        onPick={(id) => replaceParams({ thought: String(id) })}
        version={placed}
      />
      <h2>{t("timeline.list", { count: formatNumber(data.items.length) })}</h2>
      <div class="list-frame">
        <VirtualList
          label={t("timeline.list", { count: formatNumber(data.items.length) })}
          count={data.items.length}
          rowHeight={58}
          active={active}
          onActive={setActive}
          onOpen={(index) => replaceParams({ thought: String(data.items[index]!.id) })}
          row={(index) => {
            const item = data.items[index]!;
            return (
              <>
                <span class={`sentence${item.current ? "" : " is-past"}`}>{item.sentence}</span>
                <span class="meta">
                  <span>
                    {dateOf(item)}
                    {item.until ? ` – ${formatDay(item.until)}` : ""}
                    {item.dated ? "" : ` ${t("timeline.undated")}`}
                  </span>
                  <span>{personName(item.person)}</span>
                </span>
                <span class="side">
                  <KindBadge kind={item.kind} />
                </span>
              </>
            );
          }}
        />
      </div>
    </>
  );
}

/** When it began; without a date of its own, when it was said. */
function dateOf(item: TimelineItem): string {
  return item.dated ? formatDay(item.at) : formatDate(item.at);
}

function place(items: readonly TimelineItem[], lanes: readonly Kind[]): Placed[] {
  return items.map((item) => {
    const start = Date.parse(item.at);
    return {
      item,
      start,
      end: Math.max(start, item.until ? Date.parse(item.until) : start),
      lane: lanes.indexOf(item.kind),
      spread: (((item.id * 0.618034) % 1) + 1) % 1,
    };
  });
}

type TickUnit = "day" | "month" | "year";

/** How far apart the lines of the axis are, if about `days` lie between two labels. */
function tickStep(days: number): [number, TickUnit] {
  if (days < 31) return [[1, 2, 7, 14].find((step) => days <= step) ?? 14, "day"];
  if (days < 366) return [[1, 2, 3, 6].find((step) => days <= step * 31) ?? 6, "month"];
  return [Math.ceil(days / 365), "year"];
}

function advance(tick: Date, size: number, unit: TickUnit): void {
  if (unit === "day") tick.setUTCDate(tick.getUTCDate() + size);
  else if (unit === "month") tick.setUTCMonth(tick.getUTCMonth() + size);
  else tick.setUTCFullYear(tick.getUTCFullYear() + size);
}

function drawAxis(
  context: CanvasRenderingContext2D,
  view: Viewport,
  range: { low: number; span: number },
  border: string,
  muted: string,
): void {
  const perPixel = range.span / view.scaleX;
  const [size, unit] = tickStep((perPixel * LABEL_SPACING_PX) / DAY_MS);
  const first = new Date(range.low - view.x * perPixel);
  const last = range.low + (view.width - view.x) * perPixel;
  const tick = new Date(
    Date.UTC(first.getUTCFullYear(), unit === "year" ? 0 : first.getUTCMonth(), unit === "day" ? first.getUTCDate() + 1 : 1),
  );
  const format = new Intl.DateTimeFormat(language.get() === "zh" ? "zh-CN" : "en-GB", {
    timeZone: "UTC",
    year: "numeric",
    month: unit === "year" ? undefined : "short",
    day: unit === "day" ? "numeric" : undefined,
  });
  let labelled = -Infinity; // where the label before ends
  for (let count = 0; tick.getTime() <= last && count < 400; count++) {
    const left = ((tick.getTime() - range.low) / range.span) * view.scaleX + view.x;
    context.fillStyle = border;
    context.fillRect(left, 0, 1, view.height - AXIS_PX);
    context.fillStyle = muted;
    const label = format.format(tick);
    const width = context.measureText(label).width;
    // Labels stay inside the drawing; one of a line left of it is left out if the next one needs its place.
    const start = Math.max(LABEL_MARGIN_PX, Math.min(left + 5, view.width - width - LABEL_MARGIN_PX));
    advance(tick, size, unit);
    const next = ((tick.getTime() - range.low) / range.span) * view.scaleX + view.x;
    const fits = left >= 0 || next > start + width + LABEL_GAP_PX;
    if (fits && start > labelled + LABEL_GAP_PX) {
      context.fillText(label, start, view.height - AXIS_PX / 2);
      labelled = start + width;
    }
  }
  context.fillStyle = border;
  context.fillRect(0, view.height - AXIS_PX, view.width, 1);
}

/** How many thoughts each day, month or year has, stacked by kind. */
function drawHistogram(
  context: CanvasRenderingContext2D,
  data: Timeline,
  view: Viewport,
  x: (time: number, view: Viewport) => number,
  kinds: readonly Kind[],
): void {
  const total = (counts: Timeline["buckets"][number]["counts"]) => Object.values(counts).reduce((sum, count) => sum + count, 0);
  const highest = Math.max(1, ...data.buckets.map((bucket) => total(bucket.counts)));
  for (const bucket of data.buckets) {
    const start = Date.parse(bucket.start);
    const left = x(start, view);
    const width = Math.max(2, x(endOfStep(start, data.step), view) - left - 1);
    let bottom = HISTOGRAM_PX - 6;
    kinds.forEach((kind) => {
      const height = ((bucket.counts[kind] ?? 0) / highest) * (HISTOGRAM_PX - 14);
      context.globalAlpha = 0.55;
      context.fillStyle = colour(`kind-${kind}`);
      context.fillRect(left, bottom - height, width, height);
      bottom -= height;
    });
  }
  context.globalAlpha = 1;
}

/** When the day, month or year ends that begins at a time. */
function endOfStep(start: number, step: Timeline["step"]): number {
  const end = new Date(start);
  if (step === "day") end.setUTCDate(end.getUTCDate() + 1);
  else if (step === "month") end.setUTCMonth(end.getUTCMonth() + 1);
  else end.setUTCFullYear(end.getUTCFullYear() + 1);
  return end.getTime();
}
