"""Normalises percent-encoding in a path or a query (RFC 3986 sections 2.3 and 6.2.2).

The input is the ASCII output of a WHATWG parser. Unreserved characters are decoded (``%7E`` becomes ``~``), hexadecimal
digits become upper case, a ``%`` that starts no escape becomes ``%25``, and characters that RFC 3986 forbids but browsers
pass on (``|``, ``[``, ``^``, ...) are encoded. Reserved characters of a path stay as they are, since ``/`` and ``%2F`` may
differ.
"""

from __future__ import annotations

import re
import string
from itertools import product

_UNRESERVED = string.ascii_letters + string.digits + "-._~"

# Of a form (WHATWG URL section 5) only these are delimiters or have a second reading: & = + ; # % ' and space.
_DATA_IN_FORMS = "!$()*,:@/?"


def _spellings(decoded: str) -> dict[str, str]:
    """Map each token that the patterns below find to its normal form; ``decoded`` are the characters not to encode."""
    table = {"%": "%25"}
    for octet in range(256):
        spelling = chr(octet) if chr(octet) in decoded else f"%{octet:02X}"
        if octet < 128:
            table.setdefault(chr(octet), f"%{octet:02X}")
        for high, low in product(*({digit, digit.upper()} for digit in f"{octet:02x}")):
            table[f"%{high}{low}"] = spelling
    return table


_RFC = _spellings(_UNRESERVED)
_FORM = _spellings(_UNRESERVED + _DATA_IN_FORMS) | {"%20": "+"}

_PATH_TOKEN = re.compile(r"%(?:[0-9A-Fa-f]{2})?|[^A-Za-z0-9\-._~!$&'()*+,;=:@/]")
_QUERY_TOKEN = re.compile(r"%(?:[0-9A-Fa-f]{2})?|[^A-Za-z0-9\-._~!$&()*+,;=:@/?]")


def spell_path(path: str) -> str:
    """Normalise a path."""
    return _PATH_TOKEN.sub(lambda token: _RFC[token[0]], path)


def spell_query(query: str) -> str:
    """Normalise a query of unknown syntax."""
    return _QUERY_TOKEN.sub(lambda token: _RFC[token[0]], query)


def spell_form(query: str) -> str:
    """Normalise a query made by a form: a space is ``+``, and characters that can only be data are decoded."""
    return _QUERY_TOKEN.sub(lambda token: _FORM[token[0]], query)
