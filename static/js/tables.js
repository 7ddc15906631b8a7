// Nothing moves under the pointer: while a list is refreshed its rows keep their order. What is new waits until the reader asks for
// it (the line `news` beside the page's state says how much), what has left the list stays, muted. What rows say is always new.
"use strict";

(() => {
  const MARK = "left";
  const rowsOf = (body) => [...body.querySelectorAll(":scope > tr[data-key]")];
  const keyed = (elements) => new Map(elements.map((one) => [one.dataset.key ?? "", one]));
  const allRows = (table) => [...table.tBodies].flatMap(rowsOf);
  const tables = (root) => [...root.querySelectorAll("table[data-steady]")];

  // Puts the rows of the new content in the order that is shown. Returns how many are new, how many left, and whether others moved.
  function keep(live, content) {
    const told = { added: 0, left: 0, moved: false };
    const shown = tables(live);
    for (const [at, table] of tables(content).entries()) if (shown[at]) keepTable(shown[at], table, told);
    return told;
  }

  function keepTable(shown, next, told) {
    const there = allRows(next);
    const [known, fresh] = [keyed(allRows(shown)), keyed(there)];
    if (fresh.size !== there.length) return; // a key names two rows
    // Blanks between parts and rows are matched like these (morph.js): a part would be replaced, and a selection in it lost.
    for (const part of [shown, ...shown.tBodies, next, ...next.tBodies])
      for (const one of [...part.childNodes]) if (one.nodeType === Node.TEXT_NODE) one.remove();
    const order = [...fresh.keys()].filter((key) => known.has(key));
    const bodies = keyed([...next.tBodies]);
    const kept = [...shown.tBodies].map((old) => {
      const body = bodies.get(old.dataset.key ?? "") ?? old.cloneNode(true);
      if (!bodies.delete(old.dataset.key ?? "")) for (const row of rowsOf(body)) row.remove();
      const rows = keyed(rowsOf(body));
      for (const row of rowsOf(old)) {
        const same = rows.get(row.dataset.key);
        rows.delete(row.dataset.key);
        body.append(same ?? muted(row));
        told.left += same ? 0 : 1;
      }
      told.added += away(rows.values());
      return body;
    });
    for (const body of bodies.values()) {
      told.added += rowsOf(body).length;
      body.remove();
    }
    next.append(...kept);
    told.moved ||= order.join("\n") !== [...known.keys()].filter((key) => fresh.has(key)).join("\n");
  }

  function away(rows) {
    let number = 0;
    for (const row of rows) {
      row.remove();
      number += 1;
    }
    return number;
  }

  function muted(row) {
    const copy = row.cloneNode(true);
    copy.classList.add(MARK);
    return copy;
  }

  // Says beside the page's state what waits; "" where nothing does.
  function say({ added, left, moved }) {
    const line = document.getElementById("news");
    if (!line) return "";
    const words = line.dataset;
    const parts = [
      added ? words.added.replace("{}", added) : "",
      left ? words.left.replace("{}", left) : "",
      moved ? words.moved : "",
    ];
    const text = parts.filter(Boolean).join(" · ");
    line.querySelector("span").textContent = text;
    line.hidden = !text;
    return text;
  }

  window.steady = { keep, say };
})();

// Heads of tables stay in sight only where the whole width has room, since a box that scrolls sideways would hold them. A cell whose
// text is cut has it whole in its title.
(() => {
  const seen = new ResizeObserver((entries) => {
    for (const { target } of entries) fit(target.closest(".scroll"));
  });
  const watched = new WeakSet();

  function fit(box) {
    const table = box?.querySelector(":scope > table");
    if (table) box.classList.toggle("fits", table.offsetWidth <= box.clientWidth);
  }

  function look() {
    for (const box of document.querySelectorAll(".scroll")) {
      fit(box);
      for (const one of [box, box.querySelector(":scope > table")]) {
        if (!one || watched.has(one)) continue;
        watched.add(one);
        seen.observe(one);
      }
    }
  }

  document.addEventListener("pointerover", (event) => {
    const cell = event.target.closest?.(".stacked td, .stacked th, .stacked summary");
    if (cell && !cell.title && cell.scrollWidth > cell.clientWidth) cell.title = cell.innerText.trim();
  });
  document.addEventListener("gpudash:swapped", look);
  look();
})();
