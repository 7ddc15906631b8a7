// What stays in sight. Heads of tables: only where the whole width has room, since a box that scrolls sideways would hold them. In
// the bar, where its names do not fit, that of the page that is open.
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

  const open = document.querySelector(".bar nav [aria-current]");
  const names = open?.parentElement;
  if (names) names.scrollLeft = open.offsetLeft - names.offsetLeft - (names.clientWidth - open.offsetWidth) / 2;

  document.addEventListener("gpudash:swapped", look);
  look();
})();
