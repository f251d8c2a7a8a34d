import { Tabs } from "../components/basic";
import { t } from "../lib/i18n";
import { replaceParams, route } from "../lib/router";
import { useStore } from "../lib/store";
import { GraphTab } from "./graph";
import { MapTab } from "./map";
import { LifeTab } from "./life";

type Tab = "life" | "graph" | "map";

/** A life over time, its people and things as a graph, and its groups as a map. */
export function TimelineView() {
  const { params } = useStore(route);
  const name = params.get("tab");
  const tab: Tab = name === "graph" || name === "map" ? name : "life";
  return (
    <div class="view">
      <div class="view-head">
        <div>
          <h1 class="view-title">{t("nav.timeline")}</h1>
          <p>{t(`timeline.intro.${tab}`)}</p>
        </div>
      </div>
      <Tabs
        label={t("nav.timeline")}
        value={tab}
        onChange={(value) => replaceParams({ tab: value === "life" ? null : value })}
        options={[
          ["life", t("timeline.life")],
          ["graph", t("timeline.graph")],
          ["map", t("timeline.map")],
        ]}
      />
      {tab === "life" && <LifeTab />}
      {tab === "graph" && <GraphTab />}
      {tab === "map" && <MapTab />}
    </div>
  );
}
