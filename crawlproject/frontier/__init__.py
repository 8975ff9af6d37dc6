"""The frontier: the URLs that wait, and the rules by which one of them is taken."""
