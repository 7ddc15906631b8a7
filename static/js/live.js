// The live refresh: asks while things change, less often when nothing does, and keeps the reader's place. Without it pages stay as they are.
"use strict";

(() => {
  const EVERY_MS = 5000;
  const MOST_MS = 30000;
  // The pause is a third of the time since the last change, and longer in any case where nobody has touched the page for a while.
  const SHARE = 3;
  const ALONE_MS = 60000;
  const ALONE_EVERY_MS = 15000;
  const SAY_MS = 30000;
  const PATIENCE_MS = 15000;
  const live = document.getElementById("live");
  if (!live || !window.Idiomorph) return;
  const line = document.getElementById("live-state");
  const said = document.getElementById("said");
  const lost = document.getElementById("lost");
  // The text that was drawn last.
  let text = null;
  let waiting = false;
  let paused = sessionStorage.getItem("paused") === "1";
  let failures = 0;
  let asking = false;
  let again = false;
  let changedAt = Date.now();
  let askedAt = Date.now();
  let touchedAt = Date.now();
  let timer = 0;
  let lastSaid = 0;
  // What of lists waits to be shown, in words.
  let news = "";
  let answeredAt = Date.now();
  let known = null;
  let state = "live";
  // Nothing more can be asked.
  let over = false;

  function show() {
    const offline = !navigator.onLine;
    if (lost) lost.hidden = over || offline || failures < 2;
    if (!line) return;
    state = offline ? "offline" : failures > 1 ? "lost" : paused ? "paused" : "live";
    showSync();
    const [words, button] = [line.querySelector("span"), line.querySelector("button")];
    line.hidden = false;
    line.dataset.state = state;
    if (words.textContent !== words.dataset[state]) words.textContent = words.dataset[state];
    button.textContent = paused ? button.dataset.go : button.dataset.pause;
  }

  // What is being selected or written waits, with the block around it; all else goes on.
  function held() {
    const found = [];
    const selection = document.getSelection();
    if (selection?.rangeCount && !selection.isCollapsed) {
      const range = selection.getRangeAt(0);
      const around = range.commonAncestorContainer;
      const place = around.nodeType === Node.ELEMENT_NODE ? around : around.parentElement;
      if (live.contains(place)) found.push(place.closest("[data-key], tr, li, p, table, section, #live"));
      else if (range.intersectsNode(live)) found.push(live);
    }
    const focus = document.activeElement;
    if (focus && live.contains(focus) && focus.matches("input:not([type=checkbox], [type=radio]), select, textarea"))
      found.push(focus.closest("[data-key], form, tr, li, p") || focus);
    return found;
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

  // What the reader has: focus, and which row is at the top of the window.
  function remember() {
    const focus = document.activeElement;
    const anchor = [...live.querySelectorAll("[data-key]")].find((row) => row.getBoundingClientRect().bottom > 0);
    const key = focus && live.contains(focus) ? keyOf(focus) : "";
    return {
      focus: key && [key, [...live.querySelectorAll(key)].indexOf(focus)],
      anchor: anchor && window.scrollY > 0 ? [keyOf(anchor), anchor.getBoundingClientRect().top] : null,
    };
  }

  function restore({ focus, anchor }) {
    if (anchor) {
      const row = live.querySelector(anchor[0]);
      if (row) window.scrollBy(0, row.getBoundingClientRect().top - anchor[1]);
    }
    if (focus && !live.contains(document.activeElement))
      (live.querySelectorAll(focus[0])[focus[1]] || live.querySelector(focus[0]))?.focus({ preventScroll: true });
  }

  function say() {
    if (!said || Date.now() - lastSaid < SAY_MS) return;
    lastSaid = Date.now();
    said.textContent = "";
    requestAnimationFrame(() => {
      said.textContent = news || said.dataset.updated;
    });
  }

  // all: lists in the order in which they are now, with what is new of them.
  function draw(all = false) {
    const place = remember();
    let told = { added: 0, left: 0, moved: false };
    const keep = (shown, content) => {
      told = window.steady.keep(shown, content);
    };
    waiting = window.livePart.morph(live, text, held(), all ? null : keep);
    news = window.steady.say(told);
    document.dispatchEvent(new Event("gpudash:fresh"));
    restore(place);
    document.dispatchEvent(new Event("gpudash:swapped"));
  }

  // Raises what fetch does, also for an answer that is not ours (no fingerprint) but, say, a sign-in page.
  async function fetched() {
    const answer = await fetch(live.dataset.here, {
      headers: {
        "HX-Request": "true",
        "X-Fingerprint": live.dataset.fingerprint,
      },
      cache: "no-store",
      redirect: "manual",
      referrerPolicy: "no-referrer",
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    // Signed out in another tab: the answer leads to the sign-in page. Another language: the whole page is drawn in it.
    if (answer.type === "opaqueredirect" || answer.status === 401) signedOut();
    const language = answer.headers.get("Content-Language");
    if (language && language !== document.documentElement.lang) location.reload();
    const fingerprint = answer.headers.get("X-Fingerprint");
    if (!fingerprint) throw new Error(`${answer.status}`);
    const told = JSON.parse(answer.headers.get("HX-Trigger") || "{}");
    return { fingerprint, told, next: answer.status === 204 ? null : await answer.text() };
  }

  function signedOut() {
    document.getElementById("signed-out").hidden = false;
    if (lost) lost.hidden = true;
    over = true;
  }

  function take({ fingerprint, told, next }) {
    live.dataset.fingerprint = fingerprint;
    if (told.sync) {
      known = { ...told.sync, word: told.sync.level === known?.level ? known.word : "" };
      showSync();
    }
    if (next === null) return;
    text = next;
    changedAt = Date.now();
    draw();
    say();
  }

  // The clusters in one line; while nobody can be asked, since when nothing of them is known.
  function showSync() {
    const place = document.getElementById("sync");
    const sign = place?.querySelector(".sign");
    if (!sign) return;
    const [word, words] = [sign.nextElementSibling, place.lastElementChild];
    known ||= { level: sign.classList[1], word: word.textContent, text: words.textContent };
    const away = state === "offline" || state === "lost";
    const at = new Date(answeredAt).toISOString().slice(11, 16);
    const now = away ? { level: "none", text: `${line.querySelector("span").dataset[state]} · ${at} UTC` } : known;
    if (words.textContent === now.text && sign.classList.contains(now.level)) return;
    sign.className = `sign ${now.level}`;
    sign.textContent = { good: "✓", warning: "!", error: "✕" }[now.level] || "·";
    word.textContent = now.word || "";
    words.textContent = now.text;
    place.title = away ? place.dataset.away.replace("{at}", `${at} UTC`) : "";
  }

  // One question at a time; whoever asks meanwhile has another one after it.
  async function ask() {
    if (asking) {
      again = true;
      return;
    }
    asking = true;
    again = false;
    live.dataset.asking = "";
    askedAt = Date.now();
    let found = null;
    try {
      found = await fetched();
      failures = 0;
      answeredAt = Date.now();
    } catch {
      failures += 1;
    }
    asking = false;
    show();
    try {
      if (found) take(found);
    } finally {
      delete live.dataset.asking;
      plan();
    }
    if (again && found) ask();
  }

  function pause() {
    const now = Date.now();
    const least = now - touchedAt > ALONE_MS ? ALONE_EVERY_MS : EVERY_MS;
    const wanted = failures ? EVERY_MS * 2 ** (failures - 1) * (0.8 + 0.4 * Math.random()) : (now - changedAt) / SHARE;
    return Math.min(MOST_MS, Math.max(least, wanted));
  }

  function plan() {
    clearTimeout(timer);
    timer = setTimeout(tick, pause());
  }

  function tick() {
    clearTimeout(timer);
    if (document.hidden || paused || over || !navigator.onLine) return;
    ask();
  }

  // The reader is there, or there again: what is new is wanted now, and soon again.
  function acted() {
    touchedAt = Date.now();
    if (asking || touchedAt - askedAt < EVERY_MS) return;
    changedAt = touchedAt;
    tick();
  }

  live.addEventListener("refresh", ask);
  // A row that opens is another state of this page: asked for like any other, so that all else stays where it is.
  live.addEventListener("click", (event) => {
    const link = event.target.closest("a.toggle");
    if (!link || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    live.dataset.here = link.getAttribute("href");
    history.replaceState(null, "", link.href);
    ask();
  });
  document.getElementById("news")?.addEventListener("click", (event) => {
    if (!event.target.closest("button") || text === null) return;
    draw(true);
    live.querySelector("tr[data-key] a[href]")?.focus();
  });
  line?.querySelector("button").addEventListener("click", () => {
    paused = !paused;
    sessionStorage.setItem("paused", paused ? "1" : "0");
    show();
    tick();
  });
  function back() {
    if (document.hidden) {
      clearTimeout(timer);
      return;
    }
    touchedAt = Date.now();
    changedAt = touchedAt;
    tick();
  }
  document.addEventListener("visibilitychange", back);
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) back();
  });
  for (const kind of ["pointerdown", "pointermove", "keydown", "wheel"])
    document.addEventListener(kind, acted, { passive: true });
  // What had to wait is drawn when it is let go of.
  for (const kind of ["selectionchange", "focusout"])
    document.addEventListener(kind, () => {
      if (waiting) setTimeout(() => waiting && text !== null && draw());
    });
  window.addEventListener("online", () => {
    failures = 0;
    show();
    tick();
  });
  window.addEventListener("offline", show);
  show();
  plan();
})();
