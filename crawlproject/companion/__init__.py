"""The companion: looks ahead of a person who browses, and suggests pages (Letizia: paper 000 section 5.4).

How data flows through it:

1. The person opens a page. The browser extension, or a bookmarklet, sends its URL, and later its reading time, to the service.
2. ``Companion`` weights the terms of the page by reading time and by *saved* and *dismissed*: these are the ``Interests``.
3. The ``Profile`` stores them in one file of words and weights, which the person can read, edit and delete.
4. ``LookAhead`` moves to the current page: it empties the frontier, and takes keywords from the profile and the page.
5. The current page becomes the only seed of an ordinary crawl. It is fetched as everybody sees it, without cookies.
6. The ordering (``COMPANION_ORDERING``) picks the next link, up to three clicks ahead by default. ``AheadPace`` limits the
   fetches per page and per minute. Robots.txt, politeness, traps and address policy apply as in every crawl.
7. ``Following`` remembers the fetched pages, so that no page is fetched twice.
8. ``suggestions`` ranks the pages ahead of the current page by similarity to the interests, and names the shared words.
9. The side panel requests the suggestions and shows them. Nothing ever interrupts the person.

``service`` is the HTTP server, ``extension`` connects it to Scrapy, and ``browser/`` is the browser extension.
"""
