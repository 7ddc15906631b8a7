// The link of the demo: one click for a person. Who only fetches the page, or draws it ahead of time, does not use the link up.
"use strict";

(() => {
  const send = () => document.getElementById("sign-in-link").requestSubmit();
  if (document.prerendering) document.addEventListener("prerenderingchange", send, { once: true });
  else send();
})();
