"""The main content of a page, without navigation, advertisements and footers: as text, and as Markdown."""
