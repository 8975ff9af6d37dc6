"""A web without the network: an archive, a folder of hosts, or the generated sample, behind one reader."""
