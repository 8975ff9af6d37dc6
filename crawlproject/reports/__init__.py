"""Reports about a crawl for people: terminal output, plots and self-contained HTML."""
