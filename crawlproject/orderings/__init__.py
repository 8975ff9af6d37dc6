"""The orderings: one published algorithm a file, each turning evidence about a link into one number."""
