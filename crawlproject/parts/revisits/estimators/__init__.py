"""How often a page changes, from what its visits showed: one published estimator in each file."""
