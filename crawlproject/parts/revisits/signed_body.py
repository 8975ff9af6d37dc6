"""The signature of a delivery (WebSub, section 8): an HMAC of its body, by the secret of the subscription."""

from __future__ import annotations

import hashlib
import hmac

_METHODS = {"sha1": hashlib.sha1, "sha256": hashlib.sha256, "sha384": hashlib.sha384, "sha512": hashlib.sha512}


class SignedBody:
    """``header`` is ``X-Hub-Signature``, such as ``sha256=`` and 64 hexadecimal digits. The body is added as it comes."""

    def __init__(self, header: str, secret: str) -> None:
        method, _, self._digits = header.strip().partition("=")
        made_by = _METHODS.get(method.lower())
        self._mac = hmac.new(secret.encode(), digestmod=made_by) if made_by and secret else None

    def add(self, piece: bytes) -> None:
        if self._mac is not None:
            self._mac.update(piece)

    @property
    def is_valid(self) -> bool:
        """Whether the header signs what was added; compared in constant time."""
        if self._mac is None:
            return False
        return hmac.compare_digest(self._mac.hexdigest().encode(), self._digits.strip().lower().encode())
