import { useMemo, useState } from "preact/hooks";
import { Empty, Failure, Loading } from "../components/basic";
import { Canvas, drawLabel, type Viewport } from "../components/canvas";
import { get, memoryVersion } from "../lib/api";
import { forceLayout } from "../lib/force-layout";
import { useLoad } from "../lib/hooks";
import { formatNumber, personName, relationName, t, term } from "../lib/i18n";
import { href, replaceParams } from "../lib/router";
import { useStore } from "../lib/store";
import { colour } from "../lib/theme";
import type { Graph } from "../lib/types";

const MAX_NODES = 150;
const MAX_TABLE_ROWS = 300;
const NEGATED_DASHES_PX = [5, 4];
const COLOURS = { user: "accent", person: "kind-relationship", thing: "kind-knowledge" } as const;

function pairOf({ source, target }: Graph["edges"][number]): string {
  return source < target ? `${source}:${target}` : `${target}:${source}`;
}

/** People and things as a graph; a node that is picked shows its thoughts. */
export function GraphTab() {
  const version = useStore(memoryVersion);
  const { data, error, reload } = useLoad<Graph>((signal) => get("/v1/memory/graph", { limit: MAX_NODES }, signal), [version]);
  const [picked, setPicked] = useState<number | null>(null);
  const layout = useMemo(() => {
    if (!data) return null;
    const index = new Map(data.nodes.map((node, position) => [node.id, position]));
    const edges = data.edges.flatMap((edge) => {
      const [a, b] = [index.get(edge.source), index.get(edge.target)];
      return a === undefined || b === undefined || a === b ? [] : [[a, b] as const];
    });
    return { index, at: forceLayout(data.nodes.length, edges) };
  }, [data]);
  const linked = useMemo(() => {
    const edges = data?.edges.filter((edge) => edge.source === picked || edge.target === picked) ?? [];
    return new Set(edges.flatMap((edge) => [edge.source, edge.target]));
  }, [data, picked]);
  if (error) return <Failure error={error} retry={reload} />;
  if (!data || !layout) return <Loading />;
  if (data.nodes.length < 2) {
    return (
      <Empty icon="person" title={t("graph.empty")}>
        <p>{t("graph.emptyHint")}</p>
      </Empty>
    );
  }
  const point = (position: number, view: Viewport): [number, number] => [
    layout.at[2 * position]! * view.scaleX + view.x,
    layout.at[2 * position + 1]! * view.scaleY + view.y,
  ];
  // A sentence that is kept as it was said joins the names in it, without a relation.
  const relationOf = (edge: Graph["edges"][number]) => {
    if (edge.relation) return relationName(edge.relation, edge.negated);
    const source = data.nodes[layout.index.get(edge.source) ?? -1];
    return t(source?.type === "user" ? "graph.mentions" : "graph.together");
  };
  const radius = (thoughts: number) => 4 + Math.min(14, Math.sqrt(thoughts) * 1.6);
  const draw = (context: CanvasRenderingContext2D, view: Viewport) => {
    const zoom = view.scaleX / view.width;
    const colours = { user: colour(COLOURS.user), person: colour(COLOURS.person), thing: colour(COLOURS.thing) };
    const [line, text, surface, accent] = [colour("strong-border"), colour("text"), colour("surface"), colour("accent")];
    const related = new Set(data.edges.filter((edge) => edge.relation).map(pairOf));
    context.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    context.textAlign = "center";
    for (const edge of data.edges) {
      const [a, b] = [layout.index.get(edge.source), layout.index.get(edge.target)];
      if (a === undefined || b === undefined) continue;
      const near = picked === edge.source || picked === edge.target;
      context.strokeStyle = near ? accent : line;
      context.globalAlpha = near ? 0.9 : picked === null ? (edge.current ? 0.4 : 0.15) : 0.1;
      context.lineWidth = near ? 1.6 : 1;
      const [from, to] = [point(a, view), point(b, view)];
      context.setLineDash(edge.negated ? NEGATED_DASHES_PX : []);
      context.beginPath();
      context.moveTo(...from);
      context.lineTo(...to);
      context.stroke();
      // Two labels at one place could not be read: the relation says more than that a sentence names both.
      const hidden = !edge.relation && related.has(pairOf(edge));
      if (near && !hidden && zoom > 0.8) {
        context.globalAlpha = 1;
        drawLabel(context, relationOf(edge).slice(0, 24), (from[0] + to[0]) / 2, (from[1] + to[1]) / 2 - 3, text);
      }
    }
    context.setLineDash([]);
    const labels: { x: number; y: number; half: number }[] = [];
    data.nodes.forEach((node, position) => {
      const [x, y] = point(position, view);
      const size = radius(node.thoughts);
      const faded = picked !== null && picked !== node.id && !linked.has(node.id);
      context.globalAlpha = faded ? 0.25 : 1;
      context.fillStyle = colours[node.type];
      context.strokeStyle = surface;
      context.lineWidth = 1.5;
      context.beginPath();
      context.arc(x, y, size, 0, Math.PI * 2);
      context.fill();
      context.stroke();
      // Labels of later (less important) nodes are left out where they would overlap.
      const full = personName(node.name);
      const name = full.length > 22 ? `${full.slice(0, 21)}…` : full;
      const half = context.measureText(name).width / 2 + 3;
      const free = labels.every((other) => Math.abs(other.x - x) > other.half + half || Math.abs(other.y - y) > 14);
      if (free || node.id === picked) {
        labels.push({ x, y, half });
        drawLabel(context, name, x, y + size + 13, text);
      }
    });
    context.globalAlpha = 1;
    context.textAlign = "start";
  };
  const hit = (px: number, py: number, view: Viewport) => {
    let best: { id: number; text: string } | null = null;
    let distance = 8;
    data.nodes.forEach((node, position) => {
      const [x, y] = point(position, view);
      const length = Math.hypot(px - x, py - y) - radius(node.thoughts);
      if (length >= distance) return;
      distance = length;
      const names = [personName(node.name), ...node.aliases].join(", ");
      best = { id: node.id, text: `${names} · ${t("graph.thoughts", { count: formatNumber(node.thoughts) })}` };
    });
    return best;
  };
  const name = (id: number) => personName(data.nodes[layout.index.get(id) ?? -1]?.name ?? "");
  const shown = picked === null ? data.edges : data.edges.filter((edge) => edge.source === picked || edge.target === picked);
  return (
    <>
      <Canvas
        legend={
          <div class="legend" role="group" aria-label={t("graph.types")}>
            <span class="kind-profile">{term("node", "user")}</span>
            <span class="kind-relationship">{term("node", "person")}</span>
            <span class="kind-knowledge">{term("node", "thing")}</span>
            {data.total > data.nodes.length && (
              <em class="muted">{t("graph.partial", { shown: data.nodes.length, total: formatNumber(data.total) })}</em>
            )}
          </div>
        }
        label={t("graph.canvas", { nodes: data.nodes.length, edges: data.edges.length })}
        draw={draw}
        hit={hit}
        onPick={(id) => setPicked(id === picked ? null : id)}
        version={`${version}:${picked}:${data.nodes.length}`}
      />
      <div class="view-head">
        <h2>{picked === null ? t("graph.connections") : t("graph.connectionsOf", { name: name(picked) })}</h2>
        {picked !== null && (
          <a href={href("memory", [], { person: data.nodes[layout.index.get(picked) ?? -1]?.name ?? "" })}>{t("graph.thoughtsOf", { name: name(picked) })}</a>
        )}
      </div>
      <div class="table-scroll" tabIndex={0} role="region" aria-label={t("graph.connections")}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t("thought.subject")}</th>
              <th scope="col">{t("thought.relation")}</th>
              <th scope="col">{t("thought.value")}</th>
            </tr>
          </thead>
          <tbody>
            {shown.slice(0, MAX_TABLE_ROWS).map((edge, index) => (
              <tr key={index} class={edge.current ? "" : "is-past"}>
                <td>
                  <button type="button" class="link" onClick={() => setPicked(edge.source)}>
                    {name(edge.source)}
                  </button>
                </td>
                <td>
                  <button type="button" class="link" onClick={() => replaceParams({ thought: String(edge.thought) })}>
                    {relationOf(edge)}
                  </button>
                </td>
                <td>
                  <button type="button" class="link" onClick={() => setPicked(edge.target)}>
                    {name(edge.target)}
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
