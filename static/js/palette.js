// Search: a dialog with one field. The server answers with links and buttons. Arrows walk, Enter acts on the first answer to the
// text that stands there, Escape closes.
"use strict";

(() => {
  const WAIT_MS = 150;
  const dialog = document.getElementById("palette");
  const keys = document.getElementById("keys");
  if (!dialog?.showModal) return;
  const [text, found] = [document.getElementById("palette-text"), document.getElementById("palette-found")];
  const part = { headers: { "HX-Request": "true" } };
  let timer = 0;
  // The text whose answer stands there, and the one that was asked for last with its answer to come.
  let shown = null;
  let asked = { value: null, done: Promise.resolve() };

  function ask() {
    clearTimeout(timer);
    if (asked.value === text.value) return asked.done;
    const mine = { value: text.value };
    mine.done = (async () => {
      const here = encodeURIComponent(location.pathname + location.search);
      const url = `${dialog.dataset.url}?q=${encodeURIComponent(mine.value)}&here=${here}`;
      const answer = await fetch(url, part).catch(() => null);
      const good = answer?.ok && !answer.redirected;
      const body = good ? await answer.text() : "";
      // A slower answer to an earlier text is not shown.
      if (mine !== asked) return;
      if (good) {
        found.innerHTML = body;
        shown = mine.value;
      } else if (answer && [401, 403].includes(answer.status)) location.reload();
      else asked = { value: null, done: Promise.resolve() };
    })();
    asked = mine;
    return mine.done;
  }

  function open() {
    if (dialog.open) return;
    keys?.close();
    text.value = "";
    asked = { value: null, done: Promise.resolve() };
    dialog.showModal();
    text.focus();
    ask();
  }

  async function openKeys() {
    if (!keys || keys.open) return;
    dialog.close();
    keys.showModal();
    const list = document.getElementById("keys-list");
    if (list.childElementCount) return;
    const answer = await fetch(keys.dataset.url, part).catch(() => null);
    if (answer?.ok && !answer.redirected) list.innerHTML = await answer.text();
    else location.assign(keys.dataset.url);
  }

  const stops = () => found.querySelectorAll("a, button");

  // From the field into the answers and back; the field comes before the first and after the last.
  function walk(step) {
    const all = [text, ...stops()];
    const at = all.indexOf(document.activeElement);
    all.at((at + step) % all.length).focus();
  }

  async function act() {
    while (dialog.open && shown !== text.value) {
      const value = text.value;
      await ask();
      if (shown !== value && text.value === value) return; // no answer came
    }
    if (dialog.open) stops()[0]?.click();
  }

  dialog.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      walk(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Enter" && event.target === text) {
      event.preventDefault();
      act();
    }
  });
  text.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, WAIT_MS);
  });
  for (const one of [dialog, keys])
    one?.addEventListener("click", (event) => {
      if (event.target === one) one.close();
    });
  document.addEventListener("click", (event) => {
    const opener = event.target.closest?.("[data-opens]");
    if (!opener || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    opener.closest("[popover]")?.hidePopover();
    if (opener.dataset.opens === "keys") openKeys();
    else open();
  });
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k") {
      event.preventDefault();
      if (dialog.open) dialog.close();
      else open();
    }
  });
  document.addEventListener("gpudash:find", open);
  document.addEventListener("gpudash:keys", openKeys);
})();
