// Heads of tables that stay in sight: only where the whole width has room, since a box that scrolls sideways would hold them.
"use strict";

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

  document.addEventListener("gpudash:swapped", look);
  look();
})();
