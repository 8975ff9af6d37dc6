"""Third-party models for judges and search, either installed or at an address that speaks the OpenAI protocol."""
