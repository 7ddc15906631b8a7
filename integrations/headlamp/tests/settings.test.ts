import { describe, expect, test } from "vitest";
import { addressOf, clusterOf, isSet, pageOf } from "../src/settings";

describe("the address", () => {
  test.each([
    ["https://gpudash.example.com", "https://gpudash.example.com"],
    [" https://gpudash.example.com/ ", "https://gpudash.example.com"],
    ["http://127.0.0.1:8000", "http://127.0.0.1:8000"],
    ["https://tools.example.com/gpudash/", "https://tools.example.com/gpudash"],
  ])("%s", (address, wanted) => expect(addressOf({ address })).toBe(wanted));

  test.each([
    undefined,
    "",
    "gpudash.example.com",
    "javascript:alert(1)",
    "file:///etc/passwd",
    "data:text/html,x",
    "https://me:secret@gpudash.example.com",
    "https://gpudash.example.com?x=1",
    "https://gpudash.example.com#x",
  ])("%s is none", (address) => expect(addressOf({ address })).toBeNull());
});

test("gpudash can be asked with an address and a token", () => {
  expect(isSet({ address: "https://a.example", token: "x" })).toBe(true);
  expect([isSet({}), isSet({ address: "https://a.example", token: " " }), isSet({ token: "x" })]).toEqual([
    false,
    false,
    false,
  ]);
});

test("a cluster has the name that is set, or its own", () => {
  expect(clusterOf({ clusters: { main: " prod " } }, "main")).toBe("prod");
  expect(clusterOf({ clusters: { main: "" } }, "main")).toBe("main");
  expect(clusterOf({}, "main")).toBe("main");
});

test("names of a cluster stay one part of an address", () => {
  const settings = { address: "https://a.example/gpudash" };
  expect(pageOf(settings, "nodes", "a/b", "../x?y#z")).toBe("https://a.example/gpudash/nodes/a%2Fb/..%2Fx%3Fy%23z");
  expect(pageOf(settings, "cards", 7)).toBe("https://a.example/gpudash/cards/7");
});
