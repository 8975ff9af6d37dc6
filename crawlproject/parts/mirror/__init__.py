"""A copy of the crawl folder at a remote address, kept up while the crawl runs."""
