"""The companion's service on loopback, the files of the person, and the extension for browsers (in ``browser/``)."""
