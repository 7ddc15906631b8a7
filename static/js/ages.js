// Keeps the ages on the page fresh: each <time data-form> says how long ago its moment is.
"use strict";

(() => {
  const UNITS = [
    ["d", 86400, 2 * 86400],
    ["h", 3600, 3600],
    ["min", 60, 60],
    ["s", 1, 0],
  ];
  // The server's clock counts. A page that comes back from the browser's store tells an old time: it is not asked then.
  const words = document.body.dataset;
  const [visit] = performance.getEntriesByType("navigation");
  const fresh = visit?.type !== "back_forward";
  const skew = fresh ? Date.now() - (Date.parse(words.now) || Date.now()) : 0;

  function span(seconds) {
    const whole = Math.max(0, Math.floor(seconds));
    const [name, size] = UNITS.find(([, , least]) => whole >= least);
    return (words[name] || "{}").replace("{}", Math.floor(whole / size));
  }

  function freshen() {
    const now = Date.now() - skew;
    for (const element of document.querySelectorAll("time[data-form]")) {
      const text = span((now - Date.parse(element.dateTime)) / 1000);
      const wanted = element.dataset.form === "ago" ? (words.ago || "{}").replace("{}", text) : text;
      if (element.textContent !== wanted) element.textContent = wanted;
    }
  }

  setInterval(() => {
    if (!document.hidden) freshen();
  }, 1000);
  document.addEventListener("visibilitychange", freshen);
  document.addEventListener("gpudash:fresh", freshen);
})();
