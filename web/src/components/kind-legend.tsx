import { t, term } from "../lib/i18n";
import { KINDS } from "../lib/types";

export function KindLegend() {
  return (
    <div class="legend" role="group" aria-label={t("filter.kind")}>
      {KINDS.map((kind) => (
        <span key={kind} class={`kind-${kind}`}>
          {term("kind", kind)}
        </span>
      ))}
    </div>
  );
}
