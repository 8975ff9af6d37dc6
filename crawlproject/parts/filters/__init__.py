"""A black list: URLs that a person never wants fetched (paper 004)."""
