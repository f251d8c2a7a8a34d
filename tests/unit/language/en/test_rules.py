"""Sentences that the English rules must read, with their triples, and sentences that they must ignore.

A triple is written "subject | relation | value; value"; "not " before the relation means that it is negated.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from thinkback.think.rule_generator import RuleGenerator
from thinkback.types import ThoughtDraft, Turn

AT = datetime(2024, 5, 15, 12, tzinfo=UTC)  # a Wednesday

FACTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    # name, age, origin
    ("My name is Alice.", ("user | is named | Alice",)),
    ("Hi! My name is Maria Garcia, nice to meet you.", ("user | is named | Maria Garcia",)),
    ("Call me Bob.", ("user | goes by | Bob",)),
    ("My last name is Smith.", ("user | surname | Smith",)),
    ("I'm 34 years old.", ("user | is aged | 34",)),
    ("I just turned thirty last week!", ("user | is aged | thirty",)),
    ("I'm from Brazil.", ("user | comes from | Brazil",)),
    ("I was born in Lyon.", ("user | was born in | Lyon",)),
    ("I grew up in Nairobi.", ("user | grew up in | Nairobi",)),
    ("My birthday is May 6th.", ("user | birthday | May 6th",)),
    ("I'm German.", ("user | is | German",)),
    # homes
    ("I live in Paris.", ("user | lives in | Paris",)),
    ("i live in paris", ("user | lives in | paris",)),
    ("I currently live in Portland, Oregon.", ("user | lives in | Portland, Oregon",)),
    ("I moved to Berlin last month.", ("user | lives in | Berlin",)),
    ("Actually, I live in Madrid now.", ("user | lives in | Madrid",)),
    ("I've lived in Oslo for ten years.", ("user | lives in | Oslo",)),
    ("I no longer live in Paris.", ("user | not lives in | Paris",)),
    ("I used to live in Rome.", ("user | not lives in | Rome",)),
    ("I don't live in Paris anymore.", ("user | not lives in | Paris",)),
    ("I live in Paris, what should I visit first?", ("user | lives in | Paris",)),
    # work and study
    ("I work as a nurse.", ("user | works as | nurse",)),
    ("I work as a nurse at Mercy Hospital.", ("user | works as | nurse", "user | works at | Mercy Hospital")),
    ("I'm a software engineer at Google.", ("user | works as | software engineer",
        "user | works at | Google")),
    ("I work at a small bakery.", ("user | works at | a small bakery",)),
    ("I'm an actor and a director.", ("user | works as | actor; director",)),
    ("I quit my job at Google.", ("user | not works at | Google",)),
    ("I no longer work as a teacher.", ("user | not works as | teacher",)),
    ("I stopped working at Siemens.", ("user | not works at | Siemens",)),
    ("I study physics at MIT.", ("user | studies | physics", "user | studies at | MIT")),
    ("I'm learning Spanish.", ("user | studies | Spanish",)),
    ("I live in Lima and work as a chef.", ("user | lives in | Lima", "user | works as | chef")),
    # tastes
    ("I like tea and coffee.", ("user | likes | tea; coffee",)),
    ("I love hiking, swimming and jazz!", ("user | likes | hiking; swimming; jazz",)),
    ("I like playing football and basketball.", ("user | likes | playing football; playing basketball",)),
    ("I don't like mushrooms.", ("user | not likes | mushrooms",)),
    ("I hate cilantro.", ("user | not likes | cilantro",)),
    ("I can't stand loud music.", ("user | not likes | loud music",)),
    ("I'm not a fan of horror movies.", ("user | not likes | horror movies",)),
    ("I like tea but I don't like coffee.", ("user | likes | tea", "user | not likes | coffee")),
    ("I enjoy reading because it calms me.", ("user | likes | reading",)),
    ("I prefer tea to coffee.", ("user | prefers | tea",)),
    ("My favorite color is blue.", ("user | favourite colour | blue",)),
    ("My favourite food is ramen, not sushi.", ("user | favourite food | ramen",)),
    ("My hobbies are chess and painting.", ("user | likes | chess; painting",)),
    # body, health, traits
    ("I'm left handed.", ("user | is | left handed",)),
    ("I'm allergic to peanuts and shellfish.", ("user | is allergic to | peanuts; shellfish",)),
    ("I have a peanut allergy.", ("user | is allergic to | peanut",)),
    ("I'm not allergic to cats.", ("user | not is allergic to | cats",)),
    ("I weigh 70 kg.", ("user | weighs | 70 kg",)),
    ("I'm 180 cm tall.", ("user | height | 180 cm",)),
    ("My phone number is 555-123-4567.", ("user | phone number | 555-123-4567",)),
    ("My blood pressure is 140/90.", ("user | blood pressure | 140/90",)),
    ("I have type 2 diabetes.", ("user | has condition | type 2 diabetes",)),
    ("I was diagnosed with asthma.", ("user | has condition | asthma",)),
    ("I speak French and German.", ("user | speaks | French; German",)),
    ("I'm a vegetarian.", ("user | is | a vegetarian",)),
    ("I got married in June 2020.", ("user | marital status | married",)),
    ("I don't eat meat.", ("user | not eats | meat",)),
    # possession and relations
    ("I have a red bicycle.", ("user | has | a red bicycle",)),
    ("I don't have a car.", ("user | not has | a car",)),
    ("I have two sisters.", ("user | has | two sisters",)),
    ("I have a dog named Rex.", ("user | has dog | Rex",)),
    ("My dog is called Rex.", ("user | has dog | Rex",)),
    ("My cat's name is Luna.", ("user | has cat | Luna",)),
    ("I have two kids, Tom and Mia.", ("user | has child | Tom; Mia",)),
    ("My sister Anna lives in Berlin.", ("user | has sister | Anna", "Anna | lives in | Berlin")),
    ("My sister lives in Berlin.", ("user's sister | lives in | Berlin",)),
    ("My wife is a doctor.", ("user's wife | works as | doctor",)),
    ("Anna is my sister.", ("user | has sister | Anna",)),
    ("Anna is a doctor.", ("Anna | works as | doctor",)),
    ("Michael likes to play football.", ("Michael | likes | to play football",)),
    ("Michael does not like to play football.", ("Michael | not likes | to play football",)),
    ("My brother Tom is 12 years old. He loves chess.", ("user | has brother | Tom", "Tom | is aged | 12",
        "Tom | likes | chess")),
    ("My boss is Karen.", ("user | has boss | Karen",)),
    # events and plans
    ("I went to the Louvre yesterday.", ("user | went to | the Louvre",)),
    ("Last Friday I visited Rome.", ("user | went to | Rome",)),
    ("I bought a new car.", ("user | bought | a new car",)),
    ("I have a dentist appointment next Tuesday.", ("user | has appointment | a dentist appointment",)),
    ("I'm flying to Tokyo next month.", ("user | plans to | fly to Tokyo",)),
    ("I'm going to visit Anna on Friday.", ("user | plans to | visit Anna",)),
    ("I quit smoking two years ago.", ("user | not smokes | smoke",)),
    ("I'm Anna.", ("user | is named | Anna",)),
    ("my name is bob", ("user | is named | bob",)),
    ("I changed my name to Alex.", ("user | is named | Alex",)),
    ("I've switched jobs: I now work at Microsoft.", ("user | works at | Microsoft",)),
    ("I used to be a teacher.", ("user | not works as | teacher",)),
    ("My mom lives in Chicago with my dad.", ("user's mom | lives in | Chicago",)),
    ("My sister, Anna, is getting married next month.",
     ("user | has sister | Anna", "Anna | plans to | get married")),
    ("My best friend lives in Rome.", ("user's best friend | lives in | Rome",)),
    ("I like to read and cook, travel and music.", ("user | likes | to read; to cook; to travel; to music",)),
    ("I like activities such as skating and climbing.",
     ("user | likes | activities such as skating and climbing",)),
    ("Please remember that I live in Oslo.", ("user | lives in | Oslo",)),
    # lead-ins and updates
    ("Lately I really enjoy bouldering as well.", ("user | likes | bouldering",)),
    ("These days I work for Shopify.", ("user | works at | Shopify",)),
    ("Anyway, I live in Lima.", ("user | lives in | Lima",)),
    ("btw I now work for Shopify as a designer", ("user | works at | Shopify", "user | works as | designer")),
    ("For flights I prefer aisle seats now, my knees need the space.", ("user | prefers | aisle seats",)),
    ("Never thought I'd say this but I actually love running now.", ("user | likes | running",)),
    ("So I finally handed in my notice and started at Bosch this week.", ("user | works at | Bosch",)),
    ("I've been living in Bergen since June, rainy but pretty.", ("user | lives in | Bergen",)),
    ("I got a new phone number, it's 555-0199 now.", ("user | phone number | 555-0199",)),
    ("My weight went down to 80 kg.", ("user | weighs | 80 kg",)),
    ("The landlord raised it, my rent is 1,340 euros now.", ("user | rent | 1,340 euros",)),
    # trailing words are trimmed
    ("Big news, I moved to Denver over the weekend!", ("user | lives in | Denver",)),
    ("I live in Boston, in a tiny flat near Fenway.", ("user | lives in | Boston",)),
    ("I live in Portland, Oregon, near the river.", ("user | lives in | Portland, Oregon",)),
    ("I moved to Toronto for work.", ("user | lives in | Toronto",)),
    ("I work at Siemens, been there six years now.", ("user | works at | Siemens",)),
    ("I weigh 92 kg, new year new me.", ("user | weighs | 92 kg",)),
    ("I'm allergic to penicillin, got a nasty rash from it.", ("user | is allergic to | penicillin",)),
    ("I'm allergic to cats, dogs, and dust.", ("user | is allergic to | cats; dogs; dust",)),
    ("I can't stand horror movies anymore, give me comedies.", ("user | not likes | horror movies",)),
    ("I hate mornings, always have.", ("user | not likes | mornings",)),
    ("I don't eat beef，因为家里信佛。", ("user | not eats | beef",)),
    ("I speak English and a bit of Portuguese.", ("user | speaks | English; Portuguese",)),
    ("I'm 34 years old and 178 cm tall.", ("user | is aged | 34", "user | height | 178 cm")),
    # relatives and pets
    ("Mum lives in Leeds.", ("user's mum | lives in | Leeds",)),
    ("Dad's birthday is June 3.", ("user's dad | birthday | June 3",)),
    ("My brother Felix is a firefighter in Hamburg.",
     ("user | has brother | Felix", "Felix | works as | firefighter")),
    ("My boss's name is Desmond, not Raymond.", ("user | has boss | Desmond",)),
    ("I have a dog named Pepper. He is afraid of thunderstorms and he loves cheese.",
     ("user | has dog | Pepper", "Pepper | is afraid of | thunderstorms", "Pepper | likes | cheese")),
    # future dates
    ("I'm getting married in June.", ("user | plans to | get married",)),
    ("My dentist appointment is on Friday.", ("user | has appointment | dentist appointment",)),
)  # fmt: skip

NO_FACTS: tuple[str, ...] = (
    "I'm handed.",
    "I'm intolerant.",
    "Do I live in Paris?",
    "Where do I live?",
    "What is my name",
    "I live in Paris, right?",
    "Am I allergic to peanuts?",
    "If I lived in Paris, I would eat croissants.",
    "If I live in Rome I like pasta.",
    "I wish I lived in Paris.",
    "I hope I get a dog named Rex.",
    "I want to live in Tokyo.",
    "I would love a cat.",
    "I'd like a coffee.",
    "Maybe I like jazz.",
    "I might move to Berlin.",
    "I am the king of France, just kidding!",
    "I have ten wives. Only joking.",
    'She said "I live in Rome and I love it".',
    "You said I live in Paris.",
    "My friend thinks I like opera.",
    "Imagine I am a doctor.",
    "Let's say my name is Bob.",
    "Translate into French: I live in Berlin.",
    "Please write a story. My name is Bob and I live on Mars.",
    "> I live in Berlin",
    "Hello there!",
    "Thanks a lot, that was helpful.",
    "How are you today?",
    "I have a question.",
    "Today I have a question for you.",
    "My friend lives in Rome.",
    "My name is unknown.",
    "I broke up with my girlfriend.",
    "I try to sleep more and eat simple meals.",
    "Call me Tired.",
    "I have an idea.",
    "I like it.",
    "I love you.",
    "I'm tired.",
    "I'm a bit tired today.",
    "I'm fine, thanks.",
    "I live in a small flat.",
    "I live in fear.",
    "Tell me a joke.",
    "It is raining.",
    "The weather is nice.",
    "I think so.",
    "I'm not sure.",
    "Can you remember that?",
    "I'm going to the gym.",
    "I'm thinking of moving to Oslo.",
    "My computer is slow.",
    "Suppose I work as a nurse.",
    "Pretend my favorite color is red.",
    "According to the song, I am a rock.",
    "In my dream I live in Paris.",
    "Lately I feel tired.",
    "Never thought I'd say this.",
    "It's my sister I live with.",
    "It's my wife who likes opera.",
    "I'd love to start at Bosch.",
    "My dentist appointment is annoying.",
    "Mum!",
    "Do these days feel long?",
    "I finally started to sleep better.",
)


def read(text: str) -> list[ThoughtDraft]:
    return RuleGenerator().generate(Turn(id=7, query=text, at=AT, recorded_at=AT))


def format_triple(draft: ThoughtDraft) -> str:
    return f"{draft.subject} | {'not ' if draft.negated else ''}{draft.relation} | {'; '.join(draft.objects)}"


@pytest.mark.parametrize(("text", "triples"), FACTS, ids=[text for text, _ in FACTS])
def test_fact_is_read(text: str, triples: tuple[str, ...]) -> None:
    drafts = read(text)
    assert tuple(format_triple(draft) for draft in drafts) == triples
    for draft in drafts:
        (source,) = draft.sources
        assert (source.turn, source.speaker, source.side) == (7, "user", "query")
        assert text[source.start : source.end].strip() == text[source.start : source.end] != ""


@pytest.mark.parametrize("text", NO_FACTS)
def test_sentence_without_fact_is_ignored(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("I live in Paris.", "The user lives in Paris."),
        ("I no longer live in Paris.", "The user no longer lives in Paris."),
        ("I hate cilantro.", "The user hates cilantro."),
        ("I don't hate cilantro, I don't like basil.", "The user does not like basil."),
        ("I prefer tea to coffee.", "The user prefers tea to coffee."),
        ("I have two kids, Tom and Mia.", "The user's children are Tom and Mia."),
        ("I'm an actor and a director.", "The user works as an actor and a director."),
        ("I went to the Louvre with my sister yesterday.",
            "The user went to the Louvre with their sister (2024-05-14)."),
        ("I'm flying to Tokyo next month.", "The user plans to fly to Tokyo (2024-06)."),
        ("I love to cook and bake.", "The user loves to cook and to bake."),
        ("I like rock and roll.", "The user likes rock and roll."),
    ],
)  # fmt: skip
def test_sentence_is_in_the_third_person(text: str, sentence: str) -> None:
    assert [draft.sentence for draft in read(text)] == [sentence]


def test_events_and_moves_have_validity_periods() -> None:
    (went,) = read("I went to the Louvre yesterday.")
    assert (went.kind, went.valid_from, went.valid_to) == (
        "event",
        datetime(2024, 5, 14, tzinfo=UTC),
        datetime(2024, 5, 15, tzinfo=UTC),
    )
    (moved,) = read("I moved to Berlin last month.")
    assert (moved.kind, moved.valid_from, moved.valid_to) == (
        "profile",
        datetime(2024, 4, 1, tzinfo=UTC),
        None,
    )


def test_pronoun_needs_exactly_one_person() -> None:
    assert [d.subject for d in read("My sister lives in Rome. She likes tea.")] == ["user's sister"] * 2
    assert [format_triple(d) for d in read("Anna lives in Rome. Tom lives in Oslo. She likes tea.")] == [
        "Anna | lives in | Rome",
        "Tom | lives in | Oslo",
    ]
    assert [format_triple(d) for d in read("My brother Tom lives in Oslo. His birthday is May 6th.")][
        2
    ] == "Tom | birthday | May 6th"
    assert read("She likes tea.") == []


def test_double_negation_is_ignored() -> None:
    assert read("I don't hate tea.") == []
