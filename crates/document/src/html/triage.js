// Says the state of a change by a token that may write. Without it the page says how a command does.
"use strict";
(() => {
  const form = document.querySelector("form.triage");
  const [state, assignee, note, token] = ["state", "assignee", "note", "token"].map(name => form.elements[name]);
  const output = form.querySelector("output");
  const KEY = "gritstone-token";
  token.value = sessionStorage.getItem(KEY) ?? "";
  const need = () => {
    assignee.required = state.value === "assigned";
    note.required = !assignee.required;
    // a reopened change has no assignee
    assignee.disabled = state.value === "new";
  };
  state.addEventListener("change", need);
  need();
  form.hidden = false;
  form.addEventListener("submit", async event => {
    event.preventDefault();
    output.textContent = "Sending…";
    const body = { state: state.value, note: note.value };
    if (!assignee.disabled && assignee.value.trim()) { body.assignee = assignee.value; }
    try {
      const response = await fetch(form.dataset.to, {
        method: "POST", body: JSON.stringify(body),
        headers: { "content-type": "application/json", accept: "application/json", authorization: `Bearer ${token.value.trim()}` },
      });
      if (response.ok) {
        sessionStorage.setItem(KEY, token.value);
        location.reload();
      } else {
        output.textContent = (await response.json()).error;
      }
    } catch {
      output.textContent = "The server does not answer: try again later.";
    }
  });
})();
