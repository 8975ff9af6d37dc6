"""Several workers of one crawl: each has its own hosts, and Redis is where they meet."""
