"""The revisit policies: one published way to share a budget of visits out a file."""
