"""Pages with the same text: their sketches, the index that finds the original, and rules about their URLs."""
