"""What a person wants to be sent to some hosts, read from a file of TOML:

cookies = "cookies.txt"              # of a browser, in Netscape's format; a relative path starts at this file
[hosts."wiki.example.org"]
user = "ann"                         # basic authentication (RFC 7617)
password_from = "WIKI_PASSWORD"      # a variable of the environment; or password = "..."
[hosts."api.example.org".headers]
X-Api-Key = "..."
"""

from __future__ import annotations

import os
import tomllib
from base64 import b64encode
from collections.abc import Mapping
from http.cookiejar import LoadError, MozillaCookieJar
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit
from warnings import catch_warnings

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from crawlproject.errors import BadSetting

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
    """Read once, from ``path``. Raises ``BadSetting``, which never has a secret in it. ``cookies`` are those of the file."""

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
                with catch_warnings(
                    action="ignore"
                ):  # a line that is no cookie is "a bug" of the library, with a traceback
                    self.cookies.load(str(cookies), ignore_discard=True)
            except LoadError:  # whose message has the line, and so the cookie
                raise BadSetting(place, f"cookies: expected {cookies} in Netscape's format") from None
            except OSError as error:
                raise BadSetting(place, f"cookies: cannot be read: {error}") from None
        self._headers = {host.lower(): _headers(host, login, place) for host, login in file.hosts.items()}
        domains = {cookie.domain.lstrip(".").lower() for cookie in self.cookies}
        self._domains = domains | set(self._headers)

    def headers(self, url: str) -> Mapping[str, str]:
        """The headers for ``url`` besides ``cookies``: those of the host with that very name."""
        return self._headers.get(_host(url), {})

    def know(self, url: str) -> bool:
        """Whether there is a login for the host of ``url``, or for a domain that it is below."""
        host = _host(url)
        while host and host not in self._domains:
            host = host.partition(".")[2]
        return bool(host)


def _host(url: str) -> str:
    return (urlsplit(url).hostname or "").lower()


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
