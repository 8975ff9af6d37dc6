"""The dashboard: a web page on loopback that starts, shows, pauses and searches crawls."""
