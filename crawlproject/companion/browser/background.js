"use strict";

// Sends the messages of content scripts to the service on this machine, and nowhere else.

// Replaces unpaired surrogates, such as of a title that a script has cut within an emoji: strict JSON parsers refuse them.
const whole = (key, value) => (typeof value === "string" ? value.toWellFormed() : value);

async function send({ path, body }) {
  const { base, token } = await chrome.storage.local.get(["base", "token"]);
  if (!base || !token) return;
  try {
    await fetch(base + path, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Companion-Token": token },
      body: JSON.stringify(body, whole),
    });
  } catch {
    // The companion is not running: pages read meanwhile are not recorded.
  }
}

chrome.runtime.onMessage.addListener((message, sender) => {
  const known = ["/api/page", "/api/read", "/api/leave"];
  if (sender.id === chrome.runtime.id && sender.tab && !sender.tab.incognito && known.includes(message.path)) send(message);
});

if (chrome.sidePanel) chrome.sidePanel.setPanelBehavior({ openPanelOnActionClick: true }).catch(() => {});
else chrome.action.onClicked.addListener(() => browser.sidebarAction.toggle());
