// Help on a word: the browser opens and closes it (popover); here it is put beside its button, and says whether it is open.
"use strict";

(() => {
  let button = null;

  document.addEventListener(
    "click",
    (event) => {
      button = event.target.closest?.("button[popovertarget]") || button;
    },
    true,
  );

  function place(text) {
    const box = button.getBoundingClientRect();
    const width = Math.min(340, window.innerWidth - 24);
    text.style.width = `${width}px`;
    text.style.left = `${Math.max(12, Math.min(box.left - 12, window.innerWidth - width - 12))}px`;
    const below = box.bottom + 6;
    const fits = below + text.offsetHeight < window.innerHeight - 8;
    text.style.top = `${fits ? below : Math.max(8, box.top - text.offsetHeight - 6)}px`;
  }

  document.addEventListener(
    "toggle",
    (event) => {
      const text = event.target;
      if (!text.matches?.(".term-text")) return;
      const open = event.newState === "open";
      for (const one of document.querySelectorAll(`button[popovertarget="${CSS.escape(text.id)}"]`))
        one.setAttribute("aria-expanded", open && one === button ? "true" : "false");
      if (open && button) place(text);
    },
    true,
  );
  window.addEventListener("scroll", () => document.querySelector(".term-text:popover-open")?.hidePopover(), {
    passive: true,
  });
})();
