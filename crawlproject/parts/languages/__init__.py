"""The wanted languages of a crawl: pages in other languages are not stored, and their links are not followed."""
