// The palette: a dialog with one field; what it finds comes from the server as links. Arrows walk, Enter follows, Escape closes.
"use strict";

(() => {
  const WAIT_MS = 150;
  const dialog = document.getElementById("palette");
  const keys = document.getElementById("keys");
  if (!dialog?.showModal) return;
  const [text, found] = [document.getElementById("palette-text"), document.getElementById("palette-found")];
  const part = { headers: { "HX-Request": "true" } };
  let timer = 0;
  let asked = 0;

  async function ask() {
    asked += 1;
    const mine = asked;
    const answer = await fetch(`${dialog.dataset.url}?q=${encodeURIComponent(text.value)}`, part).catch(() => null);
    // A slower answer to an earlier text, or the sign-in page, is not shown.
    if (mine !== asked || !answer?.ok || answer.redirected) return;
    found.innerHTML = await answer.text();
  }

  function open() {
    if (dialog.open) return;
    keys?.close();
    text.value = "";
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

  // From the field into the links and back; the field comes before the first and after the last.
  function walk(step) {
    const stops = [text, ...found.querySelectorAll("a")];
    const at = stops.indexOf(document.activeElement);
    stops.at((at + step) % stops.length).focus();
  }

  dialog.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      walk(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Enter" && event.target === text) {
      event.preventDefault();
      found.querySelector("a")?.click();
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
  document.addEventListener("gpudash:keys", openKeys);
})();
