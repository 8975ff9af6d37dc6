"""The orderings: published algorithms, each a class that turns evidence about a link into one number."""
