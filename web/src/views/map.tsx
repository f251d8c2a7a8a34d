import { useMemo, useState } from "preact/hooks";
import { Empty, Failure, Loading } from "../components/basic";
import { Canvas, drawLabel, type Viewport } from "../components/canvas";
import { KindLegend } from "../components/kind-legend";
import { get, memoryVersion } from "../lib/api";
import { useLoad } from "../lib/hooks";
import { formatNumber, t, term } from "../lib/i18n";
import { href, replaceParams } from "../lib/router";
import { useStore } from "../lib/store";
import { colour } from "../lib/theme";
import type { GroupMap, Thought } from "../lib/types";

const LABELLED_GROUPS = 24;
// Beyond this, squares are drawn instead of circles: they are several times as fast.
const MANY_POINTS = 3000;

/** The thoughts on a plane: what is similar lies together. Groups are those of the hash of the paper. */
export function MapTab() {
  const version = useStore(memoryVersion);
  const { data, error, reload } = useLoad<GroupMap>((signal) => get("/v1/memory/map", {}, signal), [version]);
  const [group, setGroup] = useState<number | null>(null);
  const groups = useMemo(() => [...(data?.groups ?? [])].sort((a, b) => b.count - a.count), [data]);
  const [texts] = useState(() => new Map<number, string>());
  const [, setLoaded] = useState(0);
  if (error) return <Failure error={error} retry={reload} />;
  if (!data) return <Loading />;
  if (data.points.length < 3) {
    return (
      <Empty icon="pin" title={t("map.empty")}>
        <p>{t("map.emptyHint")}</p>
      </Empty>
    );
  }
  const screenX = (x: number, view: Viewport) => (0.5 + x * 0.46) * view.scaleX + view.x;
  const screenY = (y: number, view: Viewport) => (0.5 + y * 0.46) * view.scaleY + view.y;
  const draw = (context: CanvasRenderingContext2D, view: Viewport) => {
    const colours = data.kinds.map((kind) => colour(`kind-${kind}`));
    const zoom = view.scaleX / view.width;
    const many = data.points.length > MANY_POINTS;
    const size = many ? 2.4 + Math.log2(Math.max(1, zoom)) * 0.6 : 7;
    // One pass for each colour: changing the fill style is what costs.
    colours.forEach((fill, kind) => {
      context.fillStyle = fill;
      for (const [, x, y, pointGroup, pointKind] of data.points) {
        if (pointKind !== kind) continue;
        const px = screenX(x, view);
        const py = screenY(y, view);
        if (px < -8 || py < -8 || px > view.width + 8 || py > view.height + 8) continue;
        context.globalAlpha = group === null ? 0.72 : group === pointGroup ? 1 : 0.08;
        if (many) context.fillRect(px - size / 2, py - size / 2, size, size);
        else {
          context.beginPath();
          context.arc(px, py, size / 2, 0, Math.PI * 2);
          context.fill();
        }
      }
    });
    context.globalAlpha = 1;
    context.font = `600 12px ${getComputedStyle(document.body).fontFamily}`;
    context.textAlign = "center";
    const text = colour("text");
    const taken: { x: number; y: number; half: number }[] = [];
    for (const item of groups.slice(0, Math.round(LABELLED_GROUPS * Math.max(1, zoom)))) {
      if (!item.label) continue;
      const [x, y] = [screenX(item.x, view), screenY(item.y, view)];
      const half = context.measureText(item.label).width / 2 + 4;
      if (taken.some((other) => Math.abs(other.x - x) < other.half + half && Math.abs(other.y - y) < 18)) continue;
      taken.push({ x, y, half });
      drawLabel(context, item.label, x, y, text);
    }
    context.textAlign = "start";
  };
  const hit = (px: number, py: number, view: Viewport) => {
    let best: number | null = null;
    let kind = 0;
    let distance = 9;
    for (const [id, x, y, , pointKind] of data.points) {
      const length = Math.hypot(screenX(x, view) - px, screenY(y, view) - py);
      if (length < distance) [best, distance, kind] = [id, length, pointKind];
    }
    if (best === null) return null;
    if (!texts.has(best)) {
      const id = best;
      texts.set(id, term("kind", data.kinds[kind]!));
      get<Thought>(`/v1/memory/thoughts/${id}`).then(
        (thought) => {
          texts.set(id, thought.sentence);
          setLoaded((count) => count + 1);
        },
        () => undefined,
      );
    }
    return { id: best, text: texts.get(best)! };
  };
  return (
    <>
      <Canvas
        legend={<KindLegend />}
        label={t("map.canvas", { points: formatNumber(data.points.length), groups: groups.length })}
        draw={draw}
        hit={hit}
        onPick={(id) => replaceParams({ thought: String(id) })}
        version={`${version}:${group}:${data.points.length}`}
      />
      <p class="muted small">
        {t("map.method", { method: data.method === "tsne" ? "t-SNE" : "PCA", ms: formatNumber(Math.round(data.ms)) })}
      </p>
      <h2>{t("map.groups", { count: formatNumber(groups.length) })}</h2>
      <div class="table-scroll" tabIndex={0} role="region" aria-label={t("map.groups", { count: groups.length })}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t("thought.group")}</th>
              <th scope="col">{t("map.label")}</th>
              <th scope="col" class="number">
                {t("health.thoughts")}
              </th>
              <th scope="col">
                <span class="visually-hidden">{t("map.highlight")}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {groups.slice(0, 100).map((item) => (
              <tr key={item.group}>
                <td>
                  <a href={href("memory", [], { group: String(item.group) })}>{item.group}</a>
                </td>
                <td>{item.label}</td>
                <td class="number">{formatNumber(item.count)}</td>
                <td>
                  <button
                    type="button"
                    class="link"
                    aria-pressed={group === item.group}
                    onClick={() => setGroup(group === item.group ? null : item.group)}
                  >
                    {t("map.highlight")}
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
