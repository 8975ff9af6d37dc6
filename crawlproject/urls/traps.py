"""The trap filter, which refuses URLs that look like crawler traps, with the name of a rule; and the templates of URLs.

The URL of a trap grows with each page (paper 000 section 2.4, which limits it to 128 or 256 characters), repeats itself, or
belongs to an endless host. The rules, in the order in which they are applied:

    ================== ==========================================================================================
    scheme             neither http nor https
    too_long           more than ``max_url_length`` characters
    extension          the file name ends with one of ``extensions``: not a page
    too_deep           more than ``max_depth`` links from a seed
    too_many_segments  more than ``max_segments`` path segments
    repeated_segments  a path segment ``max_segment_repeats`` times at equal distances, or once more at any distances; or a
                       run such as ``/a/b/a/b`` once less
    nested_query       a parameter nested twice in its own value: ``/login?next=/login?next=/login?next=/``
    host_full          ``max_urls_per_host`` URLs of the host were admitted
    ================== ==========================================================================================

The template of a URL has placeholders for its numbers and ids: pages of one template usually come from one script. A trap
has endless URLs but few templates. Which part of a URL varies is unknown beforehand, so a URL has several templates, from
the narrowest to its whole host.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import pairwise
from math import inf

from crawlproject.urls.file_extensions import NOT_A_PAGE
from crawlproject.urls.hosts import host_of

SCHEME = "scheme"

_LONGEST_RUN = 8  # longest repeated run of path segments that is detected
_NESTED = re.compile(r"(?:\?|%(?:25)*3[Ff])([\w.-]+)(?:=|%(?:25)*3[Dd])")
_DIGITS = re.compile(r"[0-9]+")
_FOLDERS = 4  # enclosing folders of a page that have templates
_REMEMBERED = 8_192  # URLs whose templates are cached: pages of a site have many links in common
_SEPARATOR = re.compile(r"[&;]")
_SLASHES = re.compile(r"/")
_WIDE = 2  # most slashes of a wide template
_WORD = re.compile(r"[a-z_]{1,16}")  # a value that may name a view; other values are numbers, ids, texts
_NAMED = re.compile(r"[a-z]{1,24}(?:[-_.][a-z]{1,16})?/?")
_ID = re.compile(r"(?=[^/?&=]*[0-9])[0-9A-Za-z_~%-]{16,}|[0-9A-Fa-f]{8,}(?:-[0-9A-Fa-f]{4,}){1,4}")


class TrapFilter:
    """The rules of the table above with their limits; a limit of 0 (or no extensions) switches a rule off.

    The settings have the same names in upper case, prefixed with ``TRAP_``. Only ``admitted`` changes the state; after a
    restart the caller must repeat it for the URLs of the saved crawl. ``urls_of_host``, if given, returns the number of
    known URLs of the host of a URL and replaces the filter's own counts.
    """

    def __init__(
        self,
        *,
        max_url_length: int = 256,
        max_segment_repeats: int = 3,
        max_segments: int = 20,
        max_depth: int = 0,
        max_urls_per_host: int = 0,
        extensions: Iterable[str] = NOT_A_PAGE,
        urls_of_host: Callable[[str], int] | None = None,
    ) -> None:
        self._max_urls_per_host = max_urls_per_host
        self._urls_of_host: Counter[str] = Counter()
        self._counted_elsewhere = urls_of_host
        self._unwanted = frozenset(extension.strip().lower().removeprefix(".") for extension in extensions)
        self._max_length = max_url_length or inf
        self._max_depth = max_depth or inf
        self._max_segments = max_segments or inf
        self._max_repeats = max_segment_repeats
        self._circle = _slashes_of_a_circle(max_segment_repeats) if max_segment_repeats else inf

    def refusal(self, url: str, depth: int = 0, *, any_extension: bool = False) -> str | None:
        """Return the first rule that refuses a canonical URL ``depth`` links from a seed; None if it may enter.

        ``any_extension``: ignore the extension, for files such as sitemaps.
        """
        if not url.startswith(("http://", "https://")):
            return SCHEME
        if len(url) > self._max_length:
            return "too_long"
        if self._unwanted and not any_extension and extension_of(url) in self._unwanted:
            return "extension"
        if depth > self._max_depth:
            return "too_deep"
        slashes = url.count("/")
        if slashes > self._max_segments and has_more_segments(url, int(self._max_segments)):
            return "too_many_segments"
        if slashes >= self._circle and repeats_segments(url, self._max_repeats):
            return "repeated_segments"
        if self._max_repeats and (url.count("?") > 2 or "%3" in url) and nests_query(url):
            return "nested_query"
        if self._max_urls_per_host:
            count = self._counted_elsewhere
            known = count(url) if count is not None else self._urls_of_host[host_of(url)]
            if known >= self._max_urls_per_host:
                return "host_full"
        return None

    def admitted(self, url: str) -> None:
        """Count a canonical URL that entered the frontier for the first time."""
        if self._max_urls_per_host and self._counted_elsewhere is None:
            self._urls_of_host[host_of(url)] += 1


def extension_of(url: str) -> str:
    """Return the lower-case extension of the file name in a canonical URL, without dot; empty if it has none."""
    path = url.partition("?")[0]
    dot = path.rfind(".")
    return path[dot + 1 :].lower() if dot > path.rfind("/") else ""


def has_more_segments(url: str, limit: int) -> bool:
    """Whether the path of a canonical URL has more than ``limit`` segments, not counting an empty last one."""
    return url.count("/") > limit and len(_segments(url)) > limit


def repeats_segments(url: str, limit: int) -> bool:
    """Whether a path segment occurs ``limit`` times at equal distances, or ``limit + 1`` times, or a run of two or more
    segments occurs ``limit - 1`` times in a row.

    With the default of 3, ``/a/x/a/y/a`` and ``/a/b/a/b`` are repeats; ``/a/a``, ``/a/b/a`` and ``/a/a/x/y/a`` are not, since
    code repositories are laid out like that. A limit of 2 means twice at any distance.
    """
    if url.count("/") < _slashes_of_a_circle(limit):
        return False
    segments = _segments(url)
    repeats = len(segments) - len(set(segments))
    if not repeats:
        return False
    if _recurs(segments, limit):
        return True
    return repeats > 1 and _alternates(segments, max(2, limit - 1))


def _slashes_of_a_circle(limit: int) -> int:
    """Return the least number of slashes in a URL with repeated segments; most URLs have fewer, which saves the check."""
    return 2 + min(limit, 4)


def _recurs(segments: list[str], limit: int) -> bool:
    """Whether a segment occurs ``limit`` times at equal distances, or ``limit + 1`` times."""
    places: dict[str, list[int]] = {}
    for place, segment in enumerate(segments):
        places.setdefault(segment, []).append(place)
    return any(
        len(found) > limit or (len(found) == limit and len({later - place for place, later in pairwise(found)}) <= 1)
        for found in places.values()
    )


def _alternates(segments: list[str], times: int) -> bool:
    """Whether a run of 2 to 8 segments occurs ``times`` times in a row, in linear time."""
    for width in range(2, min(_LONGEST_RUN, len(segments) // times) + 1):
        same = 0
        for segment, later in zip(segments, segments[width:], strict=False):
            same = same + 1 if segment == later else 0
            if same == width * (times - 1):
                return True
    return False


def nests_query(url: str) -> bool:
    """Whether a parameter occurs twice, escaped or not, after question marks inside the query."""
    nested = _NESTED.findall(url.partition("?")[2])
    return len(nested) > len(set(nested))


def _segments(url: str) -> list[str]:
    segments = url.partition("?")[0].split("/")[3:]
    return segments if segments[-1] else segments[:-1]


def folded(text: str) -> str:
    """Replace every long id in ``text`` by ``*`` and every number by ``#``: ``/cal/#-#``, ``/item/*``."""
    return _DIGITS.sub("#", _ID.sub("*", text))


