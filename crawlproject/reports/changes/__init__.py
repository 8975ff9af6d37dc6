"""What has become of the pages of a crawl: new, changed, moved, gone; as text, as JSON lines, as a feed."""
