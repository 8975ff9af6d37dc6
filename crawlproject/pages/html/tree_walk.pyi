"""The interface of ``tree_walk.pyx``."""

from typing import Any

from crawlproject.pages.html.document_builder import DocumentBuilder

def is_crowded(markup: bytes) -> bool: ...
def walk(root: Any, builder: DocumentBuilder, max_depth: int) -> bool: ...
