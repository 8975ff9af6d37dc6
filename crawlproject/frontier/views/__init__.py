"""Read-only views of a frontier from outside its crawl."""
