// @vitest-environment node
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { NodeDetail } from "../src/answers";
import { NoAnswer, nodeOf, podOf } from "../src/gpudash";
import { CLUSTER, type LocalServer, RECORDED, serve, TOKEN } from "./server";

let server: LocalServer;

beforeEach(async () => {
  vi.stubGlobal("window", { location: { origin: "https://headlamp.example.com" } });
  server = await serve();
});

afterEach(async () => {
  await server.close();
  vi.unstubAllGlobals();
});

const nodes = Object.keys(RECORDED).filter((one) => one.startsWith("nodes/"));

test.each(nodes)("%s is asked for once, with the token and nothing else", async (address) => {
  const name = address.split("/")[2];
  const node = await nodeOf(server.settings, "main", name);
  expect(node).toEqual(RECORDED[address]);
  expect((node as NodeDetail).cards.length).toBeGreaterThan(0);
  expect(server.asked.map((one) => one.url)).toEqual([`/api/v1/nodes/${CLUSTER}/${name}`]);
  expect(server.asked[0].headers.authorization).toBe(`Bearer ${TOKEN}`);
  expect([server.asked[0].headers.cookie, server.asked[0].headers.referer]).toEqual([undefined, undefined]);
});

test("a node that gpudash does not know is null", async () => {
  expect(await nodeOf(server.settings, "main", "no/such node")).toBeNull();
  expect(server.asked[0].url).toBe(`/api/v1/nodes/${CLUSTER}/no%2Fsuch%20node`);
});

describe("no answer", () => {
  const why = (settings = server.settings) =>
    nodeOf(settings, "main", "n").then(
      () => "",
      (error: unknown) => (error instanceof NoAnswer ? error.message : `not said: ${error}`),
    );

  test("without an address or a token nothing is asked", async () => {
    expect(await why({})).toContain("Set the address");
    expect(await why({ ...server.settings, token: "" })).toContain("a token");
    expect(server.asked).toEqual([]);
  });

  test("a refusal is said with what to do", async () => {
    server.answerAll(401, JSON.stringify({ detail: "The token has expired." }));
    expect(await why()).toBe("gpudash answered 401: The token has expired.");
  });

  test("a page of another server is no answer", async () => {
    server.answerAll(200, "<html>");
    expect(await why()).toBe("gpudash answered 200: no JSON");
    server.answerAll(502, "<html>");
    expect(await why()).toBe("gpudash answered 502: no JSON");
  });

  test("the token does not follow a redirect", async () => {
    server.answerAll(302, "", { Location: `${server.settings.address}/elsewhere` });
    expect(await why()).toContain(`Cannot read ${server.settings.address}.`);
    expect(server.asked.length).toBe(1);
  });

  test("a server that is not there is named, with the origin to list", async () => {
    await server.close();
    expect(await why()).toMatch(/Cannot read http:.*https:\/\/headlamp\.example\.com in GPUDASH_CORS_ORIGINS/);
    server = await serve();
  });
});

describe("a pod", () => {
  const asked = (prefix: string) => {
    const address = Object.keys(RECORDED).filter((one) => one.startsWith(prefix));
    return address.map((one) => new URLSearchParams(one.split("?")[1]));
  };

  test.each(asked("pods?").map((one) => [one.get("namespace"), one.get("pod")]))("%s/%s", async (namespace, name) => {
    const { pod, allocations } = await podOf(server.settings, "main", String(namespace), String(name));
    expect(pod).not.toBeNull();
    expect(allocations.length > 0).toBe(!pod?.pending);
  });

  test("without a GPU has neither", async () => {
    server.answerAll(200, JSON.stringify({ next: null, previous: null, results: [] }));
    expect(await podOf(server.settings, "main", "a", "b")).toEqual({ pod: null, allocations: [] });
    expect(server.asked.map((one) => one.url)).toEqual(["/api/v1/pods?cluster=demo&namespace=a&pod=b"]);
  });
});
