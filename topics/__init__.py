"""The topic files that come with the project: in an egg, a crawl may be asked for by the name of one of them."""
