"""Revisit policies on the recorded changes of real sites: histories, a simulation, measures, an oracle."""
