/** The built file, as Headlamp runs it: with Headlamp's libraries in `pluginLib`, and a local gpudash. */

import Link from "@mui/material/Link";
import Stack from "@mui/material/Stack";
import TextField from "@mui/material/TextField";
import Typography from "@mui/material/Typography";
import { cleanup, render, screen } from "@testing-library/react";
import * as React from "react";
import * as ReactJSX from "react/jsx-runtime";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import source from "../dist/main.js?raw";
import type { NodeDetail } from "../src/answers";
import * as CommonComponents from "./headlamp";
import { type LocalServer, RECORDED, serve } from "./server";

type Section = React.ComponentType<{ resource: unknown }>;
type SettingsForm = React.ComponentType<{ data?: object; onDataChange?: (data: object) => void }>;

const registerDetailsViewSection = vi.fn<(section: Section) => void>();
const registerPluginSettings = vi.fn<(name: string, form: SettingsForm, saves: boolean) => void>();
let server: LocalServer;
/** What Headlamp keeps for the plugin; undefined before the first save. */
let kept: object | undefined;

class ConfigStore {
  useConfig = () => () => kept;
}

beforeEach(async () => {
  server = await serve();
  kept = server.settings;
  const pluginLib = {
    React,
    ReactJSX,
    MuiMaterial: { Link, Stack, TextField, Typography },
    CommonComponents,
    ConfigStore,
    K8s: { useClustersConf: () => ({ main: {} }) },
    registerDetailsViewSection,
    registerPluginSettings,
  };
  new Function("globalThis", source).call(undefined, { pluginLib });
});

afterEach(async () => {
  cleanup();
  vi.clearAllMocks();
  await server.close();
});

const resource = (kind: string, name: string) => ({ kind, cluster: "main", metadata: { name, namespace: "default" } });

function show(kind: string, name: string) {
  const [[Shown]] = registerDetailsViewSection.mock.calls;
  return render(<Shown resource={resource(kind, name)} />).container;
}

test("it registers one section, and settings under the name of the package", () => {
  expect(registerDetailsViewSection).toHaveBeenCalledTimes(1);
  expect(registerPluginSettings.mock.calls.map(([name, , saves]) => [name, saves])).toEqual([["gpudash", true]]);
});

test("a node has its cards", async () => {
  const [address] = Object.keys(RECORDED).filter((one) => one.startsWith("nodes/"));
  const node = RECORDED[address] as NodeDetail;
  show("Node", node.name);
  await screen.findByRole("table");
  expect(screen.getAllByRole("row").length).toBe(1 + node.cards.length);
});

test("before it is set, a node says what to do, and a pod nothing", async () => {
  kept = undefined;
  show("Node", "n");
  expect((await screen.findByRole("alert")).textContent).toContain("Set the address of gpudash");
  cleanup();
  expect(show("Pod", "p").textContent).toBe("");
  expect(server.asked).toEqual([]);
});

test.each(["Deployment", "Namespace"])("a %s has no section", (kind) => {
  expect(show(kind, "x").textContent).toBe("");
  expect(server.asked).toEqual([]);
});

test("the settings have a field for each cluster", () => {
  const [[, Form]] = registerPluginSettings.mock.calls;
  render(<Form data={server.settings} />);
  expect(screen.getByLabelText("Cluster main in gpudash").getAttribute("value")).toBe("demo");
});
