"""Several workers of one crawl: the messages between them, and the merge of their folders."""
