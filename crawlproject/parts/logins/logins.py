"""The logins that a TOML file gives for some hosts. A host name stands for its origin ``https://host`` (RFC 6454):

cookies = "cookies.txt"              # of a browser, in Netscape's format; relative paths start at the folder of this file
[hosts."wiki.example.org"]
user = "ann"                         # basic authentication (RFC 7617)
password_from = "WIKI_PASSWORD"      # a variable of the environment; or password = "..."
[hosts."api.example.org".headers]
X-Api-Key = "..."
[hosts."http://intranet.example:8080"]   # an origin, here one without encryption
"""

from __future__ import annotations

import os
import tomllib
from base64 import b64encode
from collections.abc import Mapping
from http.cookiejar import LoadError, MozillaCookieJar
from pathlib import Path
from typing import Annotated
from warnings import catch_warnings

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from crawlproject.errors import BadSetting
from crawlproject.urls.canonical import canonical_or_none, canonical_url
from crawlproject.urls.hosts import host_of, origin_of

Header = Annotated[str, StringConstraints(pattern=r"^[\x20-\x7e]*$")]
HeaderName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")]


class _LoginTable(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)


class _HostLogin(_LoginTable):
    user: str = ""
    password: str = ""
    password_from: str = ""
    headers: dict[HeaderName, Header] = {}


class _LoginFile(_LoginTable):
    cookies: str = ""
    hosts: dict[str, _HostLogin] = Field(default_factory=dict)


class Logins:
    """The logins in the file ``path``, which is read once; ``cookies`` are those of the cookie file that it names.

    Raises ``BadSetting``, which never contains a secret.
    """

    def __init__(self, path: Path) -> None:
        place = f"setting CRAWL_LOGINS, file {path}"
        try:
            file = _LoginFile.model_validate(tomllib.loads(path.read_text("utf-8-sig")))
        except (OSError, UnicodeDecodeError) as error:
            raise BadSetting(place, f"cannot be read: {error}") from None
        except tomllib.TOMLDecodeError as error:
            raise BadSetting(place, f"expected TOML: {error}") from None
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise BadSetting(place, f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
        self.cookies = MozillaCookieJar()
        if file.cookies:
            cookies = path.parent / file.cookies
            try:
                # For a line that is not a cookie, the library warns of "a bug", with a traceback.
                with catch_warnings(action="ignore"):
                    self.cookies.load(str(cookies), ignore_discard=True)
            except LoadError:  # its message contains the line, and so the cookie
                raise BadSetting(place, f"cookies: expected {cookies} in Netscape's format") from None
            except OSError as error:
                raise BadSetting(place, f"cookies: cannot be read: {error}") from None
        self._headers: dict[str, Mapping[str, str]] = {}
        for host, login in file.hosts.items():
            if (origin := _origin(host, place)) in self._headers:
                raise BadSetting(place, f'hosts."{host}": there is a login for {origin} already, in another spelling')
            self._headers[origin] = _headers(host, login, place)
        domains = {cookie.domain.lstrip(".").lower() for cookie in self.cookies}
        self._hosts = set(map(_host_of, self._headers))
        self._domains = domains | self._hosts

    def headers(self, url: str) -> Mapping[str, str]:
        """The headers for the origin of ``url``, without cookies."""
        return self._headers.get(_origin_of(url), {})

    def withhold(self, url: str) -> str:
        """The origin of ``url``, if it has no login but another origin of its host has one; else empty."""
        origin = _origin_of(url)
        return origin if origin not in self._headers and _host_of(origin) in self._hosts else ""

    def know(self, url: str) -> bool:
        """Whether there is a login for the host of ``url``, or for a parent domain."""
        host = _host_of(_origin_of(url))
        while host and host not in self._domains:
            host = host.partition(".")[2]
        return bool(host)


def _origin_of(url: str) -> str:
    """The origin of a URL; empty if it is not a valid URL."""
    canonical = canonical_or_none(canonical_url, url)
    return origin_of(canonical) if canonical else ""


def _host_of(origin: str) -> str:
    return host_of(f"{origin}/") if origin else ""


def _origin(named: str, place: str) -> str:
    _, mark, authority = named.rpartition("://")
    origin = "" if set(authority) & set("/\\@?#") else _origin_of(named if mark else f"https://{named}")
    if not origin:
        shown = named.rpartition("@")[2]  # without a password, if there is one
        raise BadSetting(
            place, f'hosts."{shown}": expected a host such as a.example, or an origin such as http://a.example:8080'
        )
    return origin


def _headers(host: str, login: _HostLogin, place: str) -> dict[str, str]:
    headers = dict(login.headers)
    if not login.user:
        return headers
    password = login.password
    if login.password_from:
        if login.password_from not in os.environ:
            raise BadSetting(
                place, f"hosts.{host}.password_from: the environment has no variable {login.password_from}"
            )
        password = os.environ[login.password_from]
    headers["Authorization"] = "Basic " + b64encode(f"{login.user}:{password}".encode()).decode()
    return headers
