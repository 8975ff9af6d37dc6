"""A blacklist: URLs that are never fetched (paper 004)."""
