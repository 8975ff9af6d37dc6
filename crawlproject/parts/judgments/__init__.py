"""Judgments of stored pages by a person, and how a running crawl learns from them."""
