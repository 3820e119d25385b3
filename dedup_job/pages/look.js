"use strict";
// What all pages have: light or dark, the language, and commands that are copied.
(() => {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const remembered = (name) => { try { return sessionStorage.getItem(name); } catch { return null; } };
  const remember = (name, value) => { try { sessionStorage.setItem(name, value); } catch { /* not for files */ } };

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

  showTheme(remembered("theme") ?? (dark.matches ? "dark" : "light"));
  if (remembered("language")) showLanguage(remembered("language"));
})();
