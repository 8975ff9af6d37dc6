"use strict";

// Reports to the extension which page is open, and how long the person looks at it. Runs in the top frame of each page, but not
// in private windows (see the manifest).

(() => {
  // Not on this machine, with any scheme: the patterns of the manifest cannot name all of its addresses.
  if (/^(?:(?:.*\.)?localhost\.?|(?:127|0)(?:\.\d+){3}|\[::1?\]|\[::ffff:(?:7f..|0):.+\])$/.test(location.hostname)) return;
  const MOST = 1_000_000; // characters of a page that are sent
  const EVERY = 15; // seconds of reading between two reports
  let address = "";
  let isSent = false;
  let seconds = 0;
  let visible = 0;

  const tell = (message) => {
    try {
      Promise.resolve(chrome.runtime.sendMessage(message)).catch(() => {});
    } catch {
      clearInterval(timer); // the extension was removed or updated: messages of this script no longer arrive
    }
  };

  // Pages with a login form are not learned from.
  const secret = () => document.querySelector("input[type=password]") !== null;

  function report() {
    if (isSent && seconds > 0) tell({ path: "/api/read", body: { url: address, seconds } });
    seconds = 0;
  }

  function open() {
    address = location.href.split("#")[0];
    isSent = !secret();
    if (!isSent) return tell({ path: "/api/leave", body: {} });
    const html = document.documentElement.outerHTML.slice(0, MOST);
    tell({ path: "/api/page", body: { url: address, title: document.title, html } });
  }

  const timer = setInterval(() => {
    if (document.visibilityState !== "visible") return;
    visible += 1;
    if (visible === 1 || location.href.split("#")[0] !== address) {
      report(); // of the previous page, if a script has changed the address
      open();
      return;
    }
    if (document.hasFocus()) seconds += 1;
    if (seconds >= EVERY) report();
  }, 1000);

  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") {
      report();
      visible = 0; // when the tab is shown again, its page is reported again
    }
  });
  addEventListener("pagehide", report);
})();
