import { act, cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Allocation, NodeDetail, Pod } from "../src/answers";
import { NodeSection } from "../src/NodeSection";
import { PodSection } from "../src/PodSection";
import { Fields } from "../src/SettingsForm";
import { CLUSTER, type LocalServer, RECORDED, serve } from "./server";

vi.mock("@kinvolk/headlamp-plugin/lib/CommonComponents", () => import("./headlamp"));
vi.mock("@kinvolk/headlamp-plugin/lib", () => ({}));

let server: LocalServer;

beforeEach(async () => {
  server = await serve();
});

afterEach(async () => {
  cleanup();
  await server.close();
});

const rowsOf = (table: HTMLElement) =>
  within(table)
    .getAllByRole("row")
    .map((row) => [...row.children].map((cell) => cell.textContent));

const addresses = (prefix: string) => Object.keys(RECORDED).filter((one) => one.startsWith(prefix));

test.each(addresses("nodes/"))("the section of %s has a row for each card, with links", async (address) => {
  const node = RECORDED[address] as NodeDetail;
  render(<NodeSection settings={server.settings} cluster="main" name={node.name} />);
  const [head, ...rows] = rowsOf(await screen.findByRole("table"));
  expect(head).toEqual(["Card", "Model", "Allocated, GiB", "Free, GiB", "Validation", "Health"]);
  expect(rows.map((row) => row[0])).toEqual(node.cards.map((card) => String(card.index ?? card.key)));
  expect(rows.map((row) => row[5])).toEqual(node.cards.map((card) => card.health));
  const links = screen.getAllByRole("link").map((link) => link.getAttribute("href"));
  expect(links[0]).toBe(`${server.settings.address}/nodes/${CLUSTER}/${node.name}`);
  expect(links.slice(-node.cards.length)).toEqual(
    node.cards.map((card) => `${server.settings.address}/cards/${card.id}`),
  );
  const cause = node.components.find((one) => one.first_cause);
  expect(screen.queryByText(/^First cause:/)?.textContent?.includes(cause?.name ?? "")).toBe(cause ? true : undefined);
});

test("a node that gpudash does not know says under which name of the cluster", async () => {
  render(<NodeSection settings={server.settings} cluster="main" name="cpu-1" />);
  expect((await screen.findByText(/No GPU on this node/)).textContent).toContain("cluster demo of gpudash");
});

test("a refusal is an alert", async () => {
  server.answerAll(403, JSON.stringify({ detail: "Requires the role viewer." }));
  render(<NodeSection settings={server.settings} cluster="main" name="n" />);
  expect((await screen.findByRole("alert")).textContent).toBe("gpudash answered 403: Requires the role viewer.");
  cleanup();
  render(<PodSection settings={server.settings} cluster="main" namespace="a" name="b" />);
  expect((await screen.findByRole("alert")).textContent).toContain("403");
});

test("text of a cluster stays text", async () => {
  const [address] = addresses("nodes/");
  const node = RECORDED[address] as NodeDetail;
  const findings = [{ id: 1, severity: "error", text: "<img src=x onerror=alert(1)>" }];
  server.answerAll(200, JSON.stringify({ ...node, findings }));
  const { container } = render(<NodeSection settings={server.settings} cluster="main" name="n" />);
  expect(await screen.findByText(/<img src=x onerror=alert\(1\)>/)).toBeTruthy();
  expect(container.querySelector("img")).toBeNull();
});

test.each(addresses("pods?"))("the section of %s", async (address) => {
  const query = new URLSearchParams(address.split("?")[1]);
  const [namespace, name] = [String(query.get("namespace")), String(query.get("pod"))];
  const [pod] = (RECORDED[address] as { results: Pod[] }).results;
  render(<PodSection settings={server.settings} cluster="main" namespace={namespace} name={name} />);
  const link = await screen.findByRole("link", { name: "Open in gpudash" });
  expect(link.getAttribute("href")).toBe(`${server.settings.address}/pods/${CLUSTER}/${namespace}/${name}`);
  if (pod.pending) {
    expect(screen.getByText(/^Pending: /).textContent).toContain(pod.deciding_reason);
    expect(screen.queryByRole("table")).toBeNull();
    return;
  }
  const { results } = RECORDED[`allocations?${query}&page_size=50`] as { results: Allocation[] };
  const [, ...rows] = rowsOf(screen.getByRole("table"));
  expect(rows.map((row) => row.slice(0, 2))).toEqual(results.map((one) => [one.card ?? "unidentified", one.container]));
});

test("a pod without a GPU has no section", async () => {
  server.answerAll(200, JSON.stringify({ results: [] }));
  const read = vi.spyOn(Response.prototype, "json");
  const { container } = render(<PodSection settings={server.settings} cluster="main" namespace="a" name="b" />);
  await act(() => vi.waitFor(() => expect(read.mock.settledResults.map((one) => one.type)).toEqual(["fulfilled"])));
  expect(container.textContent).toBe("");
  read.mockRestore();
});

test("settings are changed one by one, and the token is not shown", () => {
  const changed = vi.fn();
  render(<Fields data={{ address: "gpudash", clusters: { a: "x" } }} onDataChange={changed} clusters={["a", "b"]} />);
  expect(screen.getByText("Must be an address such as https://gpudash.example.com")).toBeTruthy();
  expect(screen.getByLabelText("Token").getAttribute("type")).toBe("password");
  fireEvent.change(screen.getByLabelText("Token"), { target: { value: "gpd_1" } });
  expect(changed).toHaveBeenLastCalledWith({ address: "gpudash", clusters: { a: "x" }, token: "gpd_1" });
  fireEvent.change(screen.getByLabelText("Cluster b in gpudash"), { target: { value: "prod" } });
  expect(changed).toHaveBeenLastCalledWith({ address: "gpudash", clusters: { a: "x", b: "prod" } });
});
