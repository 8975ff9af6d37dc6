"""Feeds in valid XML. Scrapy uses the keys of a dict, such as ``words feedback``, as element names, and writes characters that
XML does not allow. No parser reads such a file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import XMLGenerator
from xml.sax.xmlreader import AttributesImpl

from scrapy.exporters import XmlItemExporter

if TYPE_CHECKING:
    from io import BytesIO

_ENTRY = "value"  # as Scrapy calls an entry of a list
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class XmlFeed(XmlItemExporter):
    """Writes an entry of a dict as ``<value name="its key">``. Characters that XML forbids are left out."""

    def __init__(self, file: BytesIO, **kwargs: Any) -> None:
        super().__init__(file, **kwargs)
        self.xg = _KeyedXml(self.stream, encoding=self.encoding or "utf-8")

    def _export_xml_field(self, name: str, serialized_value: Any, depth: int) -> None:
        if isinstance(serialized_value, Mapping):
            serialized_value = {_Key(key): value for key, value in serialized_value.items()}
        super()._export_xml_field(name, serialized_value, depth)


class _Key(str):
    """A key of a dict."""

    __slots__ = ()


class _KeyedXml(XMLGenerator):
    def startElement(self, name: str, attrs: AttributesImpl) -> None:
        if isinstance(name, _Key):
            name, attrs = _ENTRY, AttributesImpl({"name": _NO_XML.sub("", name)})
        super().startElement(name, attrs)

    def endElement(self, name: str) -> None:
        super().endElement(_ENTRY if isinstance(name, _Key) else name)

    def characters(self, content: str) -> None:
        super().characters(_NO_XML.sub("", content))
