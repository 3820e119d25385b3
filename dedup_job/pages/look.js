"use strict";
// What all pages have: light or dark, the language, long texts, and commands that are copied.
(() => {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  // Choices of this tab are remembered for this page, so that it stays as it is when it is loaded anew.
  const named = (name) => `${name} ${location.pathname}`;
  const remembered = (name) => { try { return sessionStorage.getItem(named(name)); } catch { return null; } };
  const remember = (name, value) => { try { sessionStorage.setItem(named(name), value); } catch { /* not for files */ } };

  const showTheme = (theme) => { root.dataset.theme = theme; dispatchEvent(new Event("theme")); };
  const showLanguage = (language) => {
    root.dataset.language = language;
    root.lang = language === "en" ? "en" : "zh-Hans";
  };

  document.getElementById("theme").onclick = () => {
    showTheme(root.dataset.theme === "dark" ? "light" : "dark");
    remember("theme", root.dataset.theme);
  };
  dark.addEventListener("change", () => showTheme(dark.matches ? "dark" : "light"));
  document.getElementById("language").onclick = () => {
    showLanguage(root.dataset.language === "en" ? "zh" : "en");
    remember("language", root.dataset.language);
  };

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
    } catch {
      getSelection().selectAllChildren(button.previousElementSibling);
      document.execCommand("copy");
    }
    button.append(" ✓");
    setTimeout(() => button.lastChild.remove(), 1200);
  });

  // A long text begins shortly before what differs; a folded one has no height before it is opened.
  const toDifferences = (within) => {
    for (const text of within.querySelectorAll(".text")) {
      const mark = text.querySelector("del, ins");
      const at = mark ? mark.offsetTop - text.offsetTop : 0;
      if (at > text.clientHeight / 2) text.scrollTop = at - text.clientHeight / 4;
    }
  };
  document.addEventListener("toggle", ({ target }) => toDifferences(target), true);
  document.addEventListener("htmx:after:swap", () => toDifferences(document));
  toDifferences(document);

  showTheme(remembered("theme") ?? (dark.matches ? "dark" : "light"));
  // The language that was asked for, else the one that the browser prefers, until the button is used.
  const preferred = navigator.language.startsWith("zh") ? "zh" : "en";
  showLanguage(remembered("language") ?? (root.dataset.language || preferred));
})();
