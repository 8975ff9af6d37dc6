"""The interface of ``tree_walk.pyx``."""

from typing import Any

from crawlproject.pages.html.document import RawLink
from crawlproject.pages.html.document_builder import DocumentBuilder

MAX_DEPTH: int

def is_crowded(markup: bytes) -> bool: ...
def walk(root: Any, builder: DocumentBuilder) -> tuple[str, list[RawLink]] | None: ...
