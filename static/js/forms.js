// Filter forms: what is empty stays out of the address, so that the address can be read and sent. A choice of the mouse applies at
// once; the keyboard walks through the choices and applies by the button. Menus close when one clicks beside them, and by Escape.
"use strict";

(() => {
  const fields = (form) => form.querySelectorAll("input[name], select[name]");
  document.addEventListener("submit", (event) => {
    if (!event.target.matches(".filters, .search")) return;
    for (const field of fields(event.target)) field.disabled = field.value === "";
  });
  let byKey = false;
  for (const kind of ["keydown", "pointerdown"])
    document.addEventListener(kind, () => (byKey = kind === "keydown"), { capture: true });
  document.addEventListener("change", (event) => {
    if (!byKey && event.target.matches(".filters select")) event.target.form.requestSubmit();
  });
  const closeMenus = (besides) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(besides)) menu.open = false;
  };
  document.addEventListener("pointerdown", (event) => closeMenus(event.target));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") closeMenus(null);
  });
  // Coming back with the browser's button shows the form as it was left: usable again.
  window.addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll(".filters, .search"))
      for (const field of fields(form)) field.disabled = false;
  });
})();

// Buttons that copy a name or a command. Where the browser gives no clipboard (an address without TLS) the text is selected instead.
(() => {
  async function copy(button) {
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
    } catch {
      const beside = button.previousElementSibling || button.parentElement;
      document.getSelection().selectAllChildren(beside);
      return;
    }
    button.classList.add("done");
    setTimeout(() => button.classList.remove("done"), 1500);
    const said = document.getElementById("said");
    if (said) said.textContent = button.dataset.done;
  }
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-copy]");
    if (!button) return;
    event.preventDefault();
    copy(button);
  });
})();

// Ticked rows: kept over the refresh of the table, counted beside the buttons. A button may want exactly so many.
(() => {
  const ticked = new Set();
  const bar = () => document.querySelector("[data-select-bar]");
  function count() {
    const place = bar();
    if (!place) return;
    const output = place.querySelector("output");
    output.textContent = (output.dataset.words || "{}").replace("{}", ticked.size);
    for (const button of place.querySelectorAll("button"))
      button.disabled = button.dataset.picks ? ticked.size !== Number(button.dataset.picks) : ticked.size === 0;
  }
  document.addEventListener("change", (event) => {
    const box = event.target;
    if (box.matches("[data-pick-all]")) {
      for (const one of document.querySelectorAll("input.pick[name=target]")) {
        one.checked = box.checked;
        if (one.checked) ticked.add(one.value);
        else ticked.delete(one.value);
      }
    } else if (box.matches("input.pick")) {
      if (box.checked) ticked.add(box.value);
      else ticked.delete(box.value);
    } else {
      return;
    }
    count();
  });
  document.addEventListener("gpudash:swapped", () => {
    for (const box of document.querySelectorAll("input.pick[name=target]")) box.checked = ticked.has(box.value);
    count();
  });
  for (const box of document.querySelectorAll("input.pick[name=target]:checked")) ticked.add(box.value);
  count();
})();
