"""nginx in front of every site: it gives the site its host name, and writes the access log by which all crawlers are judged.

A crawler with ``http_proxy=http://127.0.0.1:PORT`` requests absolute URLs, which nginx answers for the host that they name
(RFC 9112 section 3.2.2). So the machine need not resolve any name, and other hosts get nothing but 404.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.served_sites.access import Access
from benchmarks.served_sites.site import LOOPBACK, Place, Site, free_port

PACKAGES = ("nginx-light",)

_CONFIGURATION = """daemon off;
{user}pid {folder}/nginx.pid;
error_log {folder}/nginx.errors;
worker_processes 1;
events {{ worker_connections 512; }}
http {{
    include /etc/nginx/mime.types;
    client_body_temp_path {folder}/nginx/body;
    proxy_temp_path {folder}/nginx/proxy;
    fastcgi_temp_path {folder}/nginx/fastcgi;
    uwsgi_temp_path {folder}/nginx/uwsgi;
    scgi_temp_path {folder}/nginx/scgi;
    large_client_header_buffers 4 64k;
    server_names_hash_bucket_size 128;
    port_in_redirect off;
    log_format lines escape=json '{{"at": $msec, "seconds": $request_time, "url": "http://$host$request_uri", '
        '"method": "$request_method", "status": $status, "content_type": "$sent_http_content_type", '
        '"location": "$sent_http_location", "bytes": $body_bytes_sent}}';
    server {{ listen {loopback}:{port} default_server; return 404; access_log off; }}
    server {{
        listen {loopback}:{port};
        server_name {host};
        access_log {folder}/access.log lines;
        index index.html index.htm index.php;
        {locations}
    }}
}}
"""


@dataclass(frozen=True, slots=True)
class Front:
    """The running nginx."""

    proxy: str
    log: Path

    def count(self) -> int:
        """The number of requests so far."""
        return self.log.read_bytes().count(b"\n") if self.log.exists() else 0

    def accesses(self, start: int = 0) -> list[Access]:
        """The requests from number ``start`` on."""
        lines = self.log.read_text("utf-8", "replace").splitlines(keepends=True) if self.log.exists() else []
        return [Access(**json.loads(line)) for line in lines[start:] if line.endswith("\n")]


@contextmanager
def in_front_of(site: Site, place: Place) -> Iterator[Front]:
    """Run nginx with one site behind it."""
    port = free_port()
    (place.folder / "nginx").mkdir(exist_ok=True)
    (place.folder / "access.log").unlink(missing_ok=True)
    configuration = place.folder / "nginx.conf"
    configuration.write_text(
        _CONFIGURATION.format(
            user="user root;\n" if os.geteuid() == 0 else "",
            folder=place.folder,
            loopback=LOOPBACK,
            port=port,
            host=site.host,
            locations=site.locations(place),
        )
    )
    place.serve(["/usr/sbin/nginx", "-p", place.folder, "-c", configuration], port=port)
    yield Front(f"http://{LOOPBACK}:{port}", place.folder / "access.log")
