"""Walls, parked domains and soft 404s are distinguished from pages, on real texts of servers and registrars."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlproject.pages.page_types import CAPTCHA, CONSENT, PARKED, SOFT_404, page_type_of, with_page_type
from crawlproject.records import Page

PROSE = "The committee met on Tuesday and talked about the roof of the old library, which leaks. " * 8


def page_type(title: str, text: str, body: bytes = b"", linked: int = 0) -> str:
    return page_type_of(title, text, linked, body)


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("404 Not Found", "Not Found. The requested URL was not found on this server."),
        ("Page not found | Acme Corp", "Home Products About. Oops. Try the search."),
        ("Page Not Found - The Lighthouse Blog", "It looks like nothing was found at this location."),
        ("", "Sorry, we couldn't find that page. Perhaps searching will help."),
        ("Acme", "The page you are looking for might have been removed, had its name changed, or been deleted."),
        ("Seite nicht gefunden", "Die angeforderte Seite existiert nicht."),
        ("Page introuvable", "La page que vous cherchez est introuvable."),
        ("Página no encontrada", "Lo sentimos."),
        ("Страница не найдена", "Вернуться на главную"),
        ("お探しのページが見つかりませんでした", "ホームへ"),
        ("404", ""),
    ],
)
def test_soft_404s(title, text):
    assert page_type(title, text) == SOFT_404


@pytest.mark.parametrize(
    ("title", "text", "body"),
    [
        ("Just a moment...", "Checking your browser before accessing example.com. Enable JavaScript and cookies", b""),
        ("Attention Required! | Cloudflare", "Sorry, you have been blocked. Cloudflare Ray ID: 7f0", b""),
        ("Access Denied", "You don't have permission. Access to this page has been denied.", b""),
        ("Robot Check", "Type the characters you see in this image", b'<img src="captcha.jpg">'),
        ("", "Please verify you are a human. Press & Hold to confirm.", b""),
    ],
)
def test_captchas(title, text, body):
    assert page_type(title, text, body) == CAPTCHA


@pytest.mark.parametrize(
    "text",
    [
        "example.com is for sale! Buy this domain. Related searches: cheap flights, hotels",
        "This domain is parked free, courtesy of a registrar.",
        "Diese Domain steht zum Verkauf.",
        "The domain name example.org may be available for purchase.",
    ],
)
def test_parked_domains(text):
    assert page_type("example.com", text) == PARKED


def test_consent_walls():
    text = (
        "Before you continue to this site. We and our partners use cookies to process data. Accept all. Manage options."
    )
    assert page_type("Your privacy", text) == CONSENT


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("How to fix 404 errors in your shop", PROSE),
        ("Error 404: a history of the missing page", PROSE * 3),
        ("Found: a new species of frog", "A frog was found in a pond near Basel."),
        ("Nothing", "A poem about nothing. It goes on and on until the moon comes up."),
        ("Captchas considered harmful", "Solve the captcha below, they said. Are you human? " + PROSE * 4),
        ("Moved", "This page has moved. Please follow this link."),
        ("Homes for sale in Leeds", "Three houses are for sale this week, one with a garden."),
        ("Cookies", "Bake at 180 degrees. Accept no substitutes for butter. " + PROSE),
        ("Domain theory", "A domain is a partially ordered set in which some sets have a least upper bound."),
        ("Under construction", "This page is not under construction."),
        ("", ""),
        # references of an API
        (
            "Uses of Class BasicFileChooserUI.AcceptAllFileFilter",
            "Uses of class acceptAllFileFilter. No usage of acceptAllFilter.",
        ),
        ("Uses of DomainCombiner", "Get the DomainCombiner associated with this AccessControlContext."),
    ],
)
def test_pages_that_only_talk_about_it(title, text):
    assert page_type(title, text) == ""


def test_a_banner_does_not_make_a_page_a_wall():
    assert page_type("Weather in Bern", "We use cookies. Accept all cookies. " + PROSE * 2) == ""


def test_many_links_make_no_captcha():
    links = "Access control was denied. Security check lists. Just a moment with our editors. " * 8
    assert page_type("Index", links, linked=len(links)) == ""


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=300), st.text(max_size=2500), st.integers(0, 3000), st.binary(max_size=50))
def test_any_text_has_an_answer(title, text, linked, body):
    assert page_type_of(title, text, linked, body) in (CAPTCHA, CONSENT, PARKED, SOFT_404, "")


@pytest.mark.parametrize(
    "piece", ["the page you ", "domain ", "sorry ", "not found ", "we partners ", "a ", "is offering it "]
)
def test_no_text_takes_long(piece):
    started = time.process_time()
    page_type_of(piece * 60, piece * 600, 0, b"")
    page_type_of(piece * 60, piece * 130, 0, b"")
    assert time.process_time() - started < 2.0, "some expression goes back and back"


def test_the_sign_becomes_the_page_type():
    assert with_page_type(Page("http://a.example/", signs={PARKED: 1.0})).page_type == PARKED
    page = Page("http://a.example/", signs={"linked": 0.9})
    assert with_page_type(page) is page
