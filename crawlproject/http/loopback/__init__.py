"""A service for the person at this machine: a server on loopback, and which requests it answers."""
