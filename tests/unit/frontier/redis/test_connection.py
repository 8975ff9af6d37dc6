"""The connection settings have the same meaning as in scrapy-redis."""

from __future__ import annotations

from pathlib import Path

import pytest
from scrapy.settings import Settings
from scrapy_redis import defaults
from scrapy_redis.connection import get_redis_from_settings
from support.redisserver import PROGRAM, redis_server

from crawlproject.configuration import read_options
from crawlproject.errors import BadSetting, StorageFailed
from crawlproject.frontier.redis import connection
from crawlproject.frontier.redis.connection import connect, make_client
from crawlproject.frontier.redis.pushed_seeds import read_seed
from crawlproject.options import Options
from crawlproject.settings import REDIS_ENCODING, REDIS_START_URLS_KEY


def client_of(options: Options):
    o = options
    return make_client(o.redis_url, o.redis_host, o.redis_port, o.redis_db, o.redis_params)


@pytest.mark.parametrize(
    "chosen",
    [
        {},
        {"REDIS_HOST": "redis.example", "REDIS_PORT": 7000, "REDIS_DB": 3},
        {"REDIS_URL": "redis://user:secret@redis.example:7001/2", "REDIS_HOST": "not.this.example"},
        {"REDIS_HOST": "redis.example", "REDIS_PARAMS": {"password": "secret", "socket_timeout": 5}},
        {"REDIS_URL": "rediss://redis.example/1", "REDIS_PARAMS": {"client_name": "crawler"}},
    ],
)
def test_the_same_settings_make_the_same_connection(chosen: dict[str, object]) -> None:
    ours = client_of(read_options(Settings(chosen))).connection_pool.connection_kwargs
    theirs = get_redis_from_settings(Settings(chosen)).connection_pool.connection_kwargs
    for name in ("host", "port", "db", "username", "password", "client_name"):
        assert ours.get(name) == theirs.get(name), name
    assert not ours.get("decode_responses")


def test_seeds_are_pushed_to_the_same_key() -> None:
    assert (REDIS_START_URLS_KEY, REDIS_ENCODING) == (defaults.START_URLS_KEY, defaults.REDIS_ENCODING)


def test_a_password_is_not_written_down() -> None:
    options = read_options({"REDIS_URL": "redis://:secret@h/0", "REDIS_PARAMS": '{"password": "secret"}'})
    assert "secret" not in str(options.model_dump())
    assert options.redis_params == {"password": "secret"}


def test_wrong_settings_are_reported() -> None:
    for wrong in ({"REDIS_URL": "http://h/"}, {"REDIS_PARAMS": {"no_such_argument": 1}}):
        with pytest.raises(BadSetting, match="REDIS_"):
            client_of(read_options(wrong))


def test_a_server_that_is_not_there_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_PATIENCE", 0.1)
    with pytest.raises(StorageFailed, match=r"no Redis at 127\.0\.0\.1:1: "):
        connect(host="127.0.0.1", port=1)


@pytest.mark.skipif(PROGRAM is None, reason="no redis-server on this machine; `make test` installs one")
def test_a_wrong_password_is_reported_at_once_and_not_written_down(tmp_path: Path) -> None:
    with redis_server(tmp_path) as server:
        assert connect(host="127.0.0.1", port=server.port).config_set("requirepass", "secret")
        for user in ("", ":wrong@"):
            with pytest.raises(StorageFailed, match=r"Redis at 127\.0\.0\.1:\d+ refused the connection: ") as told:
                connect(url=f"redis://{user}127.0.0.1:{server.port}/0")
            assert "wrong@" not in str(told.value)
        assert connect(host="127.0.0.1", port=server.port, params={"password": "secret"}).ping()


@pytest.mark.parametrize(
    ("raw", "seed"),
    [
        (b" http://a.test/ ", ("http://a.test/", None)),
        (b'{"url": "http://a.test/", "meta": {"score": 2}}', ("http://a.test/", 2.0)),
        (b'{"url": "http://a.test/"}', ("http://a.test/", None)),
        ("http://a.test/\u00e4".encode(), ("http://a.test/\u00e4", None)),
    ],
)
def test_seeds_are_read(raw: bytes, seed: tuple[str, float | None]) -> None:
    assert read_seed(raw, "utf-8") == seed


@pytest.mark.parametrize(
    "raw", [b"{", b'{"meta": {}}', b'{"url": 7}', b'{"url": "http://a.test/", "meta": 7}', b"\xff"]
)
def test_what_is_no_seed_is_reported(raw: bytes) -> None:
    with pytest.raises(ValueError):
        read_seed(raw, "utf-8")
