"""Sites that want to be found: link farms, stuffed and hidden keywords, redirections."""

from __future__ import annotations

from html import escape

from benchmarks.hostile_web import markup, prose
from benchmarks.hostile_web.bad import BadSite
from crawlproject.records import Reply


def link_farm(site: BadSite, url: str, path: str, query: str) -> Reply:
    """Little text and many links, to itself and to its friends, all with praise."""
    rng = site.rng("farm", path, query)
    links = site.own(rng, rng.randint(15, 30)) + site.out(rng, rng.randint(15, 40))
    rng.shuffle(links)
    text = f"<p>{prose.sentence(site.theme, rng)}</p>"
    return site.page(url, prose.phrase(site.theme, rng), text, links=links)


def stuffed(site: BadSite, url: str, path: str, query: str) -> Reply:
    """The keywords over and over, with or without sentences."""
    own = site.rng("stuffed")
    rng = site.rng("stuffing", path, query)
    keywords = own.sample(prose.KEYWORDS[site.theme], min(5, len(prose.KEYWORDS[site.theme])))
    glue = own.choice((", ", " ", " | ", ". "))
    lists = [glue.join(rng.choices(keywords, k=rng.randint(30, 80))) for _ in range(own.randint(1, 3))]
    sentences = prose.paragraphs(site.theme, rng, own.randint(0, 2))
    blocks = sentences + lists
    rng.shuffle(blocks)
    body = "".join(f"<p>{escape(block)}</p>" for block in blocks)
    links = site.own(rng, rng.randint(8, 20)) + site.out(rng, 3)
    return site.page(url, glue.join(keywords[:3]), body, links=links)


_HIDINGS = (
    ("", '<div style="display:none">{}</div>'),
    ("", '<p style="position:absolute; left:-5000px">{}</p>'),
    ("", '<span style="visibility: hidden">{}</span>'),
    ("", '<div style="font-size:0px">{}</div>'),
    ("", "<div hidden>{}</div>"),
    ("", '<p style="color:#ffffff; background-color: #fff">{}</p>'),
    ("<style>.{c} {{ display: none }}</style>", '<div class="{c}">{}</div>'),
)


def hidden_text(site: BadSite, url: str, path: str, query: str) -> Reply:
    """A page about nothing, and keywords that no reader sees."""
    own = site.rng("hidden")
    rng = site.rng("hiding", path, query)
    head, block = own.choice(_HIDINGS)
    css_class = prose.name(own)
    unseen = " ".join(prose.paragraphs(site.theme, rng, 4, own=0.8)) + " ".join(
        rng.choices(prose.KEYWORDS[site.theme], k=20)
    )
    body = "".join(f"<p>{text}</p>" for text in prose.paragraphs("everyday", rng, 2, own=1.0))
    body += block.format(escape(unseen), c=css_class)
    links = site.own(rng, rng.randint(8, 20)) + site.out(rng, 3)
    return site.page(url, prose.phrase(site.theme, rng), body, head=head.format(c=css_class), links=links)


def redirects(site: BadSite, url: str, path: str, query: str) -> Reply:
    """Doorways: chains of redirects, refreshes and scripts, each with a text that promises what it does not hold."""
    own = site.rng("redirects")
    rng = site.rng("redirecting", path, query)
    target = site.url(rng) if rng.random() < 0.7 else site.friends(rng).url
    kind = own.choice(("http", "refresh", "script", "all"))
    kind = rng.choice(("http", "refresh", "script")) if kind == "all" else kind
    text = markup.woven(prose.paragraphs(site.theme, rng, 2, own=0.7), (), rng)
    title = prose.phrase(site.theme, rng)
    links = site.own(rng, rng.randint(5, 12))
    if kind == "http" and path != "/":
        return Reply(url, own.choice((301, 302, 303, 307)), {"location": target})
    if kind == "script":
        form = own.choice(
            ("window.location = '{}';", 'location.href="{}"', "top.location.replace('{}')", "document.location='{}'")
        )
        return site.page(url, title, text, head=f"<script>{form.format(target)}</script>", links=links)
    seconds = own.choice(("0", "0", "1", "0.5"))
    head = f'<meta http-equiv="refresh" content="{seconds}; url={escape(target)}">'
    return site.page(url, title, text, head=head, links=links)
