"""The interface of ``chunk_table.pyx``."""

from crawlproject.pages.text.tokenizer import ChunkTerms

class ChunkTable(ChunkTerms): ...
