// Keyboard: "/" and ⌘K to search (palette.js), "g" and a letter to a page, "j" and "k" through rows, "?" for all keys, arrows through
// the cards of the overview and of the heat map.
"use strict";

(() => {
  const typing = (element) => element?.matches("input, select, textarea, [contenteditable]");
  let leader = 0;

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target instanceof Element ? event.target : null;
    if (event.key === "Escape" && typing(target)) {
      target.blur();
      return;
    }
    if (typing(target) || document.querySelector("dialog[open]")) return;
    if (event.key === "/") {
      event.preventDefault();
      document.dispatchEvent(new Event("gpudash:find"));
    } else if (event.key === "g") {
      leader = Date.now();
    } else if (Date.now() - leader < 1500 && /^[a-z]$/.test(event.key)) {
      leader = 0;
      document.querySelector(`.side nav a[data-go="${event.key}"]`)?.click();
    } else if (event.key === "j" || event.key === "k") {
      row(event, target, event.key === "j" ? 1 : -1);
    } else if (event.key === "?") {
      event.preventDefault();
      document.dispatchEvent(new Event("gpudash:keys"));
    } else {
      walk(event, target);
    }
  });

  // The first link of the next row, or of the one before.
  function row(event, target, step) {
    const links = [...document.querySelectorAll("main tr[data-key]")].map((one) => one.querySelector("a[href]"));
    const rows = links.filter(Boolean);
    const at = rows.indexOf(target?.closest("tr[data-key]")?.querySelector("a[href]"));
    const next = at < 0 ? (step > 0 ? rows[0] : rows.at(-1)) : rows[at + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
    next.closest("tr").scrollIntoView({ block: "nearest" });
  }

  // The map is one stop for Tab; inside it the arrows walk from tile to tile.
  const TILE = ".map .tile, .heatnodes a";
  const tilesOf = () => [...document.querySelectorAll(TILE)];

  function rove(current) {
    const tiles = tilesOf();
    if (!tiles.length) return;
    const chosen = tiles.includes(current) ? current : tiles[0];
    for (const tile of tiles) tile.tabIndex = tile === chosen ? 0 : -1;
  }

  // The nearest tile above or below, by where they are on the screen.
  function beside(tiles, from, down) {
    const box = from.getBoundingClientRect();
    let best = null;
    let bestDistance = Infinity;
    for (const tile of tiles) {
      const other = tile.getBoundingClientRect();
      const dy = down ? other.top - box.top : box.top - other.top;
      if (dy < 4) continue;
      const distance = dy * 4 + Math.abs(other.left - box.left);
      if (distance < bestDistance) [best, bestDistance] = [tile, distance];
    }
    return best;
  }

  function walk(event, target) {
    const tile = target?.closest(TILE);
    if (!tile) return;
    const tiles = tilesOf();
    const at = tiles.indexOf(tile);
    const next = {
      ArrowRight: () => tiles[at + 1],
      ArrowLeft: () => tiles[at - 1],
      Home: () => tiles[0],
      End: () => tiles[tiles.length - 1],
      ArrowDown: () => beside(tiles, tile, true),
      ArrowUp: () => beside(tiles, tile, false),
    }[event.key];
    if (!next) return;
    event.preventDefault();
    const wanted = next();
    if (wanted) {
      rove(wanted);
      wanted.focus();
    }
  }

  document.addEventListener("focusin", (event) => {
    if (event.target.matches(TILE)) rove(event.target);
  });
  document.addEventListener("gpudash:swapped", () => rove(document.activeElement));
  rove(null);
})();
