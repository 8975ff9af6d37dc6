"""Pages that are visited again: when (``policies/``, ``estimators/``), and what runs the visits (paper 004 section 5)."""
