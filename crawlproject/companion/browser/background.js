"use strict";

// Passes on what content scripts tell, to the service of this machine and to nobody else.

// Half of a pair, as where a script has cut a title within an emoji: no JSON of others has that.
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
    // The companion is not running: what was read meanwhile is not kept.
  }
}

chrome.runtime.onMessage.addListener((message, sender) => {
  const known = ["/api/page", "/api/read", "/api/leave"];
  if (sender.id === chrome.runtime.id && sender.tab && !sender.tab.incognito && known.includes(message.path)) send(message);
});

if (chrome.sidePanel) chrome.sidePanel.setPanelBehavior({ openPanelOnActionClick: true }).catch(() => {});
else chrome.action.onClicked.addListener(() => browser.sidebarAction.toggle());
