import { describe, expect, test } from "vitest";
import type { Allocation, Card, NodeDetail } from "../src/answers";
import { gib, nodeView, podView } from "../src/rows";

const GIB = 2 ** 30;
const CARD: Card = {
  id: 7,
  key: "GPU-1",
  index: 3,
  model: "NVIDIA A100",
  mode: "memory",
  health: "healthy",
  memory_allocated_bytes: 31.75 * GIB,
  memory_free_bytes: 0,
};
const NODE: NodeDetail = {
  cluster: "prod",
  name: "gpu-1",
  cards_total: 1,
  cards_free: 0,
  unavailable_reason: null,
  cards: [CARD],
  validations: [{ card: "GPU-1", state: "validated" }],
  findings: [],
  components: [],
};
const ALLOCATION: Allocation = {
  id: 1,
  card_id: 7,
  card: "GPU-1",
  container: "main",
  resource: "nvidia.com/gpu",
  quantity: 1,
  mode: "whole",
  memory_bytes: 80 * GIB,
};

describe("gib", () => {
  test.each([
    [31.75 * GIB, "31.75"],
    [0, "0"],
    [-2 * GIB, "-2"],
    [1234.567 * GIB, "1,234.57"],
    [null, "unknown"],
  ])("%s bytes are %s", (bytes, text) => expect(gib(bytes, "memory")).toBe(text));

  test("memory of a shared card is not metered", () => expect(gib(null, "shares")).toBe("not metered"));
});

describe("a node", () => {
  test("has a row for each card", () => {
    expect(nodeView(NODE)).toEqual({
      facts: ["0 of 1 card free", "1 of 1 validated"],
      cards: [
        {
          id: 7,
          card: "3",
          model: "NVIDIA A100",
          allocated: "31.75",
          free: "0",
          validation: { text: "validated", level: "success" },
          health: { text: "healthy", level: "success" },
        },
      ],
      cause: null,
      findings: [],
      moreFindings: 0,
    });
  });

  test("what is unknown is never 0, and never validated", () => {
    const card = {
      ...CARD,
      index: null,
      model: null,
      health: "unknown",
      memory_allocated_bytes: null,
      memory_free_bytes: null,
    };
    const view = nodeView({ ...NODE, cards: [card], validations: [], cards_total: null, cards_free: null });
    expect(view.facts).toEqual(["Cards unknown"]);
    expect(view.cards[0]).toMatchObject({
      card: "GPU-1",
      model: "unknown",
      allocated: "unknown",
      free: "unknown",
      validation: { text: "unknown", level: "" },
      health: { text: "unknown", level: "" },
    });
    expect(nodeView({ ...NODE, cards_free: null }).facts[0]).toBe("unknown of 1 card free");
  });

  test.each([
    ["failed", "failed", "error"],
    ["driver-changed", "driver changed", "warning"],
    ["ran", "result not checked", ""],
    ["detected", "detected only", ""],
    ["never", "not validated", ""],
    ["later-word", "later-word", ""],
  ])("validation %s", (state, text, level) => {
    expect(nodeView({ ...NODE, validations: [{ card: "GPU-1", state }] }).cards[0].validation).toEqual({ text, level });
  });

  test("says why nothing of it can be allocated", () => {
    expect(nodeView({ ...NODE, unavailable_reason: "cordoned" }).facts[2]).toBe("Unavailable: node cordoned");
    expect(nodeView({ ...NODE, unavailable_reason: "later-word" }).facts[2]).toBe("Unavailable: later-word");
  });

  test("names the first cause with its remedy", () => {
    const other = { name: "toolkit", state: "waiting", why: null, remedy: null, first_cause: false };
    const cause = {
      name: "driver",
      state: "crash-looping",
      why: "exit code 1",
      remedy: "Look at its log.",
      first_cause: true,
    };
    expect(nodeView({ ...NODE, components: [other, cause] }).cause).toEqual({
      text: "driver: crash-looping, exit code 1",
      remedy: "Look at its log.",
    });
  });

  test("shows five findings and counts the others", () => {
    const findings = Array.from({ length: 7 }, (_, id) => ({ id, severity: "error", text: `${id}` }));
    const view = nodeView({ ...NODE, findings });
    expect(view.findings.map((one) => one.id)).toEqual([0, 1, 2, 3, 4]);
    expect(view.moreFindings).toBe(2);
  });
});

describe("a pod", () => {
  test("without a GPU has nothing to show", () => {
    expect(podView({ pod: null, allocations: [] })).toBeNull();
    expect(podView({ pod: { pending: false, deciding_reason: null }, allocations: [] })).toBeNull();
  });

  test("is pending for a reason", () => {
    const pending = (deciding_reason: string | null) =>
      podView({ pod: { pending: true, deciding_reason }, allocations: [] });
    expect(pending("No node fits.")).toEqual({ pending: "No node fits.", rows: [] });
    expect(pending(null)).toEqual({ pending: "unknown", rows: [] });
  });

  test.each([
    [{}, "GPU-1", "80 GiB"],
    [{ card: null, card_id: null, memory_bytes: null }, "unidentified", "unknown"],
    [{ memory_bytes: null, mode: "shares", quantity: 1 }, "GPU-1", "1 share, not metered"],
    [{ memory_bytes: null, mode: "shares", quantity: 2 }, "GPU-1", "2 shares, not metered"],
  ])("allocation %o", (part, card, amount) => {
    const pod = { pending: false, deciding_reason: null };
    const view = podView({ pod, allocations: [{ ...ALLOCATION, ...part }] });
    expect(view?.rows[0]).toMatchObject({ card, amount, container: "main" });
  });
});
