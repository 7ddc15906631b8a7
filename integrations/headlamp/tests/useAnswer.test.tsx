import { act, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { useAnswer } from "../src/useAnswer";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));

test("asks again twice a minute while the page is open", async () => {
  let number = 0;
  const load = vi.fn(async () => ++number);
  const { result, unmount } = renderHook(() => useAnswer("a", load));
  expect(result.current.value).toBeUndefined();
  await pass(0);
  expect(result.current.value).toBe(1);
  await pass(30_000);
  expect(result.current.value).toBe(2);
  unmount();
  await pass(120_000);
  expect(load).toHaveBeenCalledTimes(2);
});

test("an error takes the place of the last answer, and goes with the next", async () => {
  let asked = 0;
  const answers = [async () => 1, () => Promise.reject(new Error("gone")), async () => 3];
  const { result } = renderHook(() => useAnswer<number>("a", () => answers[asked++]()));
  await pass(0);
  await pass(30_000);
  expect([result.current.value, result.current.error]).toEqual([undefined, "gone"]);
  await pass(30_000);
  expect([result.current.value, result.current.error]).toEqual([3, undefined]);
});

test("a late answer for another page is not shown", async () => {
  const after = (ms: number, value: string) => new Promise<string>((done) => setTimeout(() => done(value), ms));
  const { result, rerender } = renderHook(({ key, ms }) => useAnswer(key, () => after(ms, key)), {
    initialProps: { key: "slow", ms: 5000 },
  });
  rerender({ key: "quick", ms: 10 });
  expect(result.current.value).toBeUndefined();
  await pass(10);
  expect(result.current.value).toBe("quick");
  await pass(10_000);
  expect(result.current.value).toBe("quick");
});
