"""What a person reads after a crawl: plots and self-contained HTML."""
