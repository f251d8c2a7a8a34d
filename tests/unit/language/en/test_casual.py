"""English as people type it: fragments, asides, appositions, roles and hearsay.

A triple is written "subject | relation | value; value"; "not " before the relation means that it is negated.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from thinkback.think.rule_generator import RuleGenerator
from thinkback.think.state import Amendment
from thinkback.types import ThoughtDraft, Turn

AT = datetime(2024, 5, 15, 12, tzinfo=UTC)

FACTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    # fragments without a subject, lower case, embedded
    ("heya, moved to Leeds last weekend and the flat is tiny lol", ("user | lives in | Leeds",)),
    ("Living in Lisbon, working as a freelance illustrator",
     ("user | lives in | Lisbon", "user | works as | freelance illustrator")),
    ("Allergic to cats, sadly", ("user | is allergic to | cats",)),
    ("not a vegetarian anymore, couldn't resist bacon", ("user | not is | a vegetarian",)),
    ("been doing crossfit since January and I'm wrecked", ("user | does | crossfit",)),
    ("just got laid off from Spotify :(", ("user | not works at | Spotify",)),
    ("ugh, turns out i'm allergic to kiwi, whole mouth went numb", ("user | is allergic to | kiwi",)),
    ("dropped biology, majoring in chemistry",
     ("user | not studies | biology", "user | studies | chemistry")),
    # several verbs, and ended states
    ("I quit Shell and joined Arup", ("user | not works at | Shell", "user | works at | Arup")),
    ("I used to work at IBM but now I'm at a startup called Fizzle",
     ("user | not works at | IBM", "user | works at | a startup called Fizzle")),
    ("I'm retired now, was a bus driver for 30 years",
     ("user | is | retired", "user | not works as | bus driver")),
    ("I gave up alcohol in January", ("user | not drinks | alcohol",)),
    ("I grew up in Malta but was born in Sicily",
     ("user | grew up in | Malta", "user | was born in | Sicily")),
    # named roles anywhere in the sentence
    ("my neighbour Priya, who's a vet, looked at the cat for free",
     ("user | has neighbour | Priya", "Priya | works as | vet")),
    ("had a long call with my uncle Desmond yesterday", ("user | has uncle | Desmond",)),
    ("ok so my roommate Jake (he's a drummer) moved out yesterday",
     ("user | has roommate | Jake", "Jake | works as | drummer")),
    ("my landlord, Mr. Petrov, still hasn't fixed the boiler", ("user | has landlord | Mr. Petrov",)),
    ("my line manager is now Gareth Flint", ("user | has boss | Gareth Flint",)),
    ("my ex-husband Gordon lives in Texas", ("user | has ex | Gordon", "Gordon | lives in | Texas")),
    ("My coworker Ana, a pastry chef, makes lunch for everyone",
     ("user | has colleague | Ana", "Ana | works as | pastry chef")),
    ("My cousin Tom in Perth is a diver, and my friend Tom is a baker",
     ("user | has cousin | Tom", "Tom | lives in | Perth", "Tom | works as | diver",
      "user | has friend | Tom", "Tom | works as | baker")),
    ("me and my girlfriend Yuki moved to Sapporo in April",
     ("user | lives in | Sapporo", "user | has girlfriend | Yuki")),
    ("my roommate's a DJ and his name's Kofi",
     ("user's roommate | works as | DJ", "user | has roommate | Kofi")),
    ("My kids are called Finn and Saoirse", ("user | has child | Finn", "user | has child | Saoirse")),
    ("got a puppy!! named him Waffles", ("user | has dog | Waffles",)),
    ("we adopted a greyhound called Dash", ("user | has dog | Dash",)),
    # statements and named people beside hearsay and doubt
    ("I live in Leeds but I'd love to move to York one day", ("user | lives in | Leeds",)),
    ("my mate Dave is a plumber and he says the pipes are shot",
     ("user | has friend | Dave", "Dave | works as | plumber")),
    ("my colleague Wei told me I should apply", ("user | has colleague | Wei",)),
    ("everyone thinks I'm from Scotland but I'm from Wales", ("user | comes from | Wales",)),
    ("If you need it, my postcode is SW1A 2AA", ("user | postcode | SW1A 2AA",)),
    # figures and doses
    ("my rent just went up to $1,450 a month, ugh", ("user | rent | $1,450",)),
    ("I've been on sertraline 50 mg since march, they upped it to 100 mg",
     ("user | takes | sertraline 50 mg", "user | takes | sertraline 100 mg")),
    ("doc put me on lisinopril 10 mg last week", ("user | takes | lisinopril 10 mg",)),
    ("my weight's up to 91 kg, thanks christmas", ("user | weighs | 91 kg",)),
    ("im 5'9\" and about 82 kilos these days", ("user | height | 5'9", "user | weighs | 82 kilos")),
    ("my blood pressure was 150/95 at the clinic", ("user | blood pressure | 150/95",)),
    ("my new number is 555-0142, the old one's dead", ("user | phone number | 555-0142",)),
    # tastes and possessions
    ("Sushi is my favourite food, hands down", ("user | favourite food | Sushi",)),
    ("my usual is an oat flat white", ("user | usual order | an oat flat white",)),
    ("opera isn't my thing", ("user | not likes | opera",)),
    ("I play the cello in a small orchestra, badly", ("user | plays | cello",)),
    ("I code mostly in Rust", ("user | uses | Rust",)),
    ("My son's allergic to peanuts, and my daughter hates olives",
     ("user's son | is allergic to | peanuts", "user's daughter | not likes | olives")),
)  # fmt: skip

NO_FACTS: tuple[str, ...] = (
    "Moved to tears by that film",
    "I moved to the couch because my back hurts",
    "My dream job is astronaut",
    "My sister wants to move to Paris",
    "I could have been a doctor",
    "I almost bought a Tesla",
    "I never worked at Google",
    "I'm dying of boredom",
    "my boss is a nightmare",
    "my team is losing again",
    "my car is making a weird noise",
    "Love the new design",
    "got it, thanks",
    "Started raining again",
    "he is a doctor",
    "my favorite show used to be Lost",
    "my rent was 900",
    "I'm not saying I live in Paris",
    "I'd work as a chef if I had the guts",
    "Say I live in Paris, then I'd need a visa",
    "I work at Google, I wish",
    "When I'm rich and I live in Paris, I'd never cook",
    "I'm writing a story. In it my sister Clara is a spy",
    "I take the bus",
    "I work from home",
    "I'm married to my job",
    "I left London at 6 this morning",
    "I'm reading Middlemarch at the moment",
    "as a doctor you must see a lot",
    "my bank is closed today",
    "a dog named Rex bit me",
    "I was chatting to a vet, lives in Leeds",
)


def read(text: str, *recent: str) -> list[ThoughtDraft]:
    before = [Turn(id=at + 1, query=said, at=AT, recorded_at=AT) for at, said in enumerate(recent)]
    return RuleGenerator().generate(Turn(id=7, query=text, at=AT, recorded_at=AT), before)


def format_triple(draft: ThoughtDraft) -> str:
    return f"{draft.subject} | {'not ' if draft.negated else ''}{draft.relation} | {'; '.join(draft.objects)}"


@pytest.mark.parametrize(("text", "triples"), FACTS, ids=[text for text, _ in FACTS])
def test_fact_is_read(text: str, triples: tuple[str, ...]) -> None:
    assert tuple(format_triple(d) for d in read(text) if not isinstance(d, Amendment)) == triples


@pytest.mark.parametrize("text", NO_FACTS)
def test_sentence_without_fact_is_ignored(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    ("before", "text", "triples"),
    [
        (("had a call with my uncle Desmond",), "he's retired now", ["Desmond | is | retired"]),
        (("my sister Ann and I went to Porto",), "she lives there now", ["Ann | lives in | Porto"]),
        (("my brother Sam met my aunt Jo",), "she's a nurse", ["Jo | works as | nurse"]),
        (("my sister is visiting", "any cake ideas?"), "she's allergic to nuts",
         ["user's sister | is allergic to | nuts"]),
        (("my sister Ann met my aunt Jo",), "she's a nurse", []),
        (("my uncle Desmond called",), "she's a nurse", []),
        (("one house in Marlow and one in Didcot",), "we moved there on Saturday", []),
        ((), "she's a nurse", []),
    ],
)  # fmt: skip
def test_earlier_turns_resolve_pronouns_and_places(
    before: tuple[str, ...], text: str, triples: list[str]
) -> None:
    assert [format_triple(draft) for draft in read(text, *before)] == triples


def test_earlier_turns_yield_no_facts() -> None:
    assert read("any cake ideas?", "I live in Rome with my sister Ann") == []


def test_person_of_this_turn_precedes_earlier_ones() -> None:
    drafts = read("my aunt Jo rang. she lives in Ely", "my sister Ann is here")
    assert [format_triple(draft) for draft in drafts] == ["user | has aunt | Jo", "Jo | lives in | Ely"]


@pytest.mark.parametrize(
    ("text", "new", "old"),
    [
        ("lol sorry autocorrect, not Biscuit, it's Brisket.", "Brisket", "Biscuit"),
        ("sorry, typo, his name is Stefan not Stephan", "Stefan", "Stephan"),
        ("actually it's 14 not 40", "14", "40"),
        ("typo: I meant 1,350", "1,350", ""),
    ],
)
def test_correction_names_new_and_old_value(text: str, new: str, old: str) -> None:
    found = [draft for draft in read(text) if isinstance(draft, Amendment)]
    assert {(draft.object, draft.instead_of) for draft in found} == {(new, old)}


def test_corrected_job_replaces_the_last_one() -> None:
    amendment, draft = read("wait scratch that, wrong word. I'm a radiographer")
    assert isinstance(amendment, Amendment)
    assert (amendment.relation, amendment.object, amendment.any_value) == ("works as", "radiographer", True)
    assert format_triple(draft) == "user | works as | radiographer"
