// The log of a run, which grows while it is read. The page works without it.
"use strict";

(() => {
  const EVERY_MS = 2000;
  const MOST_LINES = 3000;
  const panel = document.getElementById("log");

  // The log: the server says where it goes on, and new lines are appended; the reader's place stays, unless "follow" is on.
  function grow() {
    const list = panel.querySelector("[data-lines]");
    const box = panel.querySelector(".log-box");
    const toggle = panel.querySelector("[data-follow-toggle]");

    const follow = () => {
      if (toggle?.checked) box.scrollTop = box.scrollHeight;
    };

    const timer = setInterval(() => {
      if (document.hidden) return;
      // While a run is under way its steps are asked for as often as its log.
      const live = document.getElementById("live");
      if (live && sessionStorage.getItem("paused") !== "1") live.dispatchEvent(new Event("refresh"));
      const more = panel.querySelector("[data-more]");
      if (more) window.htmx.trigger(more, "more");
      else clearInterval(timer);
    }, EVERY_MS);

    // A sign-in page, or anything else that is not ours, has no such header.
    const ours = (event) => event.detail.xhr?.getResponseHeader("X-Log-Lines");
    panel.addEventListener("htmx:beforeSwap", (event) => {
      if (!ours(event)) event.detail.shouldSwap = false;
    });
    panel.addEventListener("htmx:afterRequest", (event) => {
      if (!ours(event)) return;
      for (const number of (event.detail.xhr.getResponseHeader("X-Log-Proof") || "").split(","))
        document.getElementById(`L${number}`)?.classList.add("proof");
      // Only whoever follows loses the oldest lines: else what is being read would move.
      while (toggle?.checked && list.children.length > MOST_LINES) list.firstElementChild.remove();
      follow();
    });
    // Who scrolls up wants to read; who scrolls to the end wants to follow.
    let own = 0;
    box.addEventListener("scroll", () => {
      if (!toggle || own === box.scrollTop) return;
      own = box.scrollTop;
      toggle.checked = box.scrollHeight - box.scrollTop - box.clientHeight < 24;
    });
    toggle?.addEventListener("change", follow);
    follow();
  }
  if (panel?.hasAttribute("data-follow") && window.htmx) grow();
  // A link into the log lands in its box.
  const marked =
    panel?.querySelector(".marked") ||
    (panel && location.hash.startsWith("#L") && document.querySelector(`${location.hash}`));
  if (marked) marked.scrollIntoView({ block: "center" });
})();
