"""``scrapy index CRAWL_DIR``: builds or updates the full-text index of a crawl."""

from __future__ import annotations

import argparse
from functools import partial

from scrapy.exceptions import UsageError

from crawlproject.adapters.extensions.progress import print_share
from crawlproject.adapters.subcommand import Subcommand, reporting_errors
from crawlproject.configuration import program
from crawlproject.errors import BadSetting
from crawlproject.extras import need
from crawlproject.pages.text.printable import counted


class IndexCommand(Subcommand):
    usage = "CRAWL_DIR"
    summary = "Make the pages of a crawl searchable"
    description = (
        "Build a full-text index in a crawl folder, or bring it up to date. Works on running, finished and killed "
        f"crawls; the folders of several workers are merged first. Next: {program} search CRAWL_DIR QUERY. "
        "Exit code 2: not a crawl folder, a damaged one, or one with an index that another process updates."
    )
    examples = ("index crawls/reefs", "index crawls/reefs --vectors -s SEARCH_MODEL=minishlab/potion-base-8M")

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--with-duplicates",
            action=argparse.BooleanOptionalAction,
            help="include near-duplicates or not; a change rebuilds the index (default: as before, at first without)",
        )
        parser.add_argument(
            "--vectors",
            action="store_true",
            help="also embed the pages with the model in the setting SEARCH_MODEL, for search by meaning",
        )
        parser.add_argument("--rebuild", action="store_true", help="rebuild the index")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("expected one crawl folder", print_help=False)
        with reporting_errors(self):
            from crawlproject.exporting.index import update
            from crawlproject.language_models.embeddings import search_model
            from crawlproject.opening import crawl_folder

            model = search_model(self.search_model) if opts.vectors else None
            if opts.vectors and model is None:
                raise BadSetting(
                    "setting SEARCH_MODEL", "--vectors needs the name of a model, or an address and a name"
                )
            if model is not None:  # load the model first: a wrong name must fail before the long work
                need(f"{program} index --vectors", "content")
                _ = model.embed

            folder = crawl_folder(args[0])
            shown = partial(print_share, "indexed")
            done = update(folder, with_duplicates=opts.with_duplicates, rebuild=opts.rebuild, progress=shown)
            copies = f", {done.left_out:,} left out as duplicates" if done.left_out else ""
            again = f", {done.replaced:,} replaced" if done.replaced else ""
            again += f", {done.removed:,} removed" if done.removed else ""
            print(
                f"{counted(done.added, 'page')} added{again}{copies}; {counted(done.pages, 'page')} in {folder / 'index'}"
            )
            if model is not None:
                from crawlproject.exporting.index.embedding import update_vectors

                shown = partial(print_share, "embedded")
                embedded = update_vectors(folder, model, rebuild=opts.rebuild, progress=shown)
                print(
                    f"{counted(embedded.added, 'chunk')} embedded; {counted(embedded.chunks, 'chunk')} of {model.name}"
                )
