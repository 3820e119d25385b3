"use strict";
// The token, the keys, and the message if the server is gone.
(() => {
  // No cookie: a browser would send it to every port of this machine. This tab remembers the token.
  const remembered = () => { try { return sessionStorage.getItem("token"); } catch { return null; } };
  const given = () => {
    const token = new URLSearchParams(location.hash.slice(1)).get("token");
    if (!token) return null;
    try {
      sessionStorage.setItem("token", token);
      history.replaceState(history.state, "", location.pathname + location.search); // out of sight
    } catch { /* then it stays in the address, for the next reload */ }
    return token;
  };
  const token = given() ?? remembered();
  const headers = { "X-Dedup-Token": token ?? "" };
  addEventListener("hashchange", () => { if (given()) location.reload(); });

  const main = document.querySelector("main"); // busy: a key would be meant for a pair not yet seen
  const lost = document.getElementById("lost"), closed = document.getElementById("closed");
  document.addEventListener("htmx:config:request", ({ detail: { ctx } }) => {
    Object.assign(ctx.request.headers, headers);
  });
  document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
    main.ariaBusy = "true";
  });
  document.addEventListener("htmx:before:response", (event) => {
    closed.hidden = event.detail.ctx.response.status !== 403;
    if (!closed.hidden) event.preventDefault();
  });
  document.addEventListener("htmx:finally:request", () => { main.ariaBusy = "false"; });
  document.addEventListener("htmx:error", () => { lost.hidden = false; });
  document.addEventListener("htmx:after:request", () => { lost.hidden = true; });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (event.target.matches("input:not([type=checkbox]), textarea, select")) return;
    for (const button of document.querySelectorAll("[data-keys]")) {
      if (!button.dataset.keys.split(" ").includes(event.key.toLowerCase())) continue;
      event.preventDefault();
      if (main.ariaBusy !== "true") button.click();
      return;
    }
  });

  document.addEventListener("DOMContentLoaded", () => {
    closed.hidden = Boolean(token);
    if (token) htmx.ajax("GET", `/content${location.search}`, { target: "#content" });
  });
})();
