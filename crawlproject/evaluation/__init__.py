"""How good a crawl was: measures, judgements, significance."""
