"""Revisit policies on recorded changes of real sites: histories, a simulation, measures, and an upper bound."""
