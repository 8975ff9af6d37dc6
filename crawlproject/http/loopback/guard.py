"""Which requests a server on loopback answers. Pure: decides from the headers alone.

A page of the web that is open in the same browser can send requests to loopback, and after rebinding its name to
127.0.0.1 it can read the answers. So a request must name this machine by address, which no rebound name does; and whatever
changes something must carry a token that only our own page has. Where what is read is private, all requests carry it.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from ipaddress import ip_address

TOKEN = "X-Dashboard-Token"
PRIVATE_TOKEN = "X-Companion-Token"
EXTENSIONS = ("chrome-extension://", "moz-extension://")  # origins of a browser's extensions

# No script but ours, nothing from elsewhere, no site may frame it.
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """``name`` is the setting ``DASHBOARD_HOST``: whoever set a name may use it. ``token`` is a secret."""

    def __init__(self, name: str, token: str) -> None:
        self._name = name.lower()
        self._token = token

    def objection(self, method: str, headers: Mapping[str, str], peer: str) -> str | None:
        """Why a request is refused; None: it may pass. ``headers`` ignore case; ``peer`` is the address it came from."""
        host = headers.get("Host", "")
        if not self._is_ours(_without_port(host).lower()):
            return "the Host header must be the address of this machine, not a name (DNS rebinding)"
        if headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
            return "requests from other sites are refused"
        if method in ("GET", "HEAD"):
            return None
        if not _is_loopback(peer):
            return "crawls can be controlled from their own machine only"
        if headers.get("Origin", f"http://{host}") != f"http://{host}":
            return "requests from other sites are refused"
        if headers.get("Content-Type", "").partition(";")[0].strip().lower() != "application/json":
            return "expected application/json"
        if not hmac.compare_digest(headers.get(TOKEN, "").encode(), self._token.encode()):
            return f"expected the token of this dashboard in {TOKEN}; reload it"
        return None

    def _is_ours(self, name: str) -> bool:
        if name in ("localhost", self._name):
            return True
        try:
            ip_address(name.strip("[]"))
        except ValueError:
            return False
        return True


class PrivateGuard:
    """For what nobody else at this machine may see. Every request carries the token, but for pages and files without secrets.

    The token is in no page: the person brings it, in the address that the command prints, or in an extension of the browser.
    So requests of extensions pass, whose origin no page of the web can have.
    """

    def __init__(self, token: str) -> None:
        self._token = token

    def objection(self, method: str, headers: Mapping[str, str], peer: str, *, is_open: bool) -> str | None:
        """As ``Guard.objection``. ``is_open``: the request is for a page or file without secrets."""
        host, origin = headers.get("Host", ""), headers.get("Origin", "")
        if _without_port(host).lower() not in ("localhost", "127.0.0.1", "[::1]"):
            return "the Host header must be the loopback address of this machine, not a name (DNS rebinding)"
        if not _is_loopback(peer):
            return "only this machine is answered"
        if is_open and method == "GET":
            return None
        if not hmac.compare_digest(headers.get(PRIVATE_TOKEN, "").encode(), self._token.encode()):
            return f"expected the token in {PRIVATE_TOKEN}; open the address that the command printed"
        if origin.startswith(EXTENSIONS):
            site = True
        else:
            site = headers.get("Sec-Fetch-Site", "same-origin") in ("same-origin", "none")
            site = site and (origin or f"http://{host}") == f"http://{host}"
        if not site:
            return "requests from other sites are refused"
        if method == "POST" and headers.get("Content-Type", "").partition(";")[0].strip().lower() != "application/json":
            return "expected application/json"
        return None


def _without_port(host: str) -> str:
    bracket = host.rfind("]") + 1  # after an IPv6 address
    return host[:bracket] or host.partition(":")[0]


def _is_loopback(peer: str) -> bool:
    try:
        address = ip_address(peer.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback
