// The live refresh: asks every few seconds, swaps only what changed, and keeps the reader's place.
"use strict";

(() => {
  const EVERY_MS = 5000;
  const SAY_MS = 30000;
  const live = document.getElementById("live");
  if (!live || !window.htmx) return;
  const line = document.getElementById("live-state");
  const said = document.getElementById("said");
  const lost = document.getElementById("lost");
  let paused = sessionStorage.getItem("paused") === "1";
  let failures = 0;
  let place = null;
  let lastSaid = 0;

  function show() {
    if (!line) return;
    const state = failures > 1 ? "lost" : paused ? "paused" : "live";
    const [text, button] = [line.querySelector("span"), line.querySelector("button")];
    line.hidden = false;
    line.dataset.state = state;
    text.textContent = text.dataset[state];
    button.textContent = paused ? button.dataset.go : button.dataset.pause;
    if (lost) lost.hidden = failures < 2;
  }

  // A swap would take a selection or a half-written word away: it waits.
  function busy() {
    const selection = document.getSelection();
    const selecting = selection && !selection.isCollapsed && live.contains(selection.anchorNode);
    const focus = document.activeElement;
    return selecting || (focus && live.contains(focus) && focus.matches("input, select, textarea"));
  }

  function tick() {
    if (!document.hidden && !paused && !busy()) window.htmx.trigger(live, "refresh");
  }

  function keyOf(element) {
    return element.id
      ? `#${CSS.escape(element.id)}`
      : element.dataset.key
        ? `[data-key="${CSS.escape(element.dataset.key)}"]`
        : element.getAttribute("href")
          ? `a[href="${CSS.escape(element.getAttribute("href"))}"]`
          : "";
  }

  // What the reader has: focus, open details, boxes scrolled sideways, and which row is at the top of the window.
  function remember() {
    const focus = document.activeElement;
    const anchor = [...live.querySelectorAll("[data-key]")].find((row) => row.getBoundingClientRect().bottom > 0);
    const key = focus && live.contains(focus) ? keyOf(focus) : "";
    return {
      focus: key && [key, [...live.querySelectorAll(key)].indexOf(focus)],
      open: [...live.querySelectorAll("details[open]")].map(keyOf).filter(Boolean),
      scrolled: [...live.querySelectorAll(".scroll")].map((box) => box.scrollLeft),
      anchor: anchor && window.scrollY > 0 ? [keyOf(anchor), anchor.getBoundingClientRect().top] : null,
    };
  }

  function restore({ focus, open, scrolled, anchor }) {
    for (const key of open) live.querySelector(key)?.setAttribute("open", "");
    live.querySelectorAll(".scroll").forEach((box, index) => {
      box.scrollLeft = scrolled[index] || 0;
    });
    if (anchor) {
      const row = live.querySelector(anchor[0]);
      if (row) window.scrollBy(0, row.getBoundingClientRect().top - anchor[1]);
    }
    if (focus)
      (live.querySelectorAll(focus[0])[focus[1]] || live.querySelector(focus[0]))?.focus({ preventScroll: true });
  }

  function say() {
    document.dispatchEvent(new Event("gpudash:fresh"));
    if (!said || Date.now() - lastSaid < SAY_MS) return;
    lastSaid = Date.now();
    said.textContent = "";
    requestAnimationFrame(() => {
      said.textContent = said.dataset.updated;
    });
  }

  live.addEventListener("htmx:configRequest", (event) => {
    event.detail.headers["X-Fingerprint"] = live.dataset.fingerprint;
  });
  live.addEventListener("htmx:beforeSwap", (event) => {
    const fingerprint = event.detail.xhr.getResponseHeader("X-Fingerprint");
    // No fingerprint: not our part but, say, a sign-in page.
    if (!fingerprint || busy()) {
      event.detail.shouldSwap = false;
      return;
    }
    live.dataset.fingerprint = fingerprint;
    place = remember();
  });
  live.addEventListener("htmx:afterSwap", () => {
    if (place) restore(place);
    place = null;
    document.dispatchEvent(new Event("gpudash:swapped"));
    say();
  });
  live.addEventListener("htmx:afterRequest", (event) => {
    const answered = event.detail.xhr?.getResponseHeader("X-Fingerprint");
    failures = answered ? 0 : failures + 1;
    show();
  });
  document.body.addEventListener("sync", (event) => {
    const sync = document.getElementById("sync");
    const sign = sync?.querySelector(".sign");
    if (!sign) return;
    sign.className = `sign ${event.detail.level}`;
    sign.textContent = { good: "✓", warning: "!", error: "✕" }[event.detail.level] || "·";
    sync.lastElementChild.textContent = event.detail.text;
  });
  line?.querySelector("button").addEventListener("click", () => {
    paused = !paused;
    sessionStorage.setItem("paused", paused ? "1" : "0");
    show();
    tick();
  });
  document.addEventListener("visibilitychange", tick);
  show();
  setInterval(tick, EVERY_MS);
})();
