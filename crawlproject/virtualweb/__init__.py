"""Webs that are not the Web: archives, folders of hosts and a generated sample, for crawls without a network."""
