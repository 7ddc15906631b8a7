// Charts are drawn by the server. Each is asked for when its page is there and each minute, and read out by mouse, finger and keys.
"use strict";

(() => {
  const EVERY_MS = 60000;
  // Figure → the place in its readings that is read out.
  const read = new WeakMap();

  const readings = (figure) => JSON.parse(figure.dataset.readings);

  // top: where the pointer is, in the plots; without one the reading stands above.
  function show(figure, at, top) {
    const plots = figure.querySelector(".plots");
    const [x, text] = readings(figure)[at] ?? [];
    if (!plots) return;
    read.set(figure, at);
    figure.toggleAttribute("data-read", text !== undefined);
    figure.querySelector(".readout").textContent = text ?? "";
    plots.style.setProperty("--at", x ?? 0);
    plots.style.setProperty("--side", x > 50 ? "calc(-100% - 12px)" : "12px");
    const readout = figure.querySelector(".readout");
    const most = plots.clientHeight - readout.offsetHeight;
    plots.style.setProperty("--beside", `${Math.max(0, Math.min(top === undefined ? 12 : top + 14, most))}px`);
  }

  async function ask(figure) {
    const answer = await fetch(figure.dataset.chart).catch(() => null);
    if (!answer?.ok || answer.redirected) return;
    window.Idiomorph?.morph(figure, await answer.text());
    if (read.get(figure) !== undefined) show(figure, read.get(figure));
    plan(figure);
  }

  // A number of seconds that is not 0: it is not drawn yet, or a Prometheus is being asked.
  function plan(figure) {
    const wait = Number(figure.dataset.wait);
    if (wait) setTimeout(ask, Math.max(wait, 0) * 1000, figure);
  }

  const charts = () => document.querySelectorAll("[data-chart]");

  function again() {
    if (document.hidden || sessionStorage.getItem("paused") === "1") return;
    for (const figure of charts()) ask(figure);
  }

  document.addEventListener("pointermove", (event) => {
    for (const figure of document.querySelectorAll(".chart[data-read]"))
      if (!figure.contains(event.target) && !figure.contains(document.activeElement)) show(figure);
    const area = event.target.closest?.(".chart .plots")?.querySelector(".plot .area");
    if (!area) return;
    const figure = area.closest(".chart");
    const x = ((event.clientX - area.getBoundingClientRect().left) / area.clientWidth) * 100;
    const far = readings(figure).map(([place]) => Math.abs(place - x));
    const plots = area.closest(".plots");
    show(figure, far.indexOf(Math.min(...far)), event.clientY - plots.getBoundingClientRect().top);
  });

  document.addEventListener("keydown", (event) => {
    const figure = event.target.matches?.(".chart .plots") && event.target.closest(".chart");
    if (!figure) return;
    const last = readings(figure).length - 1;
    const from = read.get(figure) ?? last;
    const to = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: last }[event.key];
    if (to === undefined || last < 0) return;
    event.preventDefault();
    show(figure, Math.min(Math.max(to, 0), last));
  });

  function begin() {
    for (const figure of charts()) {
      if (read.has(figure)) continue;
      read.set(figure, undefined);
      plan(figure);
    }
  }

  begin();
  document.addEventListener("gpudash:swapped", begin);
  setInterval(again, EVERY_MS);
})();
