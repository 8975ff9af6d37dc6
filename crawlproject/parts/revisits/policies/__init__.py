"""The revisit policies: one published way to share out a budget of visits in each file."""
