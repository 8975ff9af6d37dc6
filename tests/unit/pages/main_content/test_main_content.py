"""Main content as text and as Markdown: what is kept and removed, and the maximum cost of hostile markup."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lxml import html
from markdown_it import MarkdownIt

from crawlproject.pages import main_content
from crawlproject.pages.main_content import main_text
from crawlproject.pages.markdown import markdown

PROSE = "The coral reef was bleached in a warm summer, and it took the animals ten years to come back to it. " * 3
URL = "http://a.example/reefs/page"


def page(content: str) -> bytes:
    menu = "".join(f'<li><a href="/{n}">Menu {n}</a></li>' for n in range(9))
    return (
        f'<html><body><div id="menu" class="nav"><ul>{menu}</ul></div><div class="article">{content}</div>'
        '<div class="footer">Imprint and privacy</div></body></html>'
    ).encode()


def in_main(content: str) -> bytes:
    return f"<body><nav>Menu</nav><main><p>{PROSE}</p>{content}</main><footer>Imprint</footer></body>".encode()


def written(content: str) -> str:
    """The Markdown of ``content`` within a larger page."""
    text = markdown(in_main(content), url=URL)
    assert text.startswith("The coral reef")
    return text.partition("\n\n")[2]


@pytest.mark.parametrize("content", [f"<h1>Reefs</h1><p>{PROSE}</p>", f"<h1>Reefs</h1><div><div>{PROSE}</div></div>"])
def test_navigation_goes_and_prose_stays(content: str) -> None:
    assert main_text(page(content)) == f"Reefs\n{PROSE.strip()}"
    assert markdown(page(content), url=URL) == f"# Reefs\n\n{PROSE.strip()}"


def test_one_main_element_is_believed_and_what_is_beside_it_left_out() -> None:
    links = "<ul><li><a href=/1>One</a></li><li><a href=/2>Two</a></li></ul>"
    text = main_text(in_main(f"<nav>Contents</nav><aside>Read this</aside>{links}<div role=navigation>Next</div>"))
    assert text.splitlines()[1:] == ["One", "Two"]


def test_several_main_elements_are_no_statement() -> None:
    body = f"<main>{PROSE}</main>".encode() * 2 + f"<article class=x><p>{PROSE}</p></article>".encode()
    assert main_text(body).count("bleached") > 6


def test_a_page_without_a_template_is_content_altogether() -> None:
    body = b"<h1>Jane</h1><ul><li><a href=a>Papers</a><li><a href=b>Software</a></ul><address>jane@a.example</address>"
    assert main_text(body) == "Jane\nPapers\nSoftware\njane@a.example"
    assert markdown(body, url=URL).startswith(
        "# Jane\n\n- [Papers](http://a.example/reefs/a)\n- [Software](http://a.example/reefs/b)"
    )


def test_plain_text_is_taken_as_it_is() -> None:
    assert main_text(b"a  b\r\n\r\nc <p>", "text/plain") == "a b\nc <p>"
    assert main_text(b"a\x00b\x1b[2Jc", "text/plain") == "ab[2Jc", "without control characters"
    assert markdown(b"x ``` y\n <b>", url=URL, content_type="text/plain") == "````\nx ``` y\n <b>\n````"


def test_nothing_gives_nothing() -> None:
    for body in (b"", b"<html></html>", b"<!-- -->", b"\0 \n"):
        assert main_text(body) == markdown(body, url=URL) == ""


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("<h2>A <small>b</small>\n c<a href=#x>\u00b6</a></h2>", "## A b c"),
        ("<p>a<br>b <b> bold </b>, <i>it</i>, <code>x*y</code></p>", "a  \nb **bold** , *it*, `x*y`"),
        ("<p><code>git</code><code> add</code><b><code>x`y</code></b>, <i><kbd>A</kbd></i><i><kbd>B</kbd></i><code> </code></p>",
         "`git add`**`` x`y ``**, *`AB`*"),
        ("<h2>Learning C #</h2>", "## Learning C \\#"),
        ("<p><i>one</i><i>two</i> <b>a</b><i>b</i> <b><b>c</b></b> <i>x<b> y </b></i>z", "*onetwo* **a**b **c** *x **y*** z"),
        ("<p>x <b>Note:</b>text, <b><i>Note:</i></b> text, a<i>(b)</i>, <b>注意：</b>次",
         "x Note:text, ***Note:*** text, a(b), 注意：次"),
        ("<ul><li>a<ul><li>b</ul><li><p>c<p>d</ul>", "- a\n  - b\n- c\n\n  d"),
        ("<ol start=3><li>a<li>b</ol>", "3. a\n4. b"),
        ("<ol start=9><li><ol><li>a<li>b</ol><li>c<ol start=2><li>d</ol></ol>",
         "9. 1. a\n   2. b\n10. c\n\n    2. d"),
        ("<ol><li>a<li>b</ol><ol><li>c</ol><div><ol><li>d</ol></div><ul><li>e</ul><ul><li>f</ul>",
         "1. a\n2. b\n\n1) c\n\n1. d\n\n- e\n\n* f"),
        ("<p>) a</p><p>) b</p><p>5- c</p><p>6- d</p><ul><li>e<ul><li>f</ul><ul><li>g<li>h</ul></ul>",
         ") a\n\n) b\n\n5- c\n\n6- d\n\n- e\n  - f\n  * g\n  * h"),
        ("<ul>bare<br>lines<li>item</ul>", "- bare  \n  lines\n- item"),
        ("<blockquote><p>a<p>b</blockquote>", "> a\n>\n> b"),
        ("<pre class=language-python>def f():\n    return 1\n</pre>", "```python\ndef f():\n    return 1\n```"),
        ("<pre>a<br>b ```</pre>", "````\na\nb ```\n````"),
        ("<dl><dt>Term<dd>What it means</dl>", "**Term**\n\nWhat it means"),
        (
            "<table><tr><th>a<th>b|c</tr><tr><td><p>1</p><td></tr></table>",
            "| a | b\\|c |\n| --- | --- |\n| 1 |  |",
        ),
        (
            "<table><thead><tr><th rowspan=9>Year<th>City<th>Count<tbody><tr><td rowspan=2>2020<td>Rome<td>5<tr><td>Oslo<td>7"
            "<tr><td colspan=2>all<td>12<tr><td colspan=99999999>note<tr><td rowspan=0>x<td>y<tr><td>z</table>",
            "| Year | City | Count |\n| --- | --- | --- |\n| 2020 | Rome | 5 |\n|  | Oslo | 7 |\n| all |  | 12 |\n"
            "| note |  |  |\n| x | y |  |\n|  | z |  |",
        ),
        ("<table><tr><td colspan=99999999>a<td>b<tr><td>c<td>d</table>", "a\n\nb\n\nc\n\nd"),
        ("<table><tr><td><h2>Left</h2><td><ul><li>x</ul></tr><tr><td>a<td>b</table>", "## Left\n\n- x\n\na\n\nb"),
        ("<p><a href='../x y(1)'>in</a> <a href='javascript:alert(1)'>js</a> <a href=#a>here</a></p>",
         "[in](http://a.example/x%20y%281%29) js here"),
    ],
)  # fmt: skip
def test_what_becomes_what(content: str, expected: str) -> None:
    assert written(content) == expected


@pytest.mark.parametrize("nest", ["{}", "<blockquote>{}</blockquote>", "<ul><li>x{}</ul>", "<ol><li>x<li>{}</ol>"])
@pytest.mark.parametrize("tag", ["ul", "ol"])
def test_lists_after_each_other_are_read_as_several(tag: str, nest: str) -> None:
    three = f"<{tag}><li>a<li>b</{tag}><{tag}><li>c<pre>- d</pre></{tag}><div><{tag}><li>e</{tag}></div>"
    text = written(nest.format(three))
    rendered = MarkdownIt("commonmark").render(text)
    assert rendered.count(f"<{tag}>") == 3 + nest.count(tag + ">") // 2, text


@pytest.mark.parametrize(
    "text", ["# a", "1. a", "12) a", "- a", "+ a", "> a", "a * b * c", "_a_ snake_case", "[a](b)", "`a`", "<script>", "&amp;lt;",
             "~~~", "===", "a~~b~~c", "\\*", "![x](y)", "|a|b|", "---"],
)  # fmt: skip
def test_text_stays_text(text: str) -> None:
    shown = html.fromstring(f"<p>{text.replace('<', '&lt;')}</p>").text_content()
    rendered = (
        MarkdownIt("commonmark")
        .enable(["table", "strikethrough"])
        .render(written(f"<p>{text.replace('<', '&lt;')}</p>"))
    )
    root = html.fromstring(rendered)
    assert root.tag == "p" and not len(root)
    assert root.text_content() == shown


emphasis = st.recursive(
    st.sampled_from(["a", ":", " ", "(", "：", "*", "\\", "\u3000", "€", "<a href='http://h/'>l</a>"]),
    lambda inner: st.tuples(st.sampled_from("bi"), st.lists(inner, max_size=4)).map(
        lambda pair: f"<{pair[0]}>{''.join(pair[1])}</{pair[0]}>"
    ),
)


@settings(max_examples=100, deadline=None)
@given(st.lists(emphasis, max_size=5).map("".join))
@example(":<i><b>a</b>:<b>€</b></i>")
def test_no_mark_of_emphasis_is_read_as_an_asterisk(inline: str) -> None:
    assert_read_as_shown(inline)


codes = ["<code>c</code>", "<tt>`</tt>", "<i><var>v</var></i>", "<b><samp>s``</samp></b>", "`", "a", " "]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(codes), max_size=6).map("".join))
def test_no_mark_of_code_is_read_as_a_backtick(inline: str) -> None:
    assert_read_as_shown(inline)


def assert_read_as_shown(inline: str) -> None:
    rendered = MarkdownIt("commonmark").render(written(f"<p>x{inline}</p>"))
    shown = html.fromstring(f"<p>x{inline}</p>").text_content()
    assert html.fromstring(rendered).text_content().split() == shown.split()


ATTACKS = {
    "deep": "<div>a " * 100_000,
    "attributes": "<p " + " ".join(f"a{n}=1" for n in range(60_000)) + ">x</p>",
    "options": "<select>" + "<option>x" * 100_000,
    "lists": "<main>word " * 40 + "<ul><li>a" * 50_000,
    "quotes": "<main>" + "word " * 40 + "<blockquote>a<p>b" * 50_000,
    "tables": "<main>" + "word " * 40 + "<table><tr><td>a<td>b<tr><td>c<td>" * 20_000,
    "wide table": "<main><table>" + ("<tr>" + "<td>a" * 39) * 4_000,
    "spans": "<main>"
    + "word " * 40
    + "<table>"
    + f"<tr><td rowspan={'9' * 5000}><td colspan=99999999>" * 100
    + "<tr><td>" * 9_000,
    "mains": "<main>a</main>" * 40_000,
    "code": "<main>" + "word " * 40 + "<code>`</code>" * 40_000,
    "open tags": "<a class" * 60_000,
    "emphasis": "<main>" + "word " * 40 + "<b>a<i>:</i></b><i>b</i>" * 20_000,
    "marks": "<p>a\U000f0000b\U000ffffd</p>" * 10_000,
}


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("name", ATTACKS)
def test_hostile_markup_costs_little(name: str, compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not compiled:
        monkeypatch.setattr(main_content, "tree_walk", None)
    body = ATTACKS[name].encode()
    began = time.process_time()
    text, marked = main_text(body), markdown(body, url=URL)
    assert time.process_time() - began < 8.0  # mostly 0.1 s; the square of the depth would take minutes
    assert len(text) + len(marked) < 4 * len(body) + 1_000


def test_carriage_returns_end_lines_of_plain_text() -> None:
    assert main_text(b"one\rtwo \x01\r\n\x02 three", "text/plain") == "one\ntwo\nthree"


def test_a_link_in_code_goes_around_it() -> None:
    one = b'<code><a href="http://h/mutate">mutate()</a></code>, <code><a href="http://h/a">a</a> + <a href="http://h/b">b</a></code>'
    page = b"<main><p>" + b"Corals grow slowly. " * 10 + one + b"</p></main>"
    assert markdown(page, url=URL).endswith("slowly. [`mutate()`](http://h/mutate), `a + b`")


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=300) | st.text(alphabet="<>/aplidvbrtrcode=\"'h1 \n-*_`[]()#", max_size=300).map(str.encode))
@example(b"\x01\t\x01")  # blanks between control characters
def test_any_bytes_give_an_answer(body: bytes) -> None:
    text = markdown(body, url=URL)
    assert "\0" not in text and "<script" not in text
    assert main_text(body) == main_text(body).strip()
