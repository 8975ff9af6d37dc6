"""Which value is queried next: one published policy a file."""
