"""Several workers of one crawl: what they tell each other, and their folders merged."""
