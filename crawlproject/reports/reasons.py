"""Why links are refused, in words, by the code under which they are counted."""

from __future__ import annotations

WORDS = {
    "seed/no_url": "a pushed seed is not a URL",
    "scope/domain": "outside CRAWL_ALLOWED_DOMAINS",
    "trap/scheme": "neither http nor https",
    "trap/too_long": "the URL is very long (TRAP_MAX_URL_LENGTH)",
    "trap/extension": "not a page by its file name: an image, an archive, a program, ...",
    "trap/too_deep": "too many links away from a seed (TRAP_MAX_DEPTH)",
    "trap/too_many_segments": "very many folders in the path (TRAP_MAX_SEGMENTS)",
    "trap/repeated_segments": "the path repeats itself, as endless sites do (TRAP_MAX_SEGMENT_REPEATS)",
    "trap/host_full": "its host has had its share of URLs (TRAP_MAX_URLS_PER_HOST)",
    "dust/respelled": "the same page has another URL, by a learned rule",
    "dust/copy": "the same page was known under another URL, by a learned rule",
    "ordering/not_followed": "the ordering does not follow such links",
    "frontier/full": "the frontier was full of better URLs (FRONTIER_MAX_URLS)",
    "robots/forbidden": "robots.txt forbids it",
    "robots/unreachable": "robots.txt could not be fetched, so nothing of the host may be",
    "robots/wildcards": "its robots.txt takes too long to match: it counts as forbidding all",
    "safety/address": "it leads to an address that is not public (CRAWL_ALLOWED_ADDRESSES)",
    "safety/port": "a port that web servers do not use (CRAWL_ALLOWED_PORTS)",
    "safety/decompression": "the body is a bomb, or packed more than twice",
    "flood/head": "the head of the response was far too long",
    "flood/interim": "too many interim responses",
    "flood/overhead": "the response was mostly overhead",
    "flood/work": "the response took too much work to read",
    "flood/slow": "the response came far too slowly",
    "sitemap/foreign": "a sitemap listed a page of another host",
    "sitemap/surplus": "a sitemap listed more pages than are taken (CRAWL_SITEMAP_URLS)",
    "host/given_up": "the crawl gave up its host, which blocks crawlers or is parked",
    "scrapy/ignored": "another middleware of Scrapy refused it",
}
