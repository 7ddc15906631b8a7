// Charts of what was: asks REST for the numbers, draws them with uPlot, and reads them out at the cursor, by mouse, finger and keys.
"use strict";

(() => {
  const EVERY_MS = 60000;
  const SOON_MS = 1000;
  const MOST_TRIES = 10;
  const GIB = 2 ** 30;
  // Pixels between the margins of a sheet of A4, less the frame of a panel.
  const PAPER = 660;
  const LANGUAGE = document.documentElement.lang || "en";
  const MEMORY = [
    { name: "memory_total_bytes", colour: "--edge", dash: [2, 4] },
    { name: "memory_used_peak_bytes", colour: "--most" },
    { name: "memory_allocated_bytes", colour: "--allocated", dash: [6, 4], stepped: true },
    { name: "memory_used_bytes", colour: "--used", width: 2 },
  ];
  const WORK = [
    { name: "utilization_ratio", colour: "--utilization" },
    { name: "activity_ratio", colour: "--activity", width: 2 },
  ];
  // Steps of an axis of bytes: powers of two.
  const BINARY = Array.from({ length: 40 }, (_none, power) => 2 ** (power + 20));
  const drawn = new WeakMap();

  // of: the largest of the amounts that stand beside each other, which have one unit.
  function gib(bytes, of = bytes) {
    const [size, unit] =
      of >= 1024 * GIB ? [1024 * GIB, "TiB"] : of && of < GIB / 10 ? [GIB / 1024, "MiB"] : [GIB, "GiB"];
    const value = bytes / size;
    return `${value.toLocaleString(LANGUAGE, { maximumFractionDigits: value < 100 ? 1 : 0 })} ${unit}`;
  }

  function percent(ratio) {
    return ratio > 0 && ratio < 0.01 ? "< 1%" : `${Math.round(ratio * 100)}%`;
  }

  function moment(seconds) {
    const format = {
      month: "short",
      day: "numeric",
      hour: "2-digit",
      minute: "2-digit",
      hourCycle: "h23",
      timeZone: "UTC",
    };
    return `${new Date(seconds * 1000).toLocaleString(LANGUAGE, format)} UTC`;
  }

  // A label of the axis: the day where it begins, the time of day within it.
  function tick(at) {
    const format =
      at % 86400 === 0
        ? { month: "short", day: "numeric", timeZone: "UTC" }
        : { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: "UTC" };
    return new Date(at * 1000).toLocaleString(LANGUAGE, format);
  }

  function colour(figure, name) {
    const probe = document.createElement("i");
    probe.style.color = `var(${name})`;
    figure.append(probe);
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found;
  }

  // A value between two gaps has no line: it gets a point.
  function lonely(plot, series) {
    const values = plot.data[series];
    const found = [];
    for (let at = 0; at < values.length; at++)
      if (values[at] != null && values[at - 1] == null && values[at + 1] == null) found.push(at);
    return found;
  }

  function onPaper() {
    return "paper" in document.documentElement.dataset;
  }

  function options(figure, lines, { height, format, top, steps }) {
    const soft = colour(figure, "--soft");
    const grid = { stroke: colour(figure, "--line"), width: 1 };
    const axis = { stroke: soft, grid, ticks: grid, font: "12px system-ui, sans-serif" };
    return {
      width: onPaper() ? PAPER : figure.clientWidth,
      height,
      tzDate: (seconds) => window.uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
      legend: { show: false },
      cursor: { sync: { key: figure.id }, drag: { x: false, y: false }, points: { size: 7 } },
      scales: { y: { range: (_plot, _low, high) => [0, top || (high || 1) * 1.05] } },
      axes: [
        { ...axis, values: (_plot, splits) => splits.map(tick), space: 70 },
        { ...axis, values: (_plot, splits) => splits.map((one) => format(one, splits.at(-1))), size: 74, incrs: steps },
      ],
      series: [
        {},
        ...lines.map((line) => ({
          stroke: colour(figure, line.colour),
          width: line.width || 1,
          dash: line.dash,
          paths: line.stepped ? window.uPlot.paths.stepped({ align: 1 }) : undefined,
          points: { show: true, size: 4, filter: lonely },
        })),
      ],
    };
  }

  class Chart {
    constructor(figure) {
      this.figure = figure;
      this.words = JSON.parse(figure.dataset.words);
      this.canvas = figure.querySelector(".canvas");
      this.readout = figure.querySelector(".readout");
      this.plots = [];
      this.at = null;
      this.tries = 0;
      this.canvas.addEventListener("keydown", (event) => this.onKey(event));
      new ResizeObserver(() => this.resize()).observe(figure);
    }

    async ask() {
      try {
        const answer = await fetch(this.figure.dataset.chart, { headers: { Accept: "application/json" } });
        if (!answer.ok) throw new Error(String(answer.status));
        const told = await answer.json();
        this.draw(told);
        // A Prometheus is being asked: what it knows comes in a moment.
        if (told.asking && this.tries++ < MOST_TRIES) setTimeout(() => this.ask(), SOON_MS);
      } catch {
        if (!this.plots.length) this.say(this.words.lost);
      }
    }

    again() {
      this.tries = 0;
      this.ask();
    }

    say(text) {
      this.clear();
      const line = document.createElement("p");
      line.className = "says";
      line.textContent = text;
      this.canvas.append(line);
    }

    clear() {
      for (const plot of this.plots) plot.destroy();
      this.plots = [];
      this.canvas.replaceChildren();
      this.figure.querySelector(".lines").replaceChildren();
    }

    draw(told) {
      this.told = told;
      const begin = Date.parse(told.begins_at) / 1000;
      const steps = Math.round((Date.parse(told.ends_at) / 1000 - begin) / told.step_s);
      this.times = Array.from({ length: steps }, (_none, step) => begin + step * told.step_s);
      const known = (lines) => lines.filter((line) => told.columns[line.name]);
      if (!known([...MEMORY, ...WORK]).length) {
        this.say(this.words.empty);
        return;
      }
      this.clear();
      this.add(this.words.memory, known(MEMORY), { height: 220, format: gib, steps: BINARY });
      this.add(this.words.work, known(WORK), { height: 120, format: percent, top: 1, steps: [0.25, 0.5, 1] });
      this.read(this.at);
    }

    add(title, lines, look) {
      if (!lines.length) return;
      const head = document.createElement("h3");
      head.textContent = title;
      this.canvas.append(head);
      const plot = new window.uPlot(
        options(this.figure, lines, look),
        [this.times, ...lines.map((line) => this.told.columns[line.name])],
        this.canvas,
      );
      plot.hooks.setCursor = [() => this.onCursor(plot)];
      this.plots.push(plot);
      for (const line of lines) this.addLegend(line);
    }

    addLegend(line) {
      const item = document.createElement("li");
      const mark = document.createElement("i");
      mark.style.setProperty("--colour", `var(${line.colour})`);
      mark.style.setProperty("--stroke", !line.dash ? "solid" : line.stepped ? "dashed" : "dotted");
      item.append(mark, this.words[line.name]);
      this.figure.querySelector(".lines").append(item);
    }

    onCursor(plot) {
      if (plot.cursor.idx !== this.at && plot.cursor.idx != null) this.read(plot.cursor.idx);
    }

    onKey(event) {
      const last = (this.times || []).length - 1;
      const from = this.at ?? last;
      const to = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: last }[event.key];
      if (to === undefined || last < 0) return;
      event.preventDefault();
      const at = Math.min(Math.max(to, 0), last);
      this.read(at);
      for (const plot of this.plots) plot.setCursor({ left: plot.valToPos(this.times[at], "x"), top: 0 }, false);
    }

    // All that is known of one step, in words.
    read(at) {
      this.at = at;
      if (at == null || at >= this.times.length) {
        this.readout.textContent = "";
        return;
      }
      const value = (name) => this.told.columns[name]?.[at];
      const parts = [];
      for (const [lines, format] of [
        [MEMORY, gib],
        [WORK, percent],
      ])
        for (const line of lines)
          if (value(line.name) != null) parts.push(`${this.words[line.name]} ${format(value(line.name))}`);
      if (!parts.length) parts.push(this.words.nothing);
      const [cards, measured, unknown] = [value("cards"), value("cards_measured"), value("unknown")];
      if (cards != null && measured < cards)
        parts.push(
          this.words.measured.replace("%(measured)s", Math.round(measured)).replace("%(cards)s", Math.round(cards)),
        );
      if (unknown) parts.push(this.words.unknown.replace("%(n)s", Math.round(unknown)));
      this.readout.textContent = `${moment(this.times[at])}: ${parts.join(" · ")}`;
    }

    // With the colours and the width that there are now.
    redraw() {
      if (this.plots.length) this.draw(this.told);
    }

    resize() {
      if (onPaper()) return;
      for (const plot of this.plots)
        if (plot.width !== this.figure.clientWidth && this.figure.clientWidth)
          plot.setSize({ width: this.figure.clientWidth, height: plot.height });
    }
  }

  function begin() {
    for (const figure of document.querySelectorAll("[data-chart]")) {
      if (drawn.has(figure)) continue;
      const chart = new Chart(figure);
      drawn.set(figure, chart);
      if (window.uPlot) chart.ask();
      else chart.say(chart.words.missing);
    }
  }

  function again() {
    if (document.hidden || !window.uPlot || sessionStorage.getItem("paused") === "1") return;
    for (const figure of document.querySelectorAll("[data-chart]")) drawn.get(figure)?.again();
  }

  function paper(on) {
    document.documentElement.toggleAttribute("data-paper", on);
    for (const figure of document.querySelectorAll("[data-chart]")) drawn.get(figure)?.redraw();
  }

  begin();
  window.addEventListener("beforeprint", () => paper(true));
  window.addEventListener("afterprint", () => paper(false));
  document.addEventListener("gpudash:swapped", begin);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  setInterval(again, EVERY_MS);
})();
