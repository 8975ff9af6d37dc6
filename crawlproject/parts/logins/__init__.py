"""Cookies, passwords and headers for some hosts, read from a file."""
