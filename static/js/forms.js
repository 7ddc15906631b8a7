// Filter forms: what is empty stays out of the address, so that the address can be read and sent.
"use strict";

(() => {
  const fields = (form) => form.querySelectorAll("input[name], select[name]");
  document.addEventListener("submit", (event) => {
    if (!event.target.matches(".filters, .search")) return;
    for (const field of fields(event.target)) field.disabled = field.value === "";
  });
  // Coming back with the browser's button shows the form as it was left: usable again.
  window.addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll(".filters, .search"))
      for (const field of fields(form)) field.disabled = false;
  });
})();
