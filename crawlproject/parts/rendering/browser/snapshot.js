(most, isFrame) => {
  // If controls were clicked, the document is the union of the states of the page (controls.js).
  const document = globalThis.states?.page instanceof Document ? globalThis.states.page : globalThis.document;
  // The content of shadow trees becomes part of the page.
  const open = (root) => root.querySelectorAll("*").forEach((element) => {
    const shadow = element.shadowRoot;
    if (shadow) {
      open(shadow);
      element.append(...shadow.childNodes);
    }
  });
  open(document);
  // Scripts may have changed the address that links are relative to.
  for (const link of document.links) {
    link.setAttribute("href", link.href);
  }
  // The page is final: remove scripts, and texts for browsers without scripts.
  document.querySelectorAll("script:not([type='application/ld+json']), noscript").forEach((element) => element.remove());
  if (isFrame) {
    document.querySelectorAll("form").forEach((form) => {
      try {
        form.setAttribute("action", new URL(form.getAttribute("action") ?? "", document.baseURI).href);
      } catch {
        form.removeAttribute("action");
      }
    });
    document.querySelectorAll("base, meta, title, plaintext").forEach((element) => element.remove());
    return document.body?.innerHTML.slice(0, most) ?? "";
  }
  // It is stored in UTF-8, whatever its original encoding.
  document.querySelectorAll("meta[charset], meta[http-equiv='content-type' i]").forEach((element) => element.remove());
  const charset = document.createElement("meta");
  charset.setAttribute("charset", "utf-8");
  document.head?.prepend(charset);
  return ("<!DOCTYPE html>" + document.documentElement.outerHTML).slice(0, most);
}
