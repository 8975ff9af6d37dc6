"""Runs in Roundup's environment: ``fill_roundup.py TRACKER ARTICLES`` turns each article into an issue with messages."""

import json
import sys
from itertools import cycle
from pathlib import Path

from roundup import date, instance

MESSAGES = 6  # of an issue


def main() -> None:
    tracker, file = sys.argv[1:]
    db = instance.open(tracker).open("admin")
    people = [db.user.create(username=name, address=f"{name}@site.example", roles="User") for name in ("ann", "ben")]
    articles = json.loads(Path(file).read_text())
    keywords = {part: db.keyword.create(name=part) for part in dict.fromkeys(one["category"] for one in articles)}
    turns = cycle(people)
    for number, one in enumerate(articles):
        when = date.Date(f"2024-{1 + number % 12:02}-{1 + number % 28:02}")
        messages = [
            db.msg.create(author=next(turns), date=when, summary=text[:60], content=text)
            for text in one["paragraphs"][:MESSAGES]
        ]
        db.issue.create(
            title=one["title"],
            messages=messages,
            keyword=[keywords[one["category"]]],
            priority=str(1 + number % 5),
            status=str(1 + number % 4),
            nosy=people,
        )
    db.commit()
    db.close()


if __name__ == "__main__":
    main()
