"""Judges of relevance other than the keywords: examples, an embedding model, a language model, or one of your own."""
