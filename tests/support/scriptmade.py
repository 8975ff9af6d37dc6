"""Pages that need a browser, and pages that do not, a dozen kinds of each: written by hand, with random names."""

# ruff: noqa: E501  # lines of HTML as servers send them
from __future__ import annotations

from random import Random

WORDS = [
    "coral",
    "reef",
    "fish",
    "polyp",
    "lagoon",
    "atoll",
    "diver",
    "current",
    "kelp",
    "sponge",
    "shoal",
    "tide",
    "plankton",
    "anemone",
    "harbour",
    "island",
    "survey",
]
ANALYTICS = (
    '<script async src="https://www.googletagmanager.com/gtag/js?id=G-1"></script><script>window.dataLayer=window.dataLayer||[];'
    'function gtag(){dataLayer.push(arguments)}gtag("js",new Date());gtag("config","G-1");</script>'
    '<noscript><iframe src="https://www.googletagmanager.com/ns.html?id=GTM-1" height="0" width="0"></iframe></noscript>'
)
STYLE = "<style>" + "body{margin:0;font:16px/1.5 sans-serif}.a{color:#123456}" * 20 + "</style>"


def _prose(random: Random, words: int) -> str:
    return " ".join(random.choice(WORDS) for _ in range(words)).capitalize() + "."


def _hash(random: Random) -> str:
    return f"{random.getrandbits(32):08x}"


def _head(title: str, more: str = "") -> str:
    return f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>{more}</head>'


def _nav(random: Random) -> str:
    items = "".join(f'<li><a href="/{word}">{word.title()}</a></li>' for word in random.sample(WORDS, 6))
    return f"<header><nav><ul>{items}</ul></nav></header>"


def _react(r: Random) -> str:
    return _head("React App", f'<script defer="defer" src="/static/js/main.{_hash(r)}.js"></script>') + (
        '<body><noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div></body></html>'
    )


def _vue(r: Random) -> str:
    return _head("Shop", f'<script type="module" crossorigin src="/assets/index-{_hash(r)}.js"></script>') + (
        f'<link rel="stylesheet" href="/assets/index-{_hash(r)}.css"><body><div id="app"></div></body></html>'
    )


def _angular(r: Random) -> str:
    scripts = "".join(
        f'<script src="{name}.{_hash(r)}.js" type="module"></script>' for name in ("runtime", "polyfills", "main")
    )
    return _head("Portal", '<base href="/">' + STYLE) + f"<body><app-root></app-root>{scripts}</body></html>"


def _next(r: Random) -> str:
    data = '{"props":{"pageProps":{}},"page":"/","query":{},"buildId":"' + _hash(r) + '"}'
    return _head("Magazine", f'<script src="/_next/static/chunks/webpack-{_hash(r)}.js" defer=""></script>') + (
        f'<body><div id="__next"></div><script id="__NEXT_DATA__" type="application/json">{data}</script></body></html>'
    )


def _nuxt(r: Random) -> str:
    return _head("Magazine", STYLE) + (
        '<body><div id="__nuxt"><div class="spinner"><div></div><div></div></div></div>'
        f'<script>window.__NUXT__={{config:{{}}}}</script><script src="/_nuxt/{_hash(r)}.js" defer></script></body></html>'
    )


def _svelte(r: Random) -> str:
    return _head("Notes") + (
        '<body data-sveltekit-preload-data="hover"><div style="display: contents"><script>{__sveltekit_1x={base:""};'
        f'Promise.all([import("/_app/immutable/entry/start.{_hash(r)}.js"),import("/_app/immutable/entry/app.{_hash(r)}.js")])'
        ".then(([kit, app]) => {kit.start(app, document.currentScript.parentElement)});}</script></div></body></html>"
    )


def _ember(r: Random) -> str:
    config = '<meta name="club/config/environment" content="%7B%22modulePrefix%22%3A%22club%22%7D">'
    return _head("Club", config) + (
        f'<body><script src="/assets/vendor-{_hash(r)}.js"></script><script src="/assets/club-{_hash(r)}.js"></script></body></html>'
    )


def _angular_js(r: Random) -> str:
    return _head("Catalogue", STYLE) + (
        '<body ng-app="catalogue"><div ng-controller="List as list"><h1>{{ list.title }}</h1><ul><li ng-repeat="item in list.items">'
        '<a ng-href="/item/{{item.id}}">{{ item.name }}</a></li></ul></div><script src="/lib/angular.min.js"></script></body></html>'
    )


