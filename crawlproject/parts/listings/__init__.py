"""Sitemaps and feeds as sources of links."""
