// The heat map: what the pointer or the focus is on is told beside it, in a few lines that the server has. Without it each cell has a title.
"use strict";

(() => {
  const AFTER_MS = 120;
  const FRESH_MS = 15000;
  // Address of what is told → its text and when it was asked for.
  const known = new Map();
  const box = document.createElement("div");
  box.className = "brief";
  box.id = "brief";
  box.popover = "manual";
  box.setAttribute("role", "tooltip");
  document.querySelector("main").append(box);
  let wanted = "";
  let shown = "";
  let cell = null;
  let timer = 0;

  async function told(address) {
    const kept = known.get(address);
    if (kept && Date.now() - kept.at < FRESH_MS) return kept.text;
    const answer = await fetch(address).catch(() => null);
    const text = answer?.ok && !answer.redirected && answer.status === 200 ? await answer.text() : "";
    known.set(address, { text, at: Date.now() });
    return text;
  }

  function hide() {
    clearTimeout(timer);
    wanted = "";
    cell?.removeAttribute("aria-describedby");
    cell = null;
    if (box.matches(":popover-open")) box.hidePopover();
  }

  // Below the cell or the pointer, above it where there is no room.
  function place(spot) {
    const left = Math.min(spot.left, window.innerWidth - box.offsetWidth - 12);
    const below = spot.bottom + 8;
    const fits = below + box.offsetHeight < window.innerHeight - 8;
    box.style.left = `${Math.max(12, left)}px`;
    box.style.top = `${fits ? below : Math.max(8, spot.top - box.offsetHeight - 8)}px`;
  }

  // What is shown stays until the next is there: a cell of a picture has several places.
  function show(address, spot, of) {
    if (address === wanted) return;
    clearTimeout(timer);
    wanted = address;
    timer = setTimeout(async () => {
      const text = await told(address);
      if (address !== wanted) return;
      if (!text) return hide();
      cell?.removeAttribute("aria-describedby");
      cell = of;
      cell?.setAttribute("aria-describedby", "brief");
      if (box.matches(":popover-open") && text === shown) return;
      box.innerHTML = shown = text;
      if (!box.matches(":popover-open")) box.showPopover();
      place(spot);
    }, AFTER_MS);
  }

  const map = () => document.querySelector("[data-brief]");
  const asked = (href, at) => {
    const base = map().dataset.brief;
    return `${base}?of=${encodeURIComponent(href)}${at ?? ""}`;
  };

  function ofCell(link) {
    // The name stays for screen readers; the browser's own hint would cover ours.
    if (link.title) {
      link.setAttribute("aria-label", link.title);
      link.removeAttribute("title");
    }
    show(asked(link.getAttribute("href")), link.getBoundingClientRect(), link);
  }

  // A picture has no element for a cell: the server finds it by its place.
  function ofPicture(picture, event) {
    const svg = picture.querySelector("svg");
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const spot = { left: event.clientX + 8, top: event.clientY, bottom: event.clientY };
    const [x, y] = [at.x, at.y].map((one) => Math.floor(one / 5) * 5);
    if (x < 0 || y < 0) hide();
    else show(asked(picture.getAttribute("href"), `&at=${x},${y}&per=${map().dataset.per}`), spot, null);
  }

  document.addEventListener("pointermove", (event) => {
    if (event.pointerType === "touch") return;
    const link = event.target.closest?.(".heatcells a, .heatnodes .node > a");
    const picture = event.target.closest?.(".heatpicture");
    if (link) ofCell(link);
    else if (picture) ofPicture(picture, event);
    else if (!cell || cell !== document.activeElement) hide();
  });
  document.addEventListener("focusin", (event) => {
    if (event.target.matches(".heatcells a:focus-visible")) ofCell(event.target);
    else hide();
  });
  document.addEventListener("focusout", hide);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });
  document.addEventListener("scroll", hide, { passive: true });
  document.addEventListener("gpudash:swapped", hide);
})();
