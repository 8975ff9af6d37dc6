"""One spelling per resource, the name of its file, its host, and the rules that refuse traps."""
