"""Third-party server software, installed and served on loopback for ``benchmarks/real_sites.py``."""
