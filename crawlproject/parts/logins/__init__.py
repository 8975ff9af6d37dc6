"""Cookies, passwords and headers for some hosts, as a person gave them in a file."""
