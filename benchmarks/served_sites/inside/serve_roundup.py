"""Runs in Roundup's environment: ``serve_roundup.py TRACKER ADDRESS``. Roundup's own server refuses to run as root."""

import sys

from roundup.cgi.wsgi_handler import RequestDispatcher
from waitress import serve

if __name__ == "__main__":
    tracker, address = sys.argv[1:]
    serve(RequestDispatcher(tracker), listen=address)
