"""Models of language that others made: installed ones, and addresses that speak the OpenAI protocol. Judges and the search ask them."""
