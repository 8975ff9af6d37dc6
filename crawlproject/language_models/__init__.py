"""Models of others, installed or at an address that speaks the OpenAI protocol: what judges and the search ask."""
