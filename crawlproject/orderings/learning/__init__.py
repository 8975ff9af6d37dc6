"""What orderings learn with: features of text and links, classifiers, and the memory of links that wait.

Pure numerics over plain values: nothing here knows what an ordering is. scikit-learn and scipy are imported inside
functions, since Scrapy imports all orderings at every start.
"""
