"""From text to terms, from terms to vectors, from vectors to similarity."""
