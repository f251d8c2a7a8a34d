import { formatDate } from "../lib/i18n";
import type { Finding } from "../lib/types";

const WIDTH = 320;
const HEIGHT = 120;
const LEFT = 36;
const BOTTOM = 18;

/** Values of one finding over time. The same values stand in the table of the record. */
export function LineChart({ finding, label }: { finding: Finding; label: string }) {
  const points = finding.points.map((point) => ({ ...point, time: Date.parse(point.at) }));
  const values = points.flatMap((point) => point.values);
  if (!values.length) return null;
  const [first, last] = [points[0]!.time, points.at(-1)!.time];
  let [low, high] = [Math.min(...values), Math.max(...values)];
  const margin = (high - low || Math.abs(high) || 1) * 0.15;
  [low, high] = [low - margin, high + margin];
  const x = (time: number) => LEFT + (last === first ? 0.5 : (time - first) / (last - first)) * (WIDTH - LEFT - 12);
  const y = (value: number) => 8 + (1 - (value - low) / (high - low)) * (HEIGHT - BOTTOM - 12);
  const lines = Math.max(...points.map((point) => point.values.length));
  const ticks = [low + margin, (low + high) / 2, high - margin];
  const round = (value: number) => (Math.abs(value) >= 20 ? Math.round(value) : Math.round(value * 10) / 10);
  const text = points.map((point) => `${formatDate(point.at)}: ${point.text}`).join("; ");
  return (
    <svg class="line-chart" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${label}. ${text}`}>
      {ticks.map((tick) => (
        <g key={tick}>
          <line class="grid" x1={LEFT} x2={WIDTH - 8} y1={y(tick)} y2={y(tick)} />
          <text x={LEFT - 6} y={y(tick) + 3.5} text-anchor="end">
            {round(tick)}
          </text>
        </g>
      ))}
      {Array.from({ length: lines }, (_, line) => {
        const shown = points.filter((point) => point.values[line] !== undefined);
        return (
          <g key={line} class={`series-${line}`}>
            <polyline points={shown.map((point) => `${x(point.time)},${y(point.values[line]!)}`).join(" ")} />
            {shown.map((point, index) => (
              <circle key={index} cx={x(point.time)} cy={y(point.values[line]!)} r={3} />
            ))}
          </g>
        );
      })}
      <text x={LEFT} y={HEIGHT - 3}>
        {formatDate(points[0]!.at)}
      </text>
      {points.length > 1 && (
        <text x={WIDTH - 8} y={HEIGHT - 3} text-anchor="end">
          {formatDate(points.at(-1)!.at)}
        </text>
      )}
    </svg>
  );
}
