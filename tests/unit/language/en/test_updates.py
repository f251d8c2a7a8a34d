"""Many wordings for a change, in many relations, and sentences that state no change.

A triple is written "subject | relation | value; value"; "not " before the relation means that it is negated.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from thinkback.language.relations import ALL_VALUES
from thinkback.think.rule_generator import RuleGenerator
from thinkback.think.state import Amendment
from thinkback.types import ThoughtDraft, Turn

AT = datetime(2024, 5, 15, 12, tzinfo=UTC)

CHANGES: tuple[tuple[str, str], ...] = (
    # somebody changed the value
    ("My landlord bumped our rent up to 940 euros.", "user | rent | 940 euros"),
    ("The bank cut my mortgage from $1,100 to $980.", "user | mortgage | $980"),
    ("My salary was cut to $50,000, sadly.", "user | salary | $50,000"),
    ("My budget got slashed to 300 euros.", "user | budget | 300 euros"),
    ("I switched my insurer to Allianz.", "user | insurer | Allianz"),
    ("My commute went from an hour to 25 minutes.", "user | commute | 25 minutes"),
    ("My sister's rent was raised to $900.", "user's sister | rent | $900"),
    ("The rent has been raised to $1,350.", "user | rent | $1,350"),
    ("Please change my postcode to LS1 4AP.", "user | postcode | LS1 4AP"),
    ("My rent dropped by $50 to $850.", "user | rent | $850"),
    ("My blood pressure has come down to 120/80.", "user | blood pressure | 120/80"),
    # another value now
    ("Lisbon is where I live now.", "user | lives in | Lisbon"),
    ("Raj is who I report to now.", "user | has boss | Raj"),
    ("Leeds is my home now.", "user | lives in | Leeds"),
    ("Home base is Ghent.", "user | lives in | Ghent"),
    ("Klarna is my employer these days.", "user | works at | Klarna"),
    ("My boss isn't Laura anymore, it's Peter.", "user | has boss | Peter"),
    ("Peter has replaced Laura as my manager.", "user | has boss | Peter"),
    ("Green has become my favourite colour.", "user | favourite colour | Green"),
    ("These days I'd call tea my favourite drink.", "user | favourite drink | tea"),
    ("My favourite band used to be Blur, now it's Muse.", "user | favourite band | Muse"),
    # a new value
    ("I have a new favourite song: Hello.", "user | favourite song | Hello"),
    ("I've changed my address, it's 7 Oak Lane now.", "user | address | 7 Oak Lane"),
    ("New email: jo@x.example", "user | email | jo@x.example"),
    ("We moved to 12 Elm Street.", "user | address | 12 Elm Street"),
    ("My manager changed: it's Raj now.", "user | has boss | Raj"),
    # same verb, new value
    ("I no longer use Windows, it's Linux now.", "user | uses | Linux"),
    ("I no longer live in Paris but in Lyon.", "user | lives in | Lyon"),
    ("I'm no longer at Siemens, I'm at Bosch now.", "user | works at | Bosch"),
    ("I don't live in York anymore, I'm in Hull these days.", "user | lives in | Hull"),
    ("Instead of Paris I now live in Lyon.", "user | lives in | Lyon"),
    # work, school, pay
    ("Thales hired me and I've left Airbus.", "user | works at | Thales"),
    ("I've switched jobs, I'm at Arup now.", "user | works at | Arup"),
    ("I transferred to the University of Leeds.", "user | studies at | the University of Leeds"),
    ("My son switched from Hill School to Park School.", "user's son | studies at | Park School"),
    ("I answer to Helen.", "user | has boss | Helen"),
    ("I'm paying £860 a month in rent now.", "user | rent | £860"),
    ("I make $52k a year.", "user | salary | $52k"),
    ("I got a raise to $66,000.", "user | salary | $66,000"),
    # contact details
    ("You can reach me on 555-0101.", "user | phone number | 555-0101"),
    ("Please use 555-0161 from now on.", "user | phone number | 555-0161"),
    ("I no longer use a@x.example; write to b@x.example.", "user | email | b@x.example"),
    # measurements, doses and rooms
    ("I weighed myself this morning: 72 kg.", "user | weighs | 72 kg"),
    ("The scale said 72 kg today.", "user | weighs | 72 kg"),
    ("My latest reading: blood sugar 6.1 mmol/L.", "user | blood sugar | 6.1 mmol/L"),
    ("My blood pressure today: 126/80.", "user | blood pressure | 126/80"),
    ("At the clinic my blood pressure was 142/90.", "user | blood pressure | 142/90"),
    ("My lisinopril was changed to 20 mg.", "user | takes | lisinopril 20 mg"),
    ("My dose of metformin went up to 850 mg.", "user | takes | metformin 850 mg"),
    ("They moved me to room 318.", "user | room number | 318"),
    ("My commute is an hour and a half.", "user | commute | an hour and a half"),
)

NO_CHANGES = (
    "They didn't raise my rent to $900.",
    "They haven't raised my rent to $900 yet.",
    "They will raise my rent to $900.",
    "They want to raise my rent to $900.",
    "If they raised my rent to $900 I'd leave.",
    "Did they raise my rent to $900?",
    "They raised her rent to $900.",
    "The price was raised to $50.",
    "I moved my sister to Leeds.",
    "I moved my car to Berlin.",
    "We moved our team to Slack.",
    "I'm in Chicago now for a conference.",
    "Home is where the heart is.",
    "Sarah hired me to paint her house.",
    "Please call 555-0161 now and ask for Tom.",
    "You can reach my sister on 555-0101.",
    "Write to support@shop.example for a refund.",
    "I make 3 cakes a year.",
    "I've lost 4 kg.",
    "I hit 100 kg on the bench today.",
    "My commute is hell.",
    "My room is a mess.",
    "My mood changed, it's Monday.",
    "Tom was moved to room 318.",
    "She got a raise to $66,000.",
    "She has a new number, 555-0142.",
    "She changed her number, it's 555-0123 now.",
    "Her old number is dead, use 555-0177.",
    "My wife moved to a new company, Oracle.",
    "Tom says they raised my rent to $900.",
    "Last year my manager was Tom.",
    "My landlord was Mr. Petrov.",
    "I'd call a plumber for my room.",
)


def read(text: str) -> list[ThoughtDraft]:
    return RuleGenerator().generate(Turn(id=1, query=text, response="", at=AT, recorded_at=AT))


def format_triple(draft: ThoughtDraft) -> str:
    return f"{draft.subject} | {'not ' if draft.negated else ''}{draft.relation} | {draft.object}"


@pytest.mark.parametrize(("text", "triple"), CHANGES, ids=[text for text, _ in CHANGES])
def test_change_is_read(text: str, triple: str) -> None:
    drafts = [draft for draft in read(text) if not isinstance(draft, Amendment)]
    assert [format_triple(draft) for draft in drafts] == [triple]
    (source,) = drafts[0].sources
    assert drafts[0].object.split()[-1] in text[source.start : source.end]


@pytest.mark.parametrize("text", NO_CHANGES)
def test_sentence_without_change_is_ignored(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize("text", ["I've changed doctors, I see Dr. Klein now.", "Dr. Klein is my new doctor.",
                                  "My doctor is now Dr. Klein."])  # fmt: skip
def test_changed_doctor_replaces_all_doctors(text: str) -> None:
    """A person may have several doctors, so only an explicit change ends the earlier ones."""
    before, now = read(text)
    assert isinstance(before, Amendment)
    assert (before.forget, before.objects) == (True, (ALL_VALUES,))
    assert format_triple(now) == "user | has doctor | Dr. Klein"
    assert [format_triple(draft) for draft in read("My doctor is Dr. Klein.")] == [
        "user | has doctor | Dr. Klein"
    ]


def test_previous_car_is_retracted() -> None:
    before, now = read("I no longer drive a Golf; it's a Tesla now.")
    assert isinstance(before, Amendment)
    assert (before.forget, before.objects) == (True, ("a Golf",))
    assert format_triple(now) == "user | drives | a Tesla"


def test_year_at_sentence_start_is_the_time() -> None:
    for text in ("In 2018 I started at Siemens.", "In 2018 they raised my rent to $900."):
        (draft,) = read(text)
        assert draft.valid_from == datetime(2018, 1, 1, tzinfo=UTC)


def test_rest_of_the_sentence_is_read_too() -> None:
    drafts = read("They raised my rent to $900 and I love jazz.")
    assert [format_triple(draft) for draft in drafts] == ["user | rent | $900", "user | likes | jazz"]
