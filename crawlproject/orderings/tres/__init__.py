"""TRES (Kontogiannis and others 2021): reinforcement learning with a tree over the frontier."""
