"""The state of one subscription, after any message of a hub at any time."""

from __future__ import annotations

from dataclasses import asdict
from urllib.parse import parse_qs

from hypothesis import given
from hypothesis import strategies as st

from crawlproject.parts.websub.subscription import HOUR, LEASE, LONGEST, WEEK, Subscription
from crawlproject.urls.post import is_form_body

HUBS = ["http://one.example/", "http://two.example/"]
NOW = 1_700_000_000.0


def subscription(*hubs: str, asked: bool = True) -> Subscription:
    found = list(hubs or HUBS)
    return Subscription(
        "http://f.example/", "http://t.example/?a=1&b", found, "http://c.example/p", "p", "s", asked=asked
    )


def verification(known: Subscription, mode: str = "subscribe", lease: str = "1000000") -> dict[str, str]:
    return {"hub.mode": mode, "hub.topic": known.topic, "hub.challenge": "x", "hub.lease_seconds": lease}


def test_the_form_asks_for_what_the_specification_wants() -> None:
    known = subscription()
    assert is_form_body(known.form())
    assert parse_qs(known.form()) == {
        "hub.mode": ["subscribe"],
        "hub.topic": [known.topic],
        "hub.callback": ["http://c.example/p"],
        "hub.secret": ["s"],
        "hub.lease_seconds": [str(LEASE)],
    }


def test_a_lease_begins_with_the_verification_and_is_renewed_before_it_ends() -> None:
    known = subscription()
    known.was_accepted(NOW)
    assert not known.is_live(NOW) and known.due == NOW + HOUR
    assert known.heard(verification(known, lease="100000"), NOW + 5)
    assert known.is_live(NOW + 99_999) and not known.is_live(NOW + 100_006)
    assert NOW < known.due < NOW + 100_000 and not known.accepted


def test_a_hub_may_verify_before_it_answers() -> None:
    known = subscription()
    assert known.heard(verification(known), NOW)
    due = known.due
    known.was_accepted(NOW + 1)
    assert known.due == due and not known.accepted


def test_leases_are_believed_within_bounds() -> None:
    for lease in ("99999999999", "1e9", "-5", "", "x" * 9, "9" * 400, "٣"):
        known = subscription()
        assert known.heard(verification(known, lease=lease), NOW)
        assert NOW + HOUR <= known.due <= NOW + LONGEST and known.ends <= NOW + LONGEST
    known = subscription()
    assert known.heard(verification(known, lease="10"), NOW)
    assert known.due == NOW + HOUR and not known.is_live(NOW + 11), "not asked every 8 seconds"


def test_the_first_hub_that_accepts_is_taken() -> None:
    known = subscription()
    known.failed(NOW)
    assert known.hub == HUBS[1] and known.due <= NOW
    known.failed(NOW)
    assert known.hub == HUBS[0] and known.due == NOW + HOUR
    known.failed(NOW + HOUR)
    known.failed(NOW + HOUR)
    assert known.due == NOW + 3 * HOUR, "twice as long"


def test_a_hub_that_always_fails_is_asked_once_a_week() -> None:
    known = subscription(HUBS[0])
    waits = []
    now = NOW
    for _ in range(30):
        known.failed(now)
        waits.append(known.due - now)
        now = known.due
    assert waits == sorted(waits) and waits[0] == HOUR and waits[-1] == WEEK


def test_a_renewal_that_fails_leaves_the_lease() -> None:
    known = subscription()
    known.heard(verification(known), NOW)
    known.failed(NOW + 10)
    assert known.is_live(NOW + 10) and known.hub == HUBS[0] and known.due == NOW + 10 + HOUR
    known.failed(known.ends)
    assert known.hub == HUBS[1] and not known.is_live(NOW + 10)


def test_a_denial_ends_the_lease() -> None:
    known = subscription(HUBS[0])
    known.heard(verification(known), NOW)
    assert known.heard({"hub.mode": "denied", "hub.topic": known.topic}, NOW + 10)
    assert not known.is_live(NOW + 10) and known.due == NOW + 10 + WEEK
    known.failed(NOW + 11)  # the response to the request comes later
    assert known.due == NOW + 10 + WEEK


def test_a_redirect_is_followed_a_few_times() -> None:
    known = subscription(HUBS[0])
    for number in range(3):
        known.moved(f"http://moved{number}.example/", NOW)
        assert known.hub == f"http://moved{number}.example/" and known.due <= NOW
    known.moved("http://moved9.example/", NOW)
    assert known.hub == HUBS[0] and known.due == NOW + HOUR and known.hubs == [HUBS[0]]


def test_unsubscribing() -> None:
    known = subscription()
    assert not known.heard(verification(known, "unsubscribe"), NOW), "nobody has asked for that"
    known.heard(verification(known), NOW)
    assert known.leave(NOW + 1) and not known.is_live(NOW + 1) and known.due == NOW + 1
    assert "hub.mode=unsubscribe" in known.form() and "secret" not in known.form()
    assert not known.heard(verification(known), NOW + 2)
    assert known.heard(verification(known, "unsubscribe"), NOW + 2)
    assert not known.heard(verification(known, "unsubscribe"), NOW + 3)
    assert not subscription().leave(NOW), "there is no lease to give back"


TEXTS = st.sampled_from(
    ["", "subscribe", "unsubscribe", "denied", "http://t.example/?a=1&b", "http://t.example/", "x", "3600"]
)
QUERIES = st.dictionaries(st.sampled_from(["hub.mode", "hub.topic", "hub.challenge", "hub.lease_seconds", "x"]), TEXTS)


@given(QUERIES, st.booleans())
def test_only_what_was_asked_for_is_confirmed(query: dict[str, str], asked: bool) -> None:
    known = subscription(asked=asked)
    before = asdict(known)
    if known.heard(query, NOW):
        assert asked and query["hub.topic"] == known.topic and query["hub.mode"] in ("subscribe", "denied")
        assert query["hub.mode"] == "denied" or query["hub.challenge"]
    else:
        assert asdict(known) == before


ACTIONS = st.lists(
    st.one_of(
        QUERIES.map(lambda query: ("heard", query)), st.sampled_from([("accepted", {}), ("failed", {}), ("moved", {})])
    ),
    max_size=40,
)


@given(ACTIONS, st.lists(st.floats(0, 1e6), min_size=40, max_size=40))
def test_whatever_a_hub_does_it_is_asked_at_a_bounded_rate(
    actions: list[tuple[str, dict[str, str]]], waits: list[float]
) -> None:
    known, now, sent = subscription(), NOW, []
    for (action, query), wait in zip(actions, waits, strict=False):
        now += wait
        if action == "heard":
            known.heard(query, now)
        elif known.due <= now:
            sent.append(now)
            if action == "accepted":
                known.was_accepted(now)
            elif action == "failed":
                known.failed(now)
            else:
                known.moved("http://moved.example/", now)
        assert known.ends <= now + LONGEST and known.hub
    hours = (now - NOW) / HOUR
    assert len(sent) <= (hours + 1) * len(HUBS) * 4 + 8
