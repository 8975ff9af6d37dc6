"""Content behind search forms: which forms deserve queries, which query comes next, what it brought (paper 004 section 7)."""
