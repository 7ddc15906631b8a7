/** Answers of REST as words and numbers to show. null is "unknown" or "not metered", never 0. */

import type { Allocation, Card, Component, Finding, NodeDetail } from "./answers";
import type { PodAnswer } from "./gpudash";

const GIB = 2 ** 30;
const UNKNOWN = "unknown";
/** Findings of a node that are shown; the page of the node has the rest. */
const MOST_FINDINGS = 5;

export type Level = "success" | "warning" | "error" | "";

export interface Word {
  text: string;
  level: Level;
}

/** An unknown state is shown as it is: gpudash may be newer than the plugin. */
const VALIDATIONS: Record<string, Word> = {
  validated: { text: "validated", level: "success" },
  failed: { text: "failed", level: "error" },
  "driver-changed": { text: "driver changed", level: "warning" },
  ran: { text: "result not checked", level: "" },
  detected: { text: "detected only", level: "" },
  never: { text: "not validated", level: "" },
};

const HEALTH: Record<string, Level> = { healthy: "success", degraded: "warning", unhealthy: "error" };

const UNAVAILABLE: Record<string, string> = {
  "stale-cluster": "cluster data is stale",
  "not-ready": "node not ready",
  "readiness-unknown": "node readiness unknown",
  cordoned: "node cordoned",
};

export interface CardRow {
  id: number;
  card: string;
  model: string;
  allocated: string;
  free: string;
  validation: Word;
  health: Word;
}

export interface NodeView {
  /** Facts on the node, to be separated by " · ". */
  facts: string[];
  cards: CardRow[];
  /** The component that is the cause of the others not being ready; null: none. */
  cause: { text: string; remedy: string | null } | null;
  findings: Finding[];
  moreFindings: number;
}

export function nodeView(node: NodeDetail): NodeView {
  const states = new Map(node.validations.map((one) => [one.card, one.state]));
  const cause = node.components.find((one) => one.first_cause);
  return {
    facts: factsOf(node),
    cards: node.cards.map((card) => cardRow(card, states.get(card.key) ?? UNKNOWN)),
    cause: cause ? causeOf(cause) : null,
    findings: node.findings.slice(0, MOST_FINDINGS),
    moreFindings: Math.max(0, node.findings.length - MOST_FINDINGS),
  };
}

function factsOf(node: NodeDetail): string[] {
  const validated = node.validations.filter((one) => one.state === "validated").length;
  const facts = [
    node.cards_total === null
      ? "Cards unknown"
      : `${node.cards_free ?? UNKNOWN} of ${counted(node.cards_total, "card")} free`,
  ];
  if (node.validations.length > 0) {
    facts.push(`${validated} of ${node.validations.length} validated`);
  }
  if (node.unavailable_reason) {
    facts.push(`Unavailable: ${UNAVAILABLE[node.unavailable_reason] ?? node.unavailable_reason}`);
  }
  return facts;
}

function cardRow(card: Card, state: string): CardRow {
  return {
    id: card.id,
    card: card.index === null ? card.key : String(card.index),
    model: card.model ?? UNKNOWN,
    allocated: gib(card.memory_allocated_bytes, card.mode),
    free: gib(card.memory_free_bytes, card.mode),
    validation: VALIDATIONS[state] ?? { text: state, level: "" },
    health: { text: card.health, level: HEALTH[card.health] ?? "" },
  };
}

function causeOf(cause: Component) {
  const why = cause.why ? `, ${cause.why}` : "";
  return { text: `${cause.name}: ${cause.state}${why}`, remedy: cause.remedy };
}

export interface PodRow {
  id: number;
  /** Page of the card in gpudash; null: the card is unidentified. */
  cardId: number | null;
  card: string;
  container: string;
  amount: string;
}

export interface PodView {
  /** Why the pod is pending; null: it is not. */
  pending: string | null;
  rows: PodRow[];
}

/** null: nothing to show, the pod has no GPU and wants none. */
export function podView({ pod, allocations }: PodAnswer): PodView | null {
  if (pod?.pending) {
    return { pending: pod.deciding_reason ?? UNKNOWN, rows: [] };
  }
  return allocations.length > 0 ? { pending: null, rows: allocations.map(podRow) } : null;
}

function podRow(one: Allocation): PodRow {
  return {
    id: one.id,
    cardId: one.card_id,
    card: one.card ?? "unidentified",
    container: one.container,
    amount: amountOf(one),
  };
}

function amountOf(one: Allocation): string {
  if (one.memory_bytes !== null) {
    return `${gib(one.memory_bytes, one.mode)} GiB`;
  }
  return one.mode === "shares" ? `${counted(one.quantity, "share")}, not metered` : UNKNOWN;
}

/** 31.75: a number of GiB with at most two digits after the point. */
export function gib(bytes: number | null, mode: string): string {
  if (bytes === null) {
    return mode === "shares" ? "not metered" : UNKNOWN;
  }
  return (bytes / GIB).toLocaleString("en-US", { maximumFractionDigits: 2 });
}

function counted(number: number, word: string): string {
  return `${number.toLocaleString("en-US")} ${word}${number === 1 ? "" : "s"}`;
}