@lru_cache(_REMEMBERED)
def templates_of(url: str) -> tuple[str, ...]:
    """Return the distinct templates of a canonical URL, narrowest first.

    For ``http://a.example/shop/2024/item-17/print?sort=up&page=3``:

    - host, folded path, parameter names and those values that are words:
      ``a.example/shop/#/item-#/print?page&sort=up``, and without values: ``a.example/shop/#/item-#/print?page&sort``
    - any name in that folder, with and without values: ``a.example/shop/#/item-#/*?page&sort=up``
    - the same name anywhere below the first segment: ``a.example/shop/**/print?page&sort=up``
    - anything below the enclosing folders: ``a.example/shop/#/**?page&sort=up``, ``a.example/shop/**?page&sort=up``
    - anything below the first segment with any query: ``a.example/shop/**``
    - the host: ``a.example/**``
    """
    host = host_of(url)
    path, _, query = url[url.index("/", 8) :].partition("?")
    path = folded(path)
    words, names = _shapes_of(query) if query else ("", "")
    folder = path.rindex("/", 0, max(1, len(path) - 1)) + 1
    ends = [found.start() for found in _SLASHES.finditer(path, 1, folder)][:_FOLDERS]
    first = path.find("/", 1)
    found = [f"{path}{words}", f"{path}{names}", f"{path[:folder]}*{words}", f"{path[:folder]}*{names}"]
    if ends and _NAMED.fullmatch(path, folder):
        found.append(f"{path[: ends[0]]}/**/{path[folder:]}{words}")
    found += [f"{path[:end]}/**{words}" for end in reversed(ends)]
    if first > 0:
        found.append(f"{path[:first]}/**")
    return tuple([f"{host}{template}" for template in dict.fromkeys([*found, "/**"])])


def is_wide(template: str) -> bool:
    """Whether a template covers a whole host, or everything below a first segment."""
    path = template.partition("?")[0]
    return path.endswith("/**") and path.count("/") <= _WIDE


def _shapes_of(query: str) -> tuple[str, str]:
    """Return the shape of a query twice: names with those values that are words, and names alone."""
    pairs = [pair.partition("=") for pair in _SEPARATOR.split(query)]
    words = sorted({f"{name}={value}" if _WORD.fullmatch(value) else name for name, _, value in pairs})
    names = sorted({name for name, _, _ in pairs})
    return f"?{'&'.join(words)}", f"?{'&'.join(names)}"
