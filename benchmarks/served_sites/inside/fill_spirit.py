"""Runs in a project of Spirit: ``fill_spirit.py ARTICLES`` turns each article into a topic, each paragraph into a reply."""

import json
import os
import sys
from pathlib import Path

import django

REPLIES = 30  # of a topic; a page shows 20


def main() -> None:
    sys.path.insert(0, str(Path.cwd()))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "forum.settings.prod")
    django.setup()
    from django.contrib.auth import get_user_model
    from spirit.category.models import Category
    from spirit.comment.models import Comment
    from spirit.topic.models import Topic

    people = [
        get_user_model().objects.create_user(username=name, email=f"{name}@site.example")
        for name in ("ann", "ben", "cleo")
    ]
    articles = json.loads(Path(sys.argv[1]).read_text())
    parts = {part: Category.objects.create(title=part) for part in dict.fromkeys(one["category"] for one in articles)}
    for number, one in enumerate(articles):
        topic = Topic.objects.create(user=people[number % 3], category=parts[one["category"]], title=one["title"][:250])
        texts = one["paragraphs"][:REPLIES]
        for at, text in enumerate(texts):
            Comment.objects.create(
                user=people[(number + at) % 3], topic=topic, comment=text[:2900], comment_html=f"<p>{text[:2900]}</p>"
            )
        topic.comment_count = len(texts)
        topic.save()


if __name__ == "__main__":
    main()
