"""The frontier in Redis: several workers, on one machine or many, crawl one topic."""
