// Opens what a link leads to, and filters and sorts the results. Everything is readable without it.
"use strict";
(() => {
  const open = () => {
    const found = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (found?.tagName === "DETAILS") { found.open = true; found.scrollIntoView(); }
  };
  addEventListener("hashchange", open);
  open();
  const start = () => {
    const lists = [...document.querySelectorAll(".results")];
    if (lists.length === 0) { return; }
    const lines = lists.map(list => [...list.querySelectorAll(":scope > details")]);
    const bar = document.querySelector(".bar");
    bar.hidden = false;
    const [input, select, output] = ["input", "select", "output"].map(name => bar.querySelector(name));
    const apply = () => {
      const words = input.value.toLowerCase().split(/\s+/);
      let shown = 0;
      lists.forEach((list, at) => {
        let here = 0;
        for (const line of lines[at]) {
          const text = line.firstElementChild.textContent.toLowerCase();
          line.hidden = !words.every(word => text.includes(word));
          here += line.hidden ? 0 : 1;
        }
        const order = { name: (a, b) => a.id.localeCompare(b.id), wide: (a, b) => b.dataset.wide - a.dataset.wide };
        list.append(...(select.value ? [...lines[at]].sort(order[select.value]) : lines[at]));
        list.closest("section").hidden = here === 0;
        shown += here;
      });
      output.textContent = input.value ? shown + " shown" : "";
    };
    bar.addEventListener("input", apply);
  };
  start();
  // by the script that follows a run
  document.addEventListener("renewed", start);
})();
