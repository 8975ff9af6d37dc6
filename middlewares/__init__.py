"""Downloader middlewares: canonical URLs, trap rules, robots.txt, limits of size."""
