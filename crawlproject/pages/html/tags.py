"""What the tags of HTML mean for the text of a page."""

from __future__ import annotations

# Their content is no part of what a reader of the page sees. libxml2 hands on the content of iframe, noembed and
# noframes as text, mark-up and all.
HIDDEN = frozenset(("head", "iframe", "noembed", "noframes", "noscript", "script", "style", "template", "title"))

# A word does not run across the tags of these: they begin a new line or a new cell in a browser, or are a thing by
# themselves. Every other element, known or not, is inline.
BREAKING = frozenset((
    "address", "article", "aside", "blockquote", "body", "br", "button", "center", "dd", "details", "dialog",
    "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "frame", "frameset", "h1",
    "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "html", "img", "input", "legend", "li", "listing",
    "main", "menu", "nav", "object", "ol", "optgroup", "option", "p", "plaintext", "pre", "search", "section",
    "select", "summary", "table", "tbody", "td", "textarea", "tfoot", "th", "thead", "tr", "ul", "video",
    "xmp",
))  # fmt: skip

LINKS = frozenset(("a", "area", "frame"))