def _ajax_list(r: Random) -> str:
    name = r.choice(["items", "list", "entries", "rows"])
    return _head("Results", STYLE) + (
        f'<body><h1>Results</h1><ul id="{name}"></ul><p>Loading…</p><script src="/js/jquery-3.7.1.min.js"></script><script>'
        f'$(function(){{$.getJSON("/api/{name}",function(d){{d.forEach(function(x){{$("#{name}").append("<li>"+x.n+"</li>")}})}})}})'
        "</script></body></html>"
    )


def _shell_with_menu(r: Random) -> str:
    return _head("Club", STYLE) + (
        f'<body>{_nav(r)}<main id="{r.choice(["content", "main", "app"])}"></main><footer>© 2026 The Club</footer>'
        f'<script src="/dist/bundle.{_hash(r)}.js"></script></body></html>'
    )


def _blazor(r: Random) -> str:
    return _head("Office", '<base href="/">') + (
        '<body><div id="app"><svg class="loading"><circle r="40%"/></svg><div class="loading-text">Loading...</div></div>'
        '<div id="blazor-error-ui" style="display:none">An unhandled error has occurred.</div>'
        '<script src="_framework/blazor.webassembly.js"></script></body></html>'
    )


def _state_in_a_script(r: Random) -> str:
    text = _prose(r, 3000)
    return _head("News", STYLE) + (
        f'<body><div id="root" class="page"></div><script>window.__INITIAL_STATE__={{"article":{{"body":"{text}"}}}}</script>'
        f'<script src="/client.{_hash(r)}.js"></script></body></html>'
    )


def _written(r: Random) -> str:
    rows = "+".join(f"'<li><a href=\"{word}.html\">{word}</a></li>'" for word in r.sample(WORDS, 10))
    return _head("Index") + f"<body><script>var rows={rows};document.write('<ul>'+rows+'</ul>')</script></body></html>"


def _script_redirect(r: Random) -> str:
    return _head("Moved") + (
        f'<body><script>var to=["","{r.choice(WORDS)}","index"].join("/");if(!location.hash)location.replace(to+"?v="+Date.now())'
        "</script></body></html>"
    )


def _web_components(r: Random) -> str:
    name = f"{r.choice(WORDS)}-app"
    return (
        _head("Player", f'<script type="module" src="/src/{name}.js"></script>')
        + f"<body><{name}></{name}></body></html>"
    )


NEED_A_BROWSER = {
    "react": _react, "vue": _vue, "angular": _angular, "next": _next, "nuxt": _nuxt, "svelte": _svelte, "ember": _ember,
    "angular.js": _angular_js, "list by ajax": _ajax_list, "shell with menu": _shell_with_menu, "blazor": _blazor,
    "state in a script": _state_in_a_script, "document.write": _written, "redirect by script": _script_redirect,
    "web components": _web_components,
}  # fmt: skip


def _article(r: Random) -> str:
    state = "".join(f"var v{n}={r.random()};" for n in range(3000))
    return (
        _head("Reefs", ANALYTICS + STYLE)
        + f"<body>{_nav(r)}<article><h1>Reefs</h1><p>{_prose(r, 400)}</p></article>"
        + (f'<script>{state}</script><script src="/js/bundle.{_hash(r)}.js"></script></body></html>')
    )


def _rendered_by_next(r: Random) -> str:
    return _head("Reefs", f'<script src="/_next/static/chunks/main-{_hash(r)}.js" defer=""></script>') + (
        f'<body><div id="__next"><main><h1>Reefs</h1><p>{_prose(r, 40)}</p><p>{_prose(r, 20)}</p></main></div>'
        f'<script id="__NEXT_DATA__" type="application/json">{{"props":{{"text":"{_prose(r, 900)}"}}}}</script></body></html>'
    )


def _not_found_by_next(r: Random) -> str:
    return _head("404", f'<script src="/_next/static/chunks/main-{_hash(r)}.js" defer=""></script>') + (
        '<body><div id="__next"><div><h1>404</h1><h2>This page could not be found.</h2></div></div>'
        '<script id="__NEXT_DATA__" type="application/json">{"props":{}}</script></body></html>'
    )


def _plain_and_short(r: Random) -> str:
    return _head("Hello") + f"<body><p>{_prose(r, 6)}</p></body></html>"


