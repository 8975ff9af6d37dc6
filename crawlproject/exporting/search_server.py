"""An HTTP client for OpenSearch and Elasticsearch with one persistent connection, reopened when it breaks."""

from __future__ import annotations

import http.client
import re
import ssl
from base64 import b64encode
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

import orjson

from crawlproject.errors import BadInput
from crawlproject.exporting.documents import ServerReply

_WISH = "expected the URL of an index, such as http://localhost:9200/pages"
_HOST, _ASCII = re.compile(r"[^\s\x00-\x1f\x7f]+"), re.compile("[!-~]*")
_INDEX = re.compile(r"[a-z0-9][a-z0-9_.-]{0,254}")
_MAX_ANSWER = 256_000_000  # bytes


class SearchServer:
    """The index at ``url``: ``http(s)://[user:password@]host[:port][/prefix]/index``.

    If the URL names no user, the credentials come from ``OPENSEARCH_API_KEY``, or ``OPENSEARCH_USERNAME`` and
    ``OPENSEARCH_PASSWORD``, in ``environment``. ``timeout`` is in seconds. Raises ``BadInput`` for an invalid URL or key.
    """

    def __init__(self, url: str, environment: Mapping[str, str], *, timeout: float = 60.0) -> None:
        try:
            parts = urlsplit(url)
            port = parts.port
            host = parts.hostname or ""
            host.encode("idna")
        except ValueError:  # also raised for an impossible host name
            raise BadInput(f"URL {_without_secrets(url)!r}", _WISH) from None
        prefix, _, self.index = parts.path.rstrip("/").rpartition("/")
        if parts.scheme not in ("http", "https") or not _HOST.fullmatch(host) or parts.query or parts.fragment:
            raise BadInput(f"URL {_without_secrets(url)!r}", _WISH)
        if not _ASCII.fullmatch(prefix):
            raise BadInput(
                f"URL {_without_secrets(url)!r}", f"{_WISH}; %-encode spaces and non-ASCII letters of the path"
            )
        if not _INDEX.fullmatch(self.index):
            wish = f"{_WISH}; {self.index!r} is not an index name: lower-case letters, digits, _ . -"
            raise BadInput(f"URL {_without_secrets(url)!r}", wish)
        self.name = f"{parts.scheme}://{host}{f':{port}' if port else ''}{prefix}/{self.index}"
        self._prefix = prefix
        self._headers = {
            "Content-Type": "application/x-ndjson",
            "Accept": "application/json",
            **_credentials(parts, environment),
        }
        if parts.scheme == "https":
            context = ssl.create_default_context()
            self._connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                host, port, timeout=timeout, context=context
            )
        else:
            self._connection = http.client.HTTPConnection(host, port, timeout=timeout)

    def request(self, method: str, path: str, body: bytes = b"") -> ServerReply:
        """Send a request and return the complete reply. Raises ``OSError`` if there is none."""
        headers = dict(self._headers)
        if not path.endswith("/_bulk"):
            headers["Content-Type"] = "application/json"
        try:
            self._connection.request(method, self._prefix + path, body or None, headers)
            response = self._connection.getresponse()
            content = response.read(_MAX_ANSWER)
        except (http.client.HTTPException, OSError) as broken:
            self.close()
            if isinstance(broken, OSError):
                raise
            raise ConnectionError(f"the reply is incomplete ({type(broken).__name__})") from broken
        if response.will_close:
            self.close()
        return ServerReply(response.status, _parsed(content), _seconds(response.getheader("Retry-After")))

    def close(self) -> None:
        """Close the connection; the next request opens a new one."""
        self._connection.close()


def _credentials(parts: object, environment: Mapping[str, str]) -> dict[str, str]:
    user, password = getattr(parts, "username", None), getattr(parts, "password", None)
    if user is None and (key := environment.get("OPENSEARCH_API_KEY", "").strip()):
        if not _ASCII.fullmatch(key):  # http.client would show it in its error
            raise BadInput("OPENSEARCH_API_KEY", "expected letters and digits without spaces")
        return {"Authorization": f"ApiKey {key}"}
    if user is None and environment.get("OPENSEARCH_USERNAME"):
        user, password = environment["OPENSEARCH_USERNAME"], environment.get("OPENSEARCH_PASSWORD", "")
    elif user is not None:
        user, password = unquote(user), unquote(password or "")
    else:
        return {}
    return {"Authorization": "Basic " + b64encode(f"{user}:{password}".encode("utf-8", "surrogateescape")).decode()}


def _without_secrets(url: str) -> str:
    """Return the URL, even an invalid one (slash in the password, no scheme), without user and password, for messages."""
    return re.sub(r"^([a-z]+://)?.*@", r"\1", url, flags=re.DOTALL | re.IGNORECASE)


def _parsed(content: bytes) -> object:
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return content[:500].decode("utf-8", "replace") or None


def _seconds(value: str | None) -> float:
    return float(value) if value and value.strip().isdecimal() else 0.0
