"""Fetching over HTTP: connections, name resolution, servers on loopback, virtual webs over sockets."""
