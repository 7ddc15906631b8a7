/** Questions to gpudash's REST. The browser asks it directly: gpudash lists Headlamp's origin in GPUDASH_CORS_ORIGINS. */

import type { Allocation, NodeDetail, Pod } from "./answers";
import { addressOf, clusterOf, isSet, type Settings } from "./settings";

const TIMEOUT_MS = 10_000;
/** A pod with more allocations than this has a link to the rest. */
export const MOST_ALLOCATIONS = 50;

/** Why there is no answer, and what to do, in words for the reader. */
export class NoAnswer extends Error {}

/** A node with its cards; null: gpudash has no such node with a GPU. */
export async function nodeOf(settings: Settings, cluster: string, name: string) {
  const path = `nodes/${encodeURIComponent(clusterOf(settings, cluster))}/${encodeURIComponent(name)}`;
  return ask<NodeDetail>(settings, path);
}

export interface PodAnswer {
  /** null: the pod has nothing to do with a GPU. */
  pod: Pod | null;
  allocations: Allocation[];
}

export async function podOf(settings: Settings, cluster: string, namespace: string, name: string): Promise<PodAnswer> {
  const query = new URLSearchParams({ cluster: clusterOf(settings, cluster), namespace, pod: name });
  const pods = await ask<{ results: Pod[] }>(settings, `pods?${query}`);
  const pod = pods?.results[0] ?? null;
  if (pod === null || pod.pending) {
    return { pod, allocations: [] };
  }
  query.set("page_size", String(MOST_ALLOCATIONS));
  const held = await ask<{ results: Allocation[] }>(settings, `allocations?${query}`);
  return { pod, allocations: held?.results ?? [] };
}

/** The answer; null: 404. Throws NoAnswer. */
async function ask<T>(settings: Settings, path: string): Promise<T | null> {
  const address = addressOf(settings);
  if (!isSet(settings)) {
    throw new NoAnswer("Set the address of gpudash and a token in Settings › Plugins › gpudash.");
  }
  let response: Response;
  try {
    response = await fetch(`${address}/api/v1/${path}`, {
      headers: { Authorization: `Bearer ${settings.token?.trim()}` },
      // The token alone says who asks, and it goes to this address alone.
      credentials: "omit",
      redirect: "error",
      referrerPolicy: "no-referrer",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch {
    // A browser does not tell a page which of these it was.
    throw new NoAnswer(
      `Cannot read ${address}. It does not respond, redirects, or does not list ${window.location.origin} in GPUDASH_CORS_ORIGINS.`,
    );
  }
  if (response.status === 404) {
    return null;
  }
  const answer = await response.json().catch(() => null);
  if (!response.ok || answer === null) {
    throw new NoAnswer(`gpudash answered ${response.status}: ${answer?.detail ?? "no JSON"}`);
  }
  return answer;
}
