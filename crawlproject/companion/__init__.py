"""The companion: looks ahead of a person who browses (Letizia: paper 000 section 5.4).

How data flows through it:

1. The person opens a page. The browser's extension, or a bookmarklet, tells the service its URL, and later how long it was read.
2. ``Companion`` weighs the terms of the page by that time, and by *saved* and *dismissed*: these weights are the ``Interests``.
3. They are kept in the ``Profile``, one file of words and weights, which the person can read, edit and delete.
4. ``LookAhead`` moves to the page at hand: what waited in the frontier is dropped, keywords are made from profile and page.
5. The page at hand becomes the only seed of an ordinary crawl: it is fetched as everybody sees it, without cookies.
6. The ordering, breadth-first or any other, picks which link is fetched next, up to three clicks ahead; ``AheadPace`` bounds
   fetches a page and a minute; robots.txt, politeness, traps and address policy are those of every crawl.
7. ``Following`` remembers each page that comes, so that none is fetched twice.
8. ``suggestions`` ranks what lies ahead of the page at hand by its likeness to the interests, with the words that they share.
9. The side panel asks for the suggestions and shows them; nothing ever interrupts.

Below Scrapy: the sockets are in ``companion/``, the browser extension in ``companion/browser/``.
"""
