// Keeps the ages on the page fresh: each <time data-form> says how long ago its moment is.
"use strict";

(() => {
  const UNITS = [
    ["d", 86400, 2 * 86400],
    ["h", 3600, 3600],
    ["min", 60, 60],
    ["s", 1, 0],
  ];
  // The server's clock counts. A page from the browser's store has an old time, which is not used.
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

// Times are in the reader's zone: the server knows it from a cookie, since it writes all of them. A page in another zone is asked for again.
(() => {
  const { zone, root } = document.body.dataset;
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const known = () => document.cookie.split("; ").includes(`zone=${own}`);
  // A cookie that is there and does nothing, or is not kept: then the page stays as it is.
  if (!zone || !own || zone === own || known()) return;
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API needs a secure context
  document.cookie = `zone=${own}; path=${root}; max-age=31536000; samesite=lax`;
  if (known()) location.reload();
})();
