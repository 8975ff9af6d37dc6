"""Sites on which a visitor never arrives: redirects that set and lose marks, relative links, logins."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, quote, urlencode

from benchmarks.hostile_web import markup, prose
from benchmarks.hostile_web.bad import BadSite
from benchmarks.hostile_web.markup import A
from crawlproject.records import Reply

_TEXTS = 12  # texts that such a site really has


def mazes(site: BadSite, url: str, path: str, query: str) -> Reply:
    """A redirect sets a mark that the page requires, and the next link loses it."""
    own = site.rng("maze")
    way = own.choice(("token", "hops", "for ever", "letters"))
    mark = own.choice(("sess", "ck", "t", "redir", prose.name(own)))
    values = dict(parse_qsl(query))
    rng = site.rng("in the maze", path, query)
    hop = int(re.sub(r"\D", "", values.get(mark, ""))[:6] or 0)
    if way == "token" and mark not in values:
        return _to(url, path, {**values, mark: f"{rng.getrandbits(48):012x}"})
    if way == "hops" and hop < 4 + rng.randrange(3):
        return _to(url, path, {**values, mark: str(hop + 1)})
    if way == "for ever" and path != "/" and rng.random() < 0.8:
        return _to(url, path, {**values, mark: str(hop + 1)})
    if way == "letters" and path != "/" and rng.random() < 0.6:
        other = path.swapcase() if rng.random() < 0.5 else (path.rstrip("/") if path.endswith("/") else f"{path}/")
        return _to(url, other, values)
    number = site.rng("which", path).randrange(_TEXTS)
    text = site.rng("text", number)
    links = []
    for _ in range(10):
        slug = site.slug(rng)
        links.append(A(f"{site.home}{slug}?from={rng.randrange(10**5)}", prose.headline(site.theme, rng)))
    body = markup.woven(prose.paragraphs(site.theme, text, 3), site.out(rng, 1), rng)
    return site.page(url, prose.headline(site.theme, text), body, links=links)


def _to(url: str, path: str, values: dict[str, str]) -> Reply:
    """A redirect within the requested host."""
    host = url.split("/", 3)[2]
    return Reply(url, 302, {"location": f"http://{host}{path}" + (f"?{urlencode(values)}" if values else "")})


def loops(site: BadSite, url: str, path: str, query: str) -> Reply:
    """A menu of relative links, written for the home page and shown on every page."""
    own = site.rng("loops")
    folders = [site.slug(own, 1) or "a" for _ in range(4)]
    pages = [f"{site.slug(own, 1) or 'b'}{own.choice(('.html', '.php', '.htm'))}" for _ in range(_TEXTS - 4)]
    menu = [f"{own.choice(('', './', '../x/'))}{folder}/" for folder in folders]
    menu += [f"{own.choice(folders)}/{page}" for page in pages]
    if own.random() < 0.3:
        menu = [f"index.php/{link}" for link in menu]
    last = [part for part in path.split("/") if part][-1:] or [""]
    text = site.rng("text", last[0]) if last[0] in (*folders, *pages) else site.rng("text", "")
    trail = f"<p>You are here: {' / '.join(part for part in path.split('/')[-4:] if part.isascii())}</p>"
    body = trail.replace("<script", "") + markup.woven(prose.paragraphs(site.theme, text, 3), (), text)
    links = [A(link, prose.headline(site.theme, site.rng("label", link))) for link in menu]
    return site.page(url, prose.headline(site.theme, text), body, links=[*links, *site.out(site.rng("out", path), 1)])


def logins(site: BadSite, url: str, path: str, query: str) -> Reply:
    """The beginning of each text, and a login whose URL nests the previous page, and the page before that."""
    own = site.rng("logins")
    way = own.choice(("login", "account/signin", "ucp.php", "members/login.html"))
    back = own.choice(("return", "next", "redirect_to", "returnUrl"))
    rng = site.rng("asked", path, query)
    asked = f"{path}?{query}" if query else path
    if path != "/" and not path.startswith(f"/{way}") and rng.random() < 0.6:
        return Reply(url, 302, {"location": f"{site.home}{way}?{back}={quote(asked[:400], safe='')}"})
    if path.startswith(f"/{way}"):
        here = quote(asked[:900], safe="")
        others = [f"{way}?{back}={here}", f"{way}/register?{back}={here}", f"{way}/lost-password?{back}={here}"]
        links = [
            A(f"{site.home}{other}", label)
            for other, label in zip(others, ("Log in", "Register", "Lost?"), strict=True)
        ]
        form = "<form method=post><input name=user><input type=password name=password><button>Log in</button></form>"
        text = own.choice(("Please log in to read on.", "Members only.", "You must be registered to see this page."))
        return site.page(url, f"Log in: {site.host}", f"<p>{text}</p>{form}", links=[*links, *site.own(rng, 6)])
    body = f"<p>{prose.sentence(site.theme, rng)} {prose.sentence(site.theme, rng)} ... Log in to read on.</p>"
    return site.page(url, prose.headline(site.theme, rng), body, links=[*site.own(rng, 12), *site.out(rng, 1)])
