"""Fetching over HTTP: connections, names, servers on loopback, virtual webs over sockets."""
