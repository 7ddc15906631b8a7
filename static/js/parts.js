// The live part of a page: the text that the server tells changes of, and the page that follows it, element by element.
"use strict";

(() => {
  // As in pages/frame/live.py: ages are the browser's own, and no part of the text.
  const AGES = /(<time[^>]* data-form="[^>]*>)[^<]*/g;
  const PRIME = 65521;

  function textOf(html) {
    return html.replace(AGES, "$1");
  }

  // As in pages/frame/changes.py: a number copies pieces, a list goes to a piece, a text stands for one.
  function follow(text, changes) {
    const had = text.split("<");
    const made = [];
    let at = 0;
    for (const one of changes) {
      if (Array.isArray(one)) {
        at = one[0];
      } else if (typeof one === "number") {
        for (const end = at + one; at < end; at++) made.push(had[at]);
      } else {
        made.push(one);
        at++;
      }
    }
    return made.join("<");
  }

  // Adler-32 of the text in UTF-8.
  function sum(text) {
    let [a, b] = [1, 0];
    for (const byte of new TextEncoder().encode(text)) {
      a = (a + byte) % PRIME;
      b = (b + a) % PRIME;
    }
    return b * 65536 + a;
  }

  // A copy of what stands on the page, without ages.
  function copied(live) {
    const copy = live.cloneNode(true);
    for (const age of copy.querySelectorAll("time[data-form]")) age.textContent = "";
    return copy;
  }

  function parsed(text) {
    const made = document.createElement("template");
    made.innerHTML = text;
    return made.content;
  }

  // What an element is known by: its own key, else the first name of something in it, as the heading of a section.
  function nameOf(node) {
    const key = node.dataset?.key || node.id || node.querySelector?.("[id]")?.id;
    return key ? `${node.nodeName} ${key}` : node.nodeName;
  }

  // For each new node the old one that it comes from, by name and order; undefined for what is new.
  function matched(olds, news) {
    const free = new Map();
    olds.forEach((node, index) => {
      const name = nameOf(node);
      if (!free.has(name)) free.set(name, []);
      free.get(name).push(index);
    });
    return news.map((node) => free.get(nameOf(node))?.shift());
  }

  // Brings what is shown up to date. `had` is what it was drawn from and is brought along: only what differs between that and
  // the new text is touched, so what the reader and other scripts did to the page stays. `held` are elements that wait.
  class Drawing {
    constructor(held, stays) {
      this.held = held;
      this.stays = stays;
      this.waiting = false;
    }

    // Whether something that waits is this or in it.
    holds(node) {
      const found = this.held.some((one) => node.contains(one));
      if (found) this.waiting = true;
      return found;
    }

    element(shown, had, next) {
      if (had.isEqualNode(next)) return;
      if (this.held.includes(shown)) {
        this.waiting = true;
        return;
      }
      if (next.nodeType !== Node.ELEMENT_NODE) {
        shown.data = next.data;
        had.data = next.data;
        return;
      }
      // What draws itself, as charts do.
      if (had.hasAttribute("data-keep") && next.hasAttribute("data-keep")) return;
      for (const { name } of [...had.attributes])
        if (!next.hasAttribute(name)) for (const one of [shown, had]) one.removeAttribute(name);
      for (const { name, value } of next.attributes)
        if (had.getAttribute(name) !== value) for (const one of [shown, had]) one.setAttribute(name, value);
      this.children(shown, had, next);
    }

    children(shown, had, next) {
      const [drawn, olds, news] = [shown, had, next].map((one) => [...one.childNodes]);
      if (olds.length === news.length && olds.every((node, index) => node.isEqualNode(news[index]))) return;
      // Another script added something here: what it was drawn from is not found again.
      if (drawn.length !== olds.length || drawn.some((node, index) => node.nodeName !== olds[index].nodeName)) {
        if (drawn.some((node) => this.holds(node))) return;
        shown.replaceChildren(...news.map((node) => document.importNode(node, true)));
        had.replaceChildren(...news.map((node) => node.cloneNode(true)));
        return;
      }
      const from = matched(olds, news);
      const used = new Set(from);
      const late = new Set();
      olds.forEach((node, index) => {
        if (used.has(index)) return;
        if (this.holds(drawn[index])) {
          late.add(drawn[index]);
        } else {
          drawn[index].remove();
          node.remove();
        }
      });
      const wanted = from.map((index, at) =>
        index === undefined
          ? [document.importNode(news[at], true), news[at].cloneNode(true)]
          : [drawn[index], olds[index]],
      );
      this.order(shown, had, wanted, late);
      from.forEach((index, at) => {
        if (index !== undefined) this.element(drawn[index], olds[index], news[at]);
      });
    }

    // Puts the pairs in their order. The one that must stay where it is (focus and selection end when an element moves) is not
    // moved: the others are, before and behind it.
    order(shown, had, wanted, late) {
      const fixed = wanted.findIndex(([node]) => this.stays.some((one) => node.contains(one)));
      let at = [shown.firstChild, had.firstChild];
      const on = () => {
        at = at.map((node) => node.nextSibling);
      };
      wanted.forEach(([node, old], index) => {
        if (index === fixed) {
          at = [node.nextSibling, old.nextSibling];
          return;
        }
        while (at[0] && late.has(at[0])) on();
        if (at[0] === node) {
          on();
        } else {
          shown.insertBefore(node, at[0]);
          had.insertBefore(old, at[1]);
        }
      });
    }
  }

  // True where something had to wait. held: elements that stay as they are; focus: one that is not moved.
  function draw(live, had, text, held, focus) {
    const drawing = new Drawing(held, focus ? [...held, focus] : held);
    if (held.includes(live)) return true;
    drawing.children(live, had, parsed(text));
    return drawing.waiting;
  }

  window.livePart = { textOf, follow, sum, copied, draw };
})();
