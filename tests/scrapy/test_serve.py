"""The virtual web server over real sockets, and its command."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

import pytest
from support.webs import DictWeb, NamingWeb

from crawlproject.commands.serve import ServeCommand
from crawlproject.http.virtual_web_server import Access, AccessLog, WebServer, read_log, running
from crawlproject.records import Reply

ROOT = Path(__file__).parents[2]
HTML = {"content-type": "text/html; charset=utf-8"}
LONG_URL = "http://h.example/?q=" + "x" * 20_000
PAGES = {
    "http://h.example/": Reply("", 200, HTML, b"<p>home"),
    "http://h.example/%7Ea?b=%20c": Reply("", 200, HTML, b"spelled"),
    "http://h.example/robots.txt": Reply("", 200, {"content-type": "text/plain"}, b"User-agent: *"),
    "http://h.example/old": Reply("", 302, {"location": "http://h.example/"}),
    "http://h.example/dated": Reply("", 200, {**HTML, "last-modified": "Wed, 15 Jan 1997 00:00:00 GMT"}, b"dated"),
    "http://h.example/untyped": Reply("", 200, {}, b"untyped"),
    "http://h.example/broken": Reply("", 500, HTML, b"broken"),
    "http://h.example/slow": Reply("", 200, HTML, b"slow", seconds=0.3),
    "http://h.example/timeout": Reply("", 0, error="timeout"),
    "http://h.example/refused": Reply("", 0, error="connection refused"),
    LONG_URL: Reply("", 200, HTML, b"long"),
}


@pytest.fixture(scope="module")
def server() -> Iterator[WebServer]:
    with running(DictWeb(PAGES)) as server:
        yield server


def ask(server: WebServer, target: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)) as connection:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, target, headers=named)
        response = connection.getresponse()
        fields = {name.lower(): value for name, value in response.getheaders()}
        return response.status, fields, response.read()


def test_proxy_gives_pages_robots_and_status_codes(server: WebServer) -> None:
    status, headers, body = ask(server, "http://h.example/")
    assert (status, headers["content-type"], body) == (200, "text/html; charset=utf-8", b"<p>home")
    assert ask(server, "http://h.example/robots.txt")[2] == b"User-agent: *"
    assert ask(server, "http://h.example/none")[0] == 404
    assert ask(server, "http://h.example/broken")[::2] == (500, b"broken")


def test_url_is_passed_on_as_spelled(server: WebServer) -> None:
    assert ask(server, "http://h.example/%7Ea?b=%20c")[2] == b"spelled"
    assert ask(server, LONG_URL)[2] == b"long"


def test_origin_form_is_answered_for_its_host(server: WebServer) -> None:
    assert ask(server, "/dated", Host="h.example")[2] == b"dated"
    assert ask(server, "/dated", Host="other.example")[0] == 404
    assert ask(server, "*", method="GET")[0] == 400


def test_redirect_keeps_its_location(server: WebServer) -> None:
    status, headers, body = ask(server, "http://h.example/old")
    assert (status, headers["location"], body) == (302, "http://h.example/", b"")


def test_reply_without_a_type_gets_none(server: WebServer) -> None:
    status, headers, body = ask(server, "http://h.example/untyped")
    assert (status, headers["content-type"], body) == (200, "", b"untyped")


def test_head_gives_the_length_without_the_body(server: WebServer) -> None:
    status, headers, body = ask(server, "http://h.example/", method="HEAD")
    assert (status, headers["content-length"], body) == (200, "7", b"")


def test_unchanged_page_is_a_304(server: WebServer) -> None:
    since = "Wed, 15 Jan 1997 00:00:00 GMT"
    status, headers, body = ask(server, "http://h.example/dated", If_Modified_Since=since)
    assert (status, headers["last-modified"], body) == (304, since, b"")
    assert ask(server, "http://h.example/dated", If_Modified_Since="Tue, 14 Jan 1997 00:00:00 GMT")[0] == 200


def test_a_web_that_cloaks_learns_who_asks() -> None:
    with running(NamingWeb({})) as server:
        assert ask(server, "http://h.example/", User_Agent="Browser/5.0")[2] == b"<p>for Browser/5.0"
        assert ask(server, "http://h.example/")[2] == b"<p>for "


def test_https_pages_are_served_with_http() -> None:
    secure, moved = "https://h.example/", "http://h.example/moved"
    replies = {secure: Reply(secure, 200, {}, b"safe"), f"{secure}moved": Reply(secure, 200, {}, b"there")}
    replies[moved] = Reply(moved, 301, {"location": f"{secure}moved"})
    with running(DictWeb(replies)) as server:
        assert ask(server, "http://h.example/")[::2] == (200, b"safe")
        assert ask(server, moved)[::2] == (200, b"there"), "no redirect to where nobody can follow"
        assert ask(server, "http://h.example/other")[0] == 404


def test_other_methods_are_refused(server: WebServer) -> None:
    status, headers, _ = ask(server, "http://h.example/", method="POST")
    assert (status, headers["allow"]) == (405, "GET, HEAD")
    assert ask(server, "h.example:443", method="CONNECT")[0] == 501, "and the client goes on without"


def test_failures_of_the_web(server: WebServer) -> None:
    assert ask(server, "http://h.example/timeout")[0] == 504
    with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
        ask(server, "http://h.example/refused")
    assert ask(server, "http://h.example/")[0] == 200


def test_connection_is_kept_alive(server: WebServer) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)) as connection:
        connection.connect()
        end = connection.sock.getsockname()
        for target in ("http://h.example/", "http://h.example/none", "http://h.example/dated"):
            connection.request("GET", target)
            connection.getresponse().read()
            assert connection.sock.getsockname() == end


def test_rubbish_on_the_socket_does_no_harm(server: WebServer) -> None:
    for rubbish in (
        b"\x16\x03\x01\x02\x00hello",
        b"GET\r\n\r\n",
        b"GET http://[ HTTP/1.1\r\nHost: [\r\n\r\n",
        b"\r\n" * 50,
    ):
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
            connection.sendall(rubbish)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(4096):
                pass
    assert ask(server, "http://h.example/")[0] == 200


def test_access_log_has_a_line_per_request(tmp_path: Path) -> None:
    before = time.time()
    with AccessLog(tmp_path / "access.log") as log, running(DictWeb(PAGES), log=log) as server:
        ask(server, "http://h.example/", User_Agent="tester/1")
        ask(server, "http://H.example:80/none?x=1", method="HEAD")
        with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
            ask(server, "http://h.example/refused")
    lines = read_log(tmp_path / "access.log")
    assert [(line["url"], line["host"], line["method"], line["status"], line["bytes"]) for line in lines] == [
        ("http://h.example/", "h.example", "GET", 200, 7),
        ("http://H.example:80/none?x=1", "h.example:80", "HEAD", 404, 0),
        ("http://h.example/refused", "h.example", "GET", 0, 0),
    ]
    assert lines[0]["agent"] == "tester/1"
    times = [before, *(line[edge] for line in lines for edge in ("start", "end")), time.time()]
    assert times == sorted(times)


def test_half_written_line_of_the_log_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "access.log"
    with AccessLog(path) as log:
        log.write(Access(start=1.0, end=2.0, host="h", url="u", method="GET", status=200, agent="", bytes=0))
    path.write_text(path.read_text() + '{"start": 3')
    assert [line["start"] for line in read_log(path)] == [1.0]


def test_latency_is_real_when_it_is_on(tmp_path: Path) -> None:
    with AccessLog(tmp_path / "access.log") as log, running(DictWeb(PAGES), latency=True, log=log) as server:
        assert ask(server, "http://h.example/slow")[2] == b"slow"
    (line,) = read_log(tmp_path / "access.log")
    assert line["end"] - line["start"] >= 0.3


@contextmanager
def serving(*arguments: str, cache: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the command in a process; yield the process and the address that it printed."""
    command = [sys.executable, "-m", "scrapy", "serve", *arguments]
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            yield process, line.rpartition(" on ")[2].strip()
        finally:
            process.kill()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "web" / "h.example").mkdir(parents=True)
    (tmp_path / "web" / "h.example" / "index.html").write_text("<p>home")
    return tmp_path / "web"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_command_serves_until_it_is_stopped(folder: Path, tmp_path: Path, number: signal.Signals) -> None:
    log = tmp_path / "access.log"
    with serving(str(folder), "--port", "0", "--log", str(log), cache=tmp_path) as (process, address):
        assert address.startswith("http://127.0.0.1:")
        opener = build_opener(ProxyHandler({"http": address}))
        assert opener.open("http://h.example/", timeout=10).read() == b"<p>home"
        with pytest.raises(HTTPError, match="404"):
            opener.open(Request("http://elsewhere.example/"), timeout=10)
        process.send_signal(number)
        assert process.wait(timeout=10) == 0
    assert [line["status"] for line in read_log(log)] == [200, 404]


@pytest.mark.parametrize(
    ("options", "wish"),
    [
        ({"web": "nowhere.warc"}, "no such file"),
        ({"port": "busy"}, "cannot listen"),
        ({"port": 70_000}, "cannot listen"),
        ({"log": "folder"}, "cannot be written"),
    ],
)
def test_bad_input_is_one_message(
    folder: Path, capsys: pytest.CaptureFixture[str], options: dict[str, object], wish: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1] if options.get("port") == "busy" else options.get("port", 0)
        log = folder if "log" in options else None
        command = ServeCommand()
        command.run([str(options.get("web", folder))], Namespace(port=port, latency="off", access_log=log))
    assert command.exitcode == 2
    message = capsys.readouterr().err
    assert wish in message
    assert message.count("\n") == 1


def test_bad_input_is_exit_code_2(tmp_path: Path) -> None:
    with serving("nowhere.warc", cache=tmp_path) as (process, address):
        assert address == ""
        assert process.wait(timeout=30) == 2
