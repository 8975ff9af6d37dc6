"""What a frontier holds, read from outside of its crawl."""
