"""The forms of an HTML document: their targets, their fields, and what a browser would send (HTML standard, section 4.10)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from urllib.parse import urljoin

from lxml import etree

from crawlproject.pages.html.encoding import decode, of_form

MAX_FORMS = 50  # of a page that are read
MAX_FIELDS = 100  # of a form
MAX_OPTIONS = 1_000  # of a menu
MAX_ELEMENTS = 200  # that are searched for the text of one element
MAX_BYTES = 1_000_000  # of a page; a tree takes up to 40 times the memory of its page

TEXT_TYPES = frozenset(("text", "search"))
BUTTONS = frozenset(("submit", "image", "button", "reset"))
_DATES = frozenset(("date", "month", "week", "time", "datetime-local"))
_TYPES = TEXT_TYPES | BUTTONS | _DATES | {"hidden", "password", "checkbox", "radio", "file", "email", "tel", "url"}
_NUMBERS = frozenset(("number", "range", "color"))
MAX_LABEL = 200  # characters of a label, a hint or the text of a button
MAX_VALUE = 2_048  # of a name, a value or an address: a form with a longer one is never sent
_CONTROLS = frozenset(("input", "select", "textarea", "button"))
_SEVERAL = frozenset(("hidden", "checkbox"))  # a form may send several values of one name
_PARTS = frozenset(("script", "style", "option", "button", "select", "textarea"))  # their text labels no other control


@dataclass(frozen=True, slots=True)
class Option:
    """An entry of a menu, or one of several radio buttons: the value that is sent, and the label that a person reads."""

    value: str
    label: str


@dataclass(frozen=True, slots=True)
class Field:
    """A control of a form, by the name under which it is sent.

    ``type`` is the type of an ``<input>`` (``text`` if unknown), or ``select`` or ``textarea``. ``value`` is what a
    browser sends if the control is left alone, None if it sends nothing (a checkbox that is not ticked). ``label`` is the
    text that a person reads beside it. ``options`` are the entries of a ``select``, or all radio buttons of that name.
    """

    name: str
    type: str
    value: str | None = ""
    label: str = ""
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class Form:
    """A form. ``action`` is an absolute URL without a fragment, ``method`` is ``get`` or ``post``.

    ``submit`` is the text of its buttons; ``hints`` are the names, classes and roles that its author gave it, and its
    heading or legend; both are in lower case. Buttons are not fields; ``button`` is name and value of the first one that
    is sent. ``enctype`` is the media type of a POST in lower case; empty means ``application/x-www-form-urlencoded``.
    ``encoding`` is the character encoding in which the form is sent.
    """

    action: str
    method: str
    fields: tuple[Field, ...]
    submit: str = ""
    hints: str = ""
    button: tuple[str, str] | None = None
    enctype: str = ""
    encoding: str = "utf-8"


def read_forms(body: bytes, url: str, content_type: str = "") -> tuple[Form, ...]:
    """Return the forms of the document at ``url``, in order. Malformed input raises nothing, but may yield no forms."""
    if b"<form" not in body and b"<FORM" not in body and b"<Form" not in body:
        return ()
    encoding, markup = decode(body[:MAX_BYTES], content_type)
    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True)
    try:
        root = etree.fromstring(markup.replace("\0", "").encode("utf-8"), parser)
    except (etree.XMLSyntaxError, ValueError):
        return ()
    return tuple(_forms(root, url, encoding)) if root is not None else ()


def _forms(root: etree._Element, url: str, encoding: str) -> Iterator[Form]:
    base = next((_whole(element, "href") for element in root.iter("base") if element.get("href")), "")
    labels: dict[str, str] = {}
    elsewhere: dict[str, list[etree._Element]] = {}  # controls that name their form
    for element in root.iter("label", *_CONTROLS):
        if element.tag == "label":
            if (name := element.get("for")) and name not in labels and len(labels) < MAX_FORMS * MAX_FIELDS:
                labels[name] = _text(element)
        elif element.get("form"):
            elsewhere.setdefault(element.get("form", ""), []).append(element)
    for number, form in enumerate(root.iter("form")):
        if number >= MAX_FORMS:
            return
        written = _whole(form, "action")
        if len(base) + len(written) > MAX_VALUE:
            continue
        try:
            start = urljoin(url, base) if base else url
            action = (urljoin(start, written) if written else url).partition("#")[0]
        except ValueError:
            continue
        controls = [control for control in form.iter(*_CONTROLS) if not control.get("form")]
        controls += elsewhere.get(form.get("id") or "", [])
        yield _FormReader(labels, encoding).form(form, controls[:MAX_FIELDS], action)


class _FormReader:
    def __init__(self, labels: dict[str, str], encoding: str) -> None:
        self._labels = labels
        self._encoding = encoding  # of the page
        self._fields: dict[tuple[str | None, ...], Field] = {}  # by name and type, and by value where several are sent
        self._submit: list[str] = []
        self._button: tuple[str, str] | None = None

    def form(self, element: etree._Element, controls: list[etree._Element], action: str) -> Form:
        for control in controls:
            if control.get("disabled") is None:
                self._add(control)
        hints = [_attribute(element, name) for name in ("id", "name", "class", "role", "aria-label", "title")]
        hints += map(_text, islice(element.iter("legend", "h1", "h2", "h3", "h4"), MAX_FIELDS))
        method = "post" if _attribute(element, "method").lower() == "post" else "get"
        fields = tuple(self._fields.values())
        submit, enctype = " ".join(self._submit).lower(), _attribute(element, "enctype").lower()
        encoding = of_form(_attribute(element, "accept-charset"), self._encoding)
        return Form(action, method, fields, submit, " ".join(hints).lower(), self._button, enctype, encoding)

    def _add(self, control: etree._Element) -> None:
        kind = _type_of(control)
        name = _value(control, "name")
        if kind in BUTTONS:
            self._add_button(control, kind, name)
        elif name and kind == "select":
            self._put(_menu(control, name, self._label_of(control)))
        elif name and kind == "radio":
            self._add_radio(control, name)
        elif name:
            written = _text(control) if kind == "textarea" else _value(control)
            value: str | None = written
            if kind == "checkbox":
                value = (written or "on") if control.get("checked") is not None else None
            self._put(Field(name, kind, value, "" if kind == "hidden" else self._label_of(control)))

    def _add_button(self, control: etree._Element, kind: str, name: str) -> None:
        if kind == "reset":
            return
        said = _text(control) if control.tag == "button" else _attribute(control, "value")
        self._submit.append(said or _attribute(control, "alt"))
        self._submit.append(_attribute(control, "aria-label") or _attribute(control, "title"))
        if kind == "submit" and name and self._button is None:
            self._button = (name, _value(control))

    def _add_radio(self, control: etree._Element, name: str) -> None:
        before = self._fields.get((name, "radio"), Field(name, "radio", None))
        value = _value(control) or "on"
        options = (*before.options, Option(value, self._label_of(control) or value[:MAX_LABEL]))
        chosen = value if control.get("checked") is not None else before.value
        self._fields[name, "radio"] = Field(name, "radio", chosen, before.label, options)

    def _put(self, field: Field) -> None:
        several = (field.value,) if field.type in _SEVERAL else ()
        self._fields.setdefault((field.name, field.type, *several), field)

    def _label_of(self, control: etree._Element) -> str:
        """Return what a person reads beside a control: its label, else its own attributes, else the text next to it."""
        if label := self._labels.get(control.get("id") or "", ""):
            return label
        parent = next(control.iterancestors("label"), None)
        if parent is not None and (label := _text(parent)):
            return label
        for name in ("aria-label", "placeholder", "title"):
            if label := _attribute(control, name):
                return label
        if _type_of(control) in ("checkbox", "radio") and control.tail and control.tail.strip():
            return _fold(control.tail)
        return _text_before(control)


def _type_of(control: etree._Element) -> str:
    if control.tag == "button":
        written = _attribute(control, "type").lower()
        return written if written in ("button", "reset") else "submit"
    if control.tag != "input":
        return str(control.tag)
    written = _attribute(control, "type").lower()
    return written if written in _TYPES or written in _NUMBERS else "text"


def _menu(control: etree._Element, name: str, label: str) -> Field:
    options: list[Option] = []
    value: str | None = None
    for entry in control.iter("option"):
        text = _long_text(entry, MAX_VALUE, options=True)
        option = Option(_value(entry) if entry.get("value") is not None else text, _fold(text))
        if entry.get("selected") is not None and value is None:
            value = option.value
        options.append(option)
        if len(options) >= MAX_OPTIONS:
            break
    if value is None and options and control.get("multiple") is None:
        value = options[0].value  # browsers select the first entry
    return Field(name, "select", value, label, tuple(options))


def _text_before(control: etree._Element) -> str:
    """Return the nearest text before a control within its row: ``Author: <input>``, or the cell before."""
    element: etree._Element | None = control
    for _ in range(3):
        if element is None or element.tag in ("form", "tr"):
            return ""
        before = element.getprevious()
        if before is not None and before.tail and before.tail.strip():
            return _fold(before.tail)
        if before is not None and before.tag not in _CONTROLS and (text := _text(before)):
            return text
        parent = element.getparent()
        if before is None and parent is not None and parent.text and parent.text.strip():
            return _fold(parent.text)
        element = parent
    return ""


def _text(element: etree._Element) -> str:
    return _fold(_long_text(element, MAX_LABEL))


def _long_text(element: etree._Element, longest: int, *, options: bool = False) -> str:
    """Return the text of an element, without that of its controls unless ``options``, up to ``longest`` characters.

    Only ``MAX_ELEMENTS`` elements are searched: a label may enclose a whole page, and is read for every control in it.
    """
    pieces: list[str] = []
    length = seen = 0
    walk = etree.iterwalk(element, events=("start", "end"))
    for event, inner in walk:
        piece = None
        if event == "start":
            seen += 1
            if inner is element or options or inner.tag not in _PARTS:
                piece = inner.text
            else:
                walk.skip_subtree()
        elif inner is not element:
            piece = inner.tail
        if piece:
            pieces.append(piece)
            length += len(piece)
        if length > 4 * longest or seen > MAX_ELEMENTS:
            break
    return " ".join(" ".join(pieces).split())[:longest]


def _attribute(element: etree._Element, name: str) -> str:
    return _whole(element, name)[:MAX_LABEL]


def _value(element: etree._Element, name: str = "value") -> str:
    """Return a value as it is sent. A value of ``MAX_VALUE`` characters may have been cut."""
    return _whole(element, name)[:MAX_VALUE]


def _whole(element: etree._Element, name: str) -> str:
    return (element.get(name) or "").strip()


def _fold(text: str) -> str:
    return " ".join(text[: 4 * MAX_LABEL].split())[:MAX_LABEL].rstrip(" :*")
