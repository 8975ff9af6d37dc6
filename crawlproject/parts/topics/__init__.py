"""A crawl of several topics: which topics are in it, what each has found, and its folder."""
