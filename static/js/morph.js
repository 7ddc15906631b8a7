// A new text of the page's live part is put into what is shown, by idiomorph. What the reader and other scripts did there stays.
"use strict";

(() => {
  // Attributes that only scripts set, and the reader: the server's text does not take them away.
  const OURS = new Set(["aria-expanded", "open", "style", "tabindex"]);
  const MARK = "row-";

  // Idiomorph finds elements again by their ids. Rows have a key instead, and blocks of the page are known by their class and order:
  // a notice that comes first must not take the place of another block. (Nor may blanks between blocks, which are matched like these.)
  function name(root) {
    for (const one of [...root.childNodes]) if (one.nodeType === Node.TEXT_NODE && one.data.trim() === "") one.remove();
    for (const one of root.querySelectorAll("[data-key]:not([id])"))
      one.id = `${MARK}${one.nodeName}-${one.dataset.key}`;
    const counts = new Map();
    for (const one of root.children) {
      const kind = `${one.nodeName}-${one.classList[0] || ""}`;
      counts.set(kind, (counts.get(kind) || 0) + 1);
      one.id ||= `${MARK}${kind}-${counts.get(kind)}`;
    }
  }

  // What was typed or ticked, and ages, which the browser writes (times.js).
  function keep(shown, next) {
    if (shown.matches("input, select, textarea")) {
      if (shown.defaultValue === next.defaultValue || shown.matches("select")) next.value = shown.value;
      next.checked = shown.checked;
    } else if (shown.matches("time[data-form]") && next.dataset?.form) {
      next.textContent = shown.textContent;
    }
  }

  // True where something had to wait. held: elements that stay as they are. steady: what keeps the order of lists (tables.js).
  function morph(live, html, held, steady) {
    let waiting = held.includes(live);
    if (waiting) return true;
    const waits = (found) => {
      waiting ||= found;
      return found;
    };
    const template = document.createElement("template");
    template.innerHTML = html;
    steady?.(live, template.content);
    name(live);
    name(template.content);
    window.Idiomorph.morph(live, [...template.content.childNodes], {
      morphStyle: "innerHTML",
      callbacks: {
        beforeNodeMorphed(shown, next) {
          if (shown.nodeType !== Node.ELEMENT_NODE || next.nodeType !== Node.ELEMENT_NODE) return true;
          if (waits(held.includes(shown))) return false;
          if (shown.hasAttribute("data-keep") && next.hasAttribute("data-keep")) return false;
          keep(shown, next);
          return true;
        },
        beforeNodeRemoved: (node) => !waits(held.some((one) => node.contains(one))),
        beforeAttributeUpdated: (attribute, _node, kind) => !(kind === "remove" && OURS.has(attribute)),
      },
    });
    for (const one of live.querySelectorAll(`[id^="${MARK}"]`)) one.removeAttribute("id");
    return waiting;
  }

  window.livePart = { morph };
})();
