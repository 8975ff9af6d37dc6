"""Which languages a crawl is about: what is in others is not followed, and not kept."""
