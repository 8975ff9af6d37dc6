"""Pages with the same text: sketches, the index that finds the first of them, rules about their URLs."""
