"""Spam: pages that are made for search engines (paper 004 section 6.3)."""
