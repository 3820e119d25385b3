"use strict";
// Keys, files that are imported, and what is said when the server is gone.
(() => {
  let waiting = false; // a key that is pressed meanwhile would be meant for a pair not yet seen
  document.addEventListener("htmx:before:request", () => { waiting = true; });
  document.addEventListener("htmx:finally:request", () => { waiting = false; });

  const lost = document.getElementById("lost");
  document.addEventListener("htmx:error", () => { lost.hidden = false; });
  document.addEventListener("htmx:after:request", () => { lost.hidden = true; });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (event.target.matches("input:not([type=checkbox]), textarea, select")) return;
    for (const button of document.querySelectorAll("[data-keys]")) {
      if (!button.dataset.keys.split(" ").includes(event.key.toLowerCase())) continue;
      event.preventDefault();
      if (!waiting) button.click();
      return;
    }
  });

  const file = document.getElementById("import");
  file.onchange = async () => {
    if (!file.files.length) return;
    const lines = await file.files[0].text();
    file.value = "";
    const at = document.querySelector("[data-pair]")?.dataset.pair ?? "";
    htmx.ajax("POST", "/import", { target: "#room", swap: "outerHTML", values: { lines, at } });
  };

  // the token is in a cookie by now: not to be copied along with the address, or kept in the history
  const address = new URL(location);
  if (address.searchParams.has("token")) {
    address.searchParams.delete("token");
    history.replaceState(null, "", address);
  }
})();
