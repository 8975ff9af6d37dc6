"""Downloader middlewares: canonical URLs, no traps, robots.txt, no more bytes than wanted."""
