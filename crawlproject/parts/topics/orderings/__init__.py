"""One crawl for several topics: what a URL is worth to all of them, and a fair share for each."""
