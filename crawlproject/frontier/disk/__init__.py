"""The frontier on disk: memory is bounded whatever the number of URLs, and the frontier survives ``kill -9``.

The purpose of each file in its folder, and the module that writes it:

==================  ==================  ============================================================================
file                module              contents
==================  ==================  ============================================================================
``urls.jsonl.zst``  ``url_records``     the record of every URL, one JSON line each, in compressed blocks; append-only
``rows``            ``url_table``       24 bytes a URL by its number: score, offset of its record, host, state
``times``           ``hold_times``      8 bytes a URL by its number: when it may be taken, if it is held
``seen``            ``digest_numbers``  digest of a URL to its number: the URL-seen test
``hosts``           ``host_counts``     digest of a host to its number
``journal.N``       ``journal``         the last changes, in the order they happened; each frame is one atomic step
``state.json``      ``journal``         where the journal begins, and the few things that have no row: picks, rests, blocks
``lines``           ``spilled_queue``   sorted runs of the waiting URLs, by score and by time; made anew at every opening
==================  ==================  ============================================================================

A step is gathered in memory, appended to ``urls.jsonl.zst`` and to the journal, and only then applied to the mapped files. New
digests stay in memory until the journal is summed up. So the files are never ahead of the journal, and applying its last frames
again brings them up to date.
"""
