"""From bytes to a document: encoding, one tidy tree, visible text, links and the context of each."""
