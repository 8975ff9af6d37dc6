"""DUST, different URLs with similar text: rules about the spelling of URLs, learned from copies."""
