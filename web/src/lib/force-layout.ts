/** Positions of the nodes of a graph, 0 to 1, by repulsion and springs. Deterministic. */
export function forceLayout(count: number, edges: readonly (readonly [number, number])[], rounds = 260): Float64Array {
  const at = new Float64Array(count * 2);
  // Start on a sunflower spiral: nodes that come first (the most important ones) are in the middle.
  for (let i = 0; i < count; i++) {
    const radius = Math.sqrt((i + 0.5) / count) * 0.5;
    const angle = i * 2.399963;
    at[2 * i] = Math.cos(angle) * radius;
    at[2 * i + 1] = Math.sin(angle) * radius;
  }
  const force = new Float64Array(count * 2);
  const ideal = 0.9 / Math.sqrt(Math.max(1, count));
  for (let round = 0; round < rounds; round++) {
    const heat = 0.1 * (1 - round / rounds) ** 2 + 0.001;
    force.fill(0);
    for (let a = 0; a < count; a++) {
      for (let b = a + 1; b < count; b++) {
        const dx = at[2 * a]! - at[2 * b]!;
        const dy = at[2 * a + 1]! - at[2 * b + 1]!;
        const square = dx * dx + dy * dy + 1e-6;
        const push = (ideal * ideal) / square;
        force[2 * a]! += dx * push;
        force[2 * a + 1]! += dy * push;
        force[2 * b]! -= dx * push;
        force[2 * b + 1]! -= dy * push;
      }
    }
    for (const [a, b] of edges) {
      const dx = at[2 * a]! - at[2 * b]!;
      const dy = at[2 * a + 1]! - at[2 * b + 1]!;
      const pull = Math.sqrt(dx * dx + dy * dy) / ideal;
      force[2 * a]! -= dx * pull * 0.5;
      force[2 * a + 1]! -= dy * pull * 0.5;
      force[2 * b]! += dx * pull * 0.5;
      force[2 * b + 1]! += dy * pull * 0.5;
    }
    for (let i = 0; i < count; i++) {
      const fx = force[2 * i]! - at[2 * i]! * 0.6;
      const fy = force[2 * i + 1]! - at[2 * i + 1]! * 0.6;
      const length = Math.hypot(fx, fy) || 1;
      const step = Math.min(length, heat) / length;
      at[2 * i]! += fx * step;
      at[2 * i + 1]! += fy * step;
    }
  }
  return normalise(at);
}

function normalise(at: Float64Array): Float64Array {
  for (const axis of [0, 1]) {
    let low = Infinity;
    let high = -Infinity;
    for (let i = axis; i < at.length; i += 2) {
      low = Math.min(low, at[i]!);
      high = Math.max(high, at[i]!);
    }
    const span = high - low || 1;
    for (let i = axis; i < at.length; i += 2) at[i] = high === low ? 0.5 : 0.08 + 0.84 * ((at[i]! - low) / span);
  }
  return at;
}