def _contact(r: Random) -> str:
    return _head("Contact", ANALYTICS + STYLE) + (
        f"<body>{_nav(r)}<h1>Contact</h1><p>12 Harbour Road, Bristol. Telephone 0117 496 0{r.randrange(100, 999)}</p></body></html>"
    )


def _gallery(r: Random) -> str:
    images = "".join(f'<a href="/{_hash(r)}.jpg"><img src="/t/{_hash(r)}.jpg" alt=""></a>' for _ in range(12))
    return (
        _head("Photos", STYLE)
        + f'<body><div id="content">{images}</div><script src="/js/main.js"></script></body></html>'
    )


def _frames(r: Random) -> str:
    return _head("Club", "<script>if (top != self) top.location = self.location</script>") + (
        f'<frameset cols="20%,80%"><frame src="menu.html"><frame src="{r.choice(WORDS)}.html"></frameset></html>'
    )


def _links(r: Random) -> str:
    items = "".join(f'<li><a href="http://{word}{n}.example/">{word} {n}</a></li>' for n in range(8) for word in WORDS)
    return _head("Links", ANALYTICS) + f'<body><ul>{items}</ul><script src="/assets/app.js"></script></body></html>'


def _login(r: Random) -> str:
    return _head("Log in", STYLE) + (
        '<body><div id="root"><form method="post"><label>Email <input type="email" name="e"></label><label>Password '
        f'<input type="password" name="p"></label><button>Log in</button></form></div><script src="/app.{_hash(r)}.js"></script>'
    )


def _poem_with_comments(r: Random) -> str:
    return _head("Poem", ANALYTICS) + (
        f'<body><article><p>{_prose(r, 35)}</p></article><div id="disqus_thread"></div><script>(function(){{var d=document,'
        's=d.createElement("script");s.src="https://x.disqus.com/embed.js";(d.head||d.body).appendChild(s)})();</script>'
        "<noscript>Please enable JavaScript to view the comments powered by Disqus.</noscript></body></html>"
    )


def _video(r: Random) -> str:
    return _head("Film", ANALYTICS) + (
        f'<body><div id="main"><iframe src="https://www.youtube.com/embed/{_hash(r)}"></iframe></div><p>A film of {r.choice(WORDS)}</p>'
        '<script src="/js/main.js"></script></body></html>'
    )


def _map(r: Random) -> str:
    return _head("Where we are", '<script src="/lib/leaflet.js"></script>') + (
        f'<body><h1>Where we are</h1><div id="map"></div><p>Pier {r.randrange(9)}, behind the old custom house by the ferry, second floor'
        '</p><script>L.map("map").setView([51.4,-2.6],13)</script></body></html>'
    )


def _word_press(r: Random) -> str:
    emoji = "window._wpemojiSettings={};!function(i,n){var o,s,e;function c(e){try{sessionStorage.setItem(o,e)}catch(e){}}}(window);"
    return _head("Post", f"<script>{emoji * 20}</script>" + STYLE) + (
        f'<body>{_nav(r)}<div id="page"><main id="main"><h1>Post</h1><p>{_prose(r, 30)}</p></main></div>'
        '<script src="/wp-includes/js/jquery/jquery.min.js"></script></body></html>'
    )


def _banner(r: Random) -> str:
    return _head("Club", STYLE) + (
        f"<body><noscript>Please enable JavaScript for the best experience.</noscript>{_nav(r)}<p>{_prose(r, 25)}</p>"
        f'<script src="/dist/app.{_hash(r)}.js"></script></body></html>'
    )


def _facebook(r: Random) -> str:
    return _head("Café", STYLE) + (
        '<body><div id="fb-root"></div><script>(function(d,s,id){var js,f=d.getElementsByTagName(s)[0];js=d.createElement(s);'
        f'js.src="//connect.facebook.net/sdk.js";f.parentNode.insertBefore(js,f)}}(document,"script"));</script><p>{_prose(r, 12)}</p>'
    )


NEED_NONE = {
    "article": _article, "rendered by next": _rendered_by_next, "404 by next": _not_found_by_next, "short": _plain_and_short,
    "contact": _contact, "gallery": _gallery, "frames": _frames, "links": _links, "login": _login,
    "comments": _poem_with_comments, "video": _video, "map": _map, "wordpress": _word_press, "banner": _banner, "facebook": _facebook,
}  # fmt: skip
