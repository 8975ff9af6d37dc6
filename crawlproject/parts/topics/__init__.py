"""A crawl of several topics: who is in it, what each has, and its folder."""
