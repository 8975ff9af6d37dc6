"""The interface of ``chunk_table.pyx``."""

from crawlproject.pages.text.chunk_terms import ChunkTerms

class ChunkTable(ChunkTerms): ...
