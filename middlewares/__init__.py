"""Downloader middlewares: one spelling, no traps, robots.txt, no more bytes than wanted."""
