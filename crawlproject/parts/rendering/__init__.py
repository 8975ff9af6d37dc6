"""Pages that scripts make, rendered in a browser."""
