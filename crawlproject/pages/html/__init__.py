"""From bytes to a document: encoding, one tidy tree, visible text, links with their contexts."""
