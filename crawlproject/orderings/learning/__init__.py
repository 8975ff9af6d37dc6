"""What several orderings use to learn: classifiers, examples, and the evidence about waiting URLs.

Nothing here depends on orderings. scikit-learn and scipy are imported inside functions, since Scrapy imports all orderings
at every start.
"""
