"""Generates the reference parts of the documentation: settings, command options, decisions. ``make reference``."""

from __future__ import annotations

from scripts import commands_reference, decisions_reference, settings_reference

WRITERS = (settings_reference, commands_reference, decisions_reference)

if __name__ == "__main__":
    for writer in WRITERS:
        writer.PAGE.write_text(writer.written(writer.PAGE.read_text(encoding="utf-8")), encoding="utf-8")
