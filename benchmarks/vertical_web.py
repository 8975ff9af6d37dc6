"""Generated forums, blogs, news sites and shops with known units.

Each kind of site has three layouts, which differ in markup, structured data and URLs. Every page has a menu, a sidebar with
links to recent content, and a footer. *Content* pages have units that no other page has. *Wasted* pages are single posts,
replies, print versions, other sort orders and other styles.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from pathlib import Path

KINDS = ("forum", "blog", "news", "shop")
LAYOUTS = ("a", "b", "c")
WASTED, CONTENT, OTHER = "wasted", "content", "other"


def _slug(title: str) -> str:
    return title.lower().replace(" ", "-")


def _time(day: str) -> str:
    return f"<time datetime='{day}'>{day}</time>"


class Site:
    """Pages by path and query, with their kinds and the texts of their units."""

    def __init__(self, kind: str, layout: str, seed: int) -> None:
        self.host = f"{kind}-{layout}.example"
        self.files: dict[str, str] = {}
        self.kinds: dict[str, str] = {}
        self.units: dict[str, list[str]] = {}
        self.random = random.Random(f"{seed} {kind} {layout}")
        self._margin = ""
        getattr(self, f"_{kind}")(layout)

    def kind_of(self, url: str) -> str:
        """The kind of a URL; a page with other pages below it is a folder."""
        return self.kinds.get(url) or self.kinds.get(url.rstrip("/"), OTHER)

    def words(self, count: int) -> str:
        """Words that hardly ever repeat."""
        letters = "bcdfghklmnprstvw", "aeiou"
        return " ".join(
            "".join(self.random.choice(letters[k % 2]) for k in range(self.random.randint(4, 8))) for _ in range(count)
        )

    def sentence(self, count: int) -> str:
        return f"{self.words(count).capitalize()} coral reef {self.words(3)}."

    def day(self) -> str:
        return f"2024-{self.random.randint(1, 12):02d}-{self.random.randint(1, 28):02d}"

    def page(self, path: str, kind: str, title: str, main: str, units: Iterable[str] = (), head: str = "") -> None:
        menu = "".join(f"<li><a href='/{name}.html'>{name.title()}</a></li>" for name in ("about", "contact", "help"))
        self.files[path] = (
            f"<!doctype html><html><head><title>{title}</title>{head}</head><body class='site'>"
            f"<header><a href='/'>Home</a></header><nav><ul>{menu}</ul></nav>"
            f"<div id='content'>{main}</div><div class='sidebar'><h3>Recent</h3>{self._margin}</div>"
            f"<footer>Run by volunteers since 1999.</footer></body></html>"
        )
        self.kinds[f"http://{self.host}/{path}"] = kind
        self.units[f"http://{self.host}/{path}"] = list(units)

    def _forum(self, layout: str) -> None:
        threads = []
        for n in range(1, 11):
            title = f"Coral reef {self.words(3)}"
            slug = _slug(title)
            posts = [
                (f"{self.sentence(14)}</p><p>{self.sentence(9)}", self.words(1), self.day(), 100 * n + k)
                for k in range(15)
            ]
            threads.append((n, title, slug, posts))
        first = {"a": "viewtopic.php?t={n}", "b": "threads/{slug}", "c": "t/{slug}/{n}"}[layout]
        further = {
            "a": "viewtopic.php?start={start}&t={n}",
            "b": "threads/{slug}/page-{page}",
            "c": "t/{slug}/{n}?page={page}",
        }[layout]
        rows = []
        for n, title, slug, posts in threads:
            own = f"/{first.format(n=n, slug=slug)}"
            row = f"<a href='{own}'>{title}</a> by {posts[0][1]}, 15 replies, last {posts[-1][2]}"
            rows.append(f"<tr><td>{row}</td></tr>" if layout == "b" else f"<li class='topic'>{row}</li>")
        self._margin = "".join(
            f"<li><a href='/{first.format(n=n, slug=slug)}'>{title}</a></li>" for n, title, slug, _ in threads[:3]
        )
        self.page(
            "",
            OTHER,
            "Coral forum",
            "<h1>Coral reef forum</h1>" + ("<table>" + "".join(rows) + "</table>" if layout == "b" else "".join(rows)),
        )
        for n, title, slug, posts in threads:
            head = "<meta property='og:type' content='website'>"
            for page in (1, 2, 3):
                here = posts[5 * page - 5 : 5 * page]
                shown = "".join(self._post(layout, n, slug, post) for post in here)
                named = {"n": n, "slug": slug, "page": page + 1, "start": 5 * page}
                views = {
                    "a": f"<a href='/viewtopic.php?t={n}&view=print'>Print view</a>",
                    "b": f"<a href='/threads/{slug}/oldest-last'>Reverse order</a>",
                    "c": f"<a href='/t/{slug}/{n}?dress=plain'>Plain</a>",
                }[layout]
                following = f"<a href='/{further.format(**named)}'>Next</a>" if page < 3 else ""
                path = (
                    first.format(n=n, slug=slug)
                    if page == 1
                    else further.format(n=n, slug=slug, page=page, start=5 * page - 5)
                )
                texts = [post[0].split(".")[0] for post in here]
                self.page(path, CONTENT, title, f"<h1>{title}</h1>{shown}<p>{views} {following}</p>", texts, head)
            everything = "".join(self._post(layout, n, slug, post) for post in reversed(posts[:5]))
            view = {
                "a": f"viewtopic.php?t={n}&view=print",
                "b": f"threads/{slug}/oldest-last",
                "c": f"t/{slug}/{n}?dress=plain",
            }[layout]
            self.page(view, WASTED, title, everything)
            for text, _, _, number in posts:
                for path in self._views_of_post(layout, n, slug, number):
                    self.page(
                        path, WASTED, "Reply" if "quote" in path or "respond" in path else title, f"<p>{text}</p>"
                    )

    def _views_of_post(self, layout: str, n: int, slug: str, number: int) -> list[str]:
        return {
            "a": [f"viewtopic.php?p={number}", f"posting.php?mode=quote&p={number}"],
            "b": [f"posts/{number * 7919:08x}", f"respond/{number}"],
            "c": [f"t/{slug}/{n}/{number}", f"t/{slug}/{n}/{number}/send"],
        }[layout]

    def _post(self, layout: str, n: int, slug: str, post: tuple[str, str, str, int]) -> str:
        text, author, day, number = post
        one, other = (f"/{path}" for path in self._views_of_post(layout, n, slug, number))
        foot = f"<a href='{one}'>#{number}</a> <a href='{other}'>Quote coral</a>"
        if layout == "a":
            side = f"<dl class='postprofile'><dt><a href='/memberlist.php?u={number}'>{author}</a></dt><dd>Posts: 12</dd></dl>"
            body = f"<div class='postbody'><p>by {author} on {day}</p><p>{text}</p></div>"
            return f"<div class='post bg{number % 2 + 1}'>{side}{body}{foot}</div>"
        if layout == "b":
            side = f"<b><a href='/user/{author}'>{author}</a></b><br>{day}"
            return f"<table><tr><td>{side}</td><td><p>{text}</p>{foot}</td></tr></table>"
        return (
            f"<div itemprop='comment' itemscope itemtype='http://schema.org/Comment'><span itemprop='author'>{author}</span>"
            f"<time itemprop='datePublished' datetime='{day}'>{day}</time><div itemprop='text'><p>{text}</p></div>{foot}</div>"
        )

    def _blog(self, layout: str) -> None:
        posts = []
        for n in range(1, 25):
            title = f"Coral reef {self.words(3)}"
            slug = _slug(title)
            text = "</p><p>".join(f"{self.sentence(25)} {self.sentence(25)} {self.sentence(20)}" for _ in range(3))
            remarks = [(self.sentence(8), self.words(1), self.day(), 1000 + 10 * n + k) for k in range(4)]
            path = {"a": f"2024/03/{slug}/", "b": f"posts/{slug}.html", "c": f"entry/{n}"}[layout]
            posts.append((path, title, text, self.words(1), self.day(), remarks))
        self._margin = "".join(f"<li><a href='/{path}'>{title}</a></li>" for path, title, *_ in posts[:3])
        for page in range(1, 5):
            shown, units = "", []
            for path, title, text, author, day, _ in posts[6 * page - 6 : 6 * page]:
                begin = text.split(".")[0]
                units.append(begin)
                tag = {"a": "div class='hentry'", "b": "article", "c": "section class='teaser'"}[layout]
                inner = f"<h2><a href='/{path}'>{title}</a></h2><p>{author}, {_time(day)}</p><p>{begin}.</p>"
                shown += f"<{tag}>{inner}</{tag.split()[0]}>"
            path = "" if page == 1 else {"a": f"page/{page}/", "b": f"?page={page}", "c": f"older/{page}"}[layout]
            after = {"a": f"page/{page + 1}/", "b": f"?page={page + 1}", "c": f"older/{page + 1}"}[layout]
            following = f"<a href='/{after}'>Older posts</a>" if page < 4 else ""
            self.page(path, CONTENT, "Coral blog", f"<h1>Coral blog</h1>{shown}{following}", units)
        for path, title, text, author, day, remarks in posts:
            views = {
                "a": [f"{path}?share=twitter", *(f"{path}?replytocom={number}" for *_, number in remarks)],
                "b": [f"{path}?c=new", f"{path}?c=top", f"{path}/amp"],
                "c": [f"{path}?dress=mobile", *(f"remark/{number}" for *_, number in remarks)],
            }[layout]
            comments = "".join(
                f"<li class='comment'><cite class='author'>{who}</cite> <time datetime='{when}'>{when}</time><p>{said}</p></li>"
                for said, who, when, _ in remarks
            )
            links = " ".join(f"<a href='/{view}'>coral view</a>" for view in views)
            data = {
                "@type": "BlogPosting",
                "headline": title,
                "datePublished": day,
                "author": {"@type": "Person", "name": author},
            }
            head = f"<script type='application/ld+json'>{json.dumps(data)}</script>" if layout == "c" else ""
            tag = {"a": "div class='hentry'", "b": "article", "c": "div class='text'"}[layout]
            main = f"<{tag}><h1 class='entry-title'>{title}</h1><p class='byline'>{author}, {_time(day)}</p>"
            main += f"<div class='entry-content'><p>{text}</p></div></{tag.split()[0]}><ol>{comments}</ol>{links}"
            units = [text.split(".")[0], *(said.split(".")[0] for said, *_ in remarks)]
            self.page(path, CONTENT, title, main, units, head)
            for view in views:
                one = next((said for said, *_, number in remarks if view == f"remark/{number}"), None)
                self.page(view, WASTED, title, main if one is None else f"<p>{one}</p>", (), head)

    def _news(self, layout: str) -> None:
        articles = []
        for n in range(1, 31):
            title = f"Coral reef {self.words(4)}"
            slug = _slug(title)
            parts = [
                "</p><p>".join(f"{self.sentence(25)} {self.sentence(25)}" for _ in range(5)) for _ in range(1 + n % 2)
            ]
            path = {"a": f"news/{slug}-{n + 4000}", "b": f"2024/{n:02d}/{slug}.html", "c": f"story/{slug}"}[layout]
            articles.append((path, title, parts, self.words(2).title(), self.day(), n, slug))
        self._margin = "".join(f"<li><a href='/{article[0]}'>{article[1]}</a></li>" for article in articles[:4])
        teasers = "".join(
            f"<div class='teaser'><h3><a href='/{path}'>{title}</a></h3><p>{self.sentence(10)}</p></div>"
            for path, title, *_ in articles
        )
        self.page("", OTHER, "Coral news", f"<h1>Coral news</h1>{teasers}")
        for path, title, parts, author, day, n, slug in articles:
            names = [path, {"a": f"{path}?page=2", "b": f"{path}?page=2", "c": f"{path}/2"}[layout]][: len(parts)]
            views = {
                "a": [f"{path}?print=1", f"email-this/{n}"],
                "b": [f"{path}?output=1"],
                "c": [f"plain/{slug}", f"listen/{n + 900}"],
            }[layout]
            links = " ".join(f"<a href='/{view}'>coral view</a>" for view in views)
            for place, (name, text) in enumerate(zip(names, parts, strict=True)):
                head = "<meta property='og:type' content='article'>" if layout == "a" else ""
                scope = " itemscope itemtype='http://schema.org/NewsArticle'" if layout == "b" else ""
                tag = "article" if layout == "a" else "div"
                body = f"<div itemprop='articleBody'><p>{text}</p></div>" if layout == "b" else f"<p>{text}</p>"
                following = f"<a href='/{names[1]}'>Next page</a>" if place + 1 < len(parts) else ""
                byline = f"<p>By {author}, {_time(day)}</p>"
                main = f"<{tag}{scope}><h1 itemprop='headline'>{title}</h1>{byline}{body}</{tag}>"
                self.page(name, CONTENT, title, f"{main}<p>{links} {following}</p>", [text.split(".")[0]], head)
            for view in views:
                sent = view.startswith(("email", "listen"))
                self.page(
                    view,
                    WASTED,
                    title,
                    "<p>Send this to a friend.</p>" if sent else f"<h1>{title}</h1><p>{parts[0]}</p>",
                )

    def _shop(self, layout: str) -> None:
        goods = [
            (f"item/{n}" if layout != "b" else f"buy/{self.words(2).replace(' ', '-')}", f"Coral {self.words(2)}", n)
            for n in range(1, 61)
        ]
        orders = ("price", "name", "age", "votes")
        place = {
            "a": ("list?page={page}", "list?page={page}&sort={order}"),
            "b": ("all/{page}", "all/by-{order}/{page}"),
            "c": ("c?p={page}", "c?o={order}&p={page}"),
        }[layout]
        self._margin = "".join(f"<li><a href='/{path}'>{title}</a></li>" for path, title, _ in goods[:3])
        self.page(
            "", OTHER, "Coral shop", f"<h1>Coral shop</h1><a href='/{place[0].format(page=1)}'>All coral goods</a>"
        )
        prices = {path: self.random.randint(5, 500) for path, *_ in goods}
        says = {path: self.sentence(6) for path, *_ in goods}
        shuffled = {order: self.random.sample(goods, len(goods)) for order in orders}
        for order in ("", *orders):
            for page in range(1, 7):
                shown, units = "", []
                for path, title, _ in (shuffled[order] if order else goods)[10 * page - 10 : 10 * page]:
                    inner = f"<a href='/{path}'>{title}</a> <span>{prices[path]} EUR</span> <p>{says[path]}</p>"
                    shown += {
                        "a": f"<div class='product'>{inner}</div>",
                        "b": f"<tr><td>{inner}</td></tr>",
                        "c": f"<li>{inner}</li>",
                    }[layout]
                    units.append(title)
                if layout != "a":
                    shown = f"<table>{shown}</table>" if layout == "b" else f"<ul>{shown}</ul>"
                sorts = " ".join(
                    f"<a href='/{place[1].format(page=page, order=other)}'>coral by {other}</a>" for other in orders
                )
                after = place[1 if order else 0].format(page=page + 1, order=order)
                following = f"<a href='/{after}'>Next</a>" if page < 6 else ""
                path = place[1 if order else 0].format(page=page, order=order)
                main = f"<h1>Coral goods</h1><p>{sorts}</p>{shown}<p>{following}</p>"
                self.page(path, WASTED if order else CONTENT, "Coral goods", main, units)
        for path, title, _ in goods:
            text = f"{says[path]} {self.sentence(20)} {self.sentence(20)}"
            self.page(path, CONTENT, title, f"<h1>{title}</h1><p>{prices[path]} EUR</p><p>{text}</p>", ())


def write(sites: Iterable[Site], web: Path) -> None:
    for site in sites:
        for name, text in site.files.items():
            path = web / site.host / (f"{name}index.html" if not name or name.endswith("/") else name)
            if path.is_dir():
                path = path / "index.html"
            if path.parent.is_file():
                text, moved = path.parent.read_text(), text
                path.parent.unlink()
                path.parent.mkdir(parents=True)
                (path.parent / "index.html").write_text(text)
                text = moved
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
