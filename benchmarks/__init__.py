"""Benchmark programs; each prints a table, and most can write JSON."""
