import { get, memoryVersion } from "./api";
import { useLoad } from "./hooks";
import { useStore } from "./store";
import type { Topic } from "./types";

/** The groups of similar thoughts, largest first; empty until they are loaded, or if that fails. */
export function useTopics(): Topic[] {
  const version = useStore(memoryVersion);
  return useLoad<{ items: Topic[] }>((signal) => get("/v1/memory/topics", {}, signal), [version]).data?.items ?? [];
}

/** The most telling words of a group, or its number. */
export function topicLabel(topics: readonly Topic[], group: number): string {
  return topics.find((topic) => topic.group === group)?.label || String(group);
}
