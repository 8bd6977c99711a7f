// Follows a run, or a fleet run, that has not ended: says how far it has come, and renews the page now and then. Without it the page is right
// when it is loaded again.
"use strict";
(() => {
  const PERIOD = 10000;
  const line = document.querySelector("[data-events]");
  const plain = line.textContent;
  let renewed = Date.now(), failures = 0, soon = 0;
  const renew = async () => {
    const main = document.querySelector("main");
    // who reads by keyboard or filters is left alone
    if (main.contains(document.activeElement) || main.querySelector(".bar input")?.value) { return; }
    renewed = Date.now();
    const response = await fetch(location.pathname + location.search);
    if (!response.ok) { return; }
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = page.querySelector("main");
    const place = fresh?.querySelector("[data-events]");
    if (!place) { return; }
    place.replaceWith(line);
    for (const { id } of main.querySelectorAll("details[open][id]")) { fresh.querySelector("#" + CSS.escape(id))?.setAttribute("open", ""); }
    main.replaceWith(fresh);
    document.dispatchEvent(new Event("renewed"));
  };
  const follow = () => {
    const events = new EventSource(line.dataset.events);
    events.addEventListener("progress", event => {
      failures = 0;
      line.textContent = JSON.parse(event.data).said;
      clearTimeout(soon);
      soon = setTimeout(() => renew().catch(() => {}), Math.max(0, renewed + PERIOD - Date.now()));
    });
    events.addEventListener("end", () => { events.close(); location.reload(); });
    // it connects again by itself, but where the server refuses
    events.addEventListener("error", () => {
      if (events.readyState !== EventSource.CLOSED) { return; }
      failures += 1;
      if (failures < 5) { setTimeout(follow, 5000); } else { line.textContent = plain; }
    });
  };
  follow();
})();
