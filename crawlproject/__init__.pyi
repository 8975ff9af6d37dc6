from crawlproject.library import Topic as Topic
from crawlproject.library import crawl as crawl
from crawlproject.library import open_crawl as open_crawl
from crawlproject.library import ordering as ordering
from crawlproject.library import rehearse as rehearse

__version__: str
