"""Runs in Trac's environment: ``fill_trac.py ENVIRONMENT ARTICLES`` turns articles into wiki pages and tickets."""

import json
import sys
from pathlib import Path

from trac.env import open_environment
from trac.ticket.model import Ticket
from trac.wiki.model import WikiPage


def main() -> None:
    folder, file = sys.argv[1:]
    environment = open_environment(folder)
    articles = json.loads(Path(file).read_text())
    for number, one in enumerate(articles):
        links = "".join(f"\n * [wiki:{name}]" for name in one["links"][:15])
        half = one["paragraphs"][: len(one["paragraphs"]) // 2 + 1]
        for shown in (half, one["paragraphs"]):
            page = WikiPage(environment, one["name"])
            page.text = f"= {one['title']} =\n\n" + "\n\n".join(shown) + f"\n== See also =={links}\n"
            if page.text != page.old_text:
                page.save("ann", "a part more")
        if number % 2 == 0:
            ticket = Ticket(environment)
            ticket.populate({"summary": one["title"], "reporter": "ben", "component": "component1", "type": "defect"})
            ticket["description"] = f"{one['paragraphs'][0]}\n\nSee [wiki:{one['name']}]."
            ticket["status"] = "new"
            ticket.insert()
            for text in one["paragraphs"][1:3]:
                ticket.save_changes("ann", text)
    listed = "\n".join(f" * [wiki:{one['name']} {one['title']}]" for one in articles[::5])
    start = WikiPage(environment, "WikiStart")
    start.text = f"= Manuals =\n{listed}\n * TitleIndex\n"
    start.save("ann", "a list")


if __name__ == "__main__":
    main()
