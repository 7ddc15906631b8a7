/** What the user sets, and what follows from it. */

export interface Settings {
  /** Address of gpudash, such as https://gpudash.example.com or https://tools.example.com/gpudash. */
  address?: string;
  /** API token of gpudash. */
  token?: string;
  /** Cluster in Headlamp → cluster in gpudash, where the names differ. */
  clusters?: Record<string, string>;
}

/** Name in package.json; Headlamp finds the settings by it. */
export const PLUGIN = "gpudash";

/** The address without a slash at its end; null: it is no http(s) address. */
export function addressOf(settings: Settings): string | null {
  let url: URL;
  try {
    url = new URL((settings.address ?? "").trim());
  } catch {
    return null;
  }
  if (!["http:", "https:"].includes(url.protocol) || url.username || url.search || url.hash) {
    return null;
  }
  return url.origin + url.pathname.replace(/\/+$/, "");
}

/** Whether gpudash can be asked. */
export function isSet(settings: Settings): boolean {
  return addressOf(settings) !== null && Boolean(settings.token?.trim());
}

/** Name in gpudash of a cluster of Headlamp. */
export function clusterOf(settings: Settings, cluster: string): string {
  return settings.clusters?.[cluster]?.trim() || cluster;
}

/** Address of a page of gpudash. Names of a cluster may contain anything. */
export function pageOf(settings: Settings, ...path: (string | number)[]): string {
  return [addressOf(settings), ...path.map((part) => encodeURIComponent(part))].join("/");
}
