"""Server software that nobody here wrote, installed and served on loopback for ``benchmarks/real_sites.py``."""
