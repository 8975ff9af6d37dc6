"""Canonical URLs, their hosts and file names, and the rules that refuse crawler traps."""
