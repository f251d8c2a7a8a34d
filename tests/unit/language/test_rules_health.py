"""Facts about health: negations, doses, start dates, refusals and a doctor's findings.

A triple is written "subject | relation | value; value"; "not " before the relation means that it is negated.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from thinkback.think.rule_generator import RuleGenerator
from thinkback.think.state import Amendment
from thinkback.types import ThoughtDraft, Turn

AT = datetime(2024, 5, 15, 12, tzinfo=UTC)  # a Wednesday

FACTS: tuple[tuple[str, str], ...] = (
    # negations
    ("I have no liver disease.", "not has condition | liver disease"),
    ("I've got no fever or cough.", "not has condition | fever; cough"),
    ("I have no pets.", "has | no pets"),
    ("I have never had a stroke or epilepsy.", "not had condition | stroke; epilepsy"),
    ("我没有糖尿病。", "not has condition | 糖尿病"),
    # no allergy, and discovered allergies
    ("I have no food allergies.", "not is allergic to | any food"),
    ("I have no known drug allergies.", "not is allergic to | any drug"),
    ("I have no allergies.", "not is allergic to | any substance"),
    ("I'm not allergic to anything.", "not is allergic to | any substance"),
    ("我没有食物过敏。", "not is allergic to | 任何食物"),
    ("没有药物过敏史。", "not is allergic to | 任何药物"),
    ("我之前没有过敏史。", "not is allergic to | 任何东西"),
    ("我对这种药并没有过敏。", "not is allergic to | 这种药"),
    ("It turns out I'm allergic to shellfish.", "is allergic to | shellfish"),
    ("They gave me latex gloves and it turns out I'm allergic to latex.", "is allergic to | latex"),
    ("The clinic found that I'm allergic to ibuprofen and aspirin.", "is allergic to | ibuprofen; aspirin"),
    ("I found out that I'm allergic to kiwi.", "is allergic to | kiwi"),
    ("这才发现我对头孢过敏。", "is allergic to | 头孢"),
    ("医生说我对芒果和菠萝都过敏。", "is allergic to | 芒果; 菠萝"),
    # states with a start date
    ("I have had epilepsy since 2011.", "has condition | epilepsy"),
    ("She's had asthma since 2011, my sister.", ""),
    ("My mother has had glaucoma for six years.", "has condition | glaucoma"),
    ("I have had two operations since 2011.", ""),
    ("I've had gout for a long time.", "has condition | gout"),
    ("My uncle had a sister with epilepsy.", ""),
    ("I've had a bad cough for three weeks.", "has condition | bad cough"),
    # measured values
    ("I have a fever, 39.4.", "has condition | fever, 39.4"),
    ("I have a temperature of 38.1 degrees.", "has condition | temperature of 38.1 degrees"),
    # medicines
    ("I take thyroxine 100 micrograms these days.", "takes | thyroxine 100 micrograms"),
    ("I take rivaroxaban and torasemide.", "takes | rivaroxaban; torasemide"),
    ("I take losartan for my heart.", "takes | losartan"),
    ("I take ibuprofen only.", "takes | ibuprofen"),
    ("I take no medicines at the moment.", "not takes | any medicine"),
    ("I'm not on any medication.", "not takes | any medication"),
    ("我现在吃二甲双胍500毫克。", "takes | 二甲双胍500毫克"),
    ("我没在吃药。", "not takes | 任何药物"),
    # refusals
    ("I will not have the injections again.", "refuses | injections"),
    ("I don't want insulin.", "refuses | insulin"),
    ("I refuse chemotherapy.", "refuses | chemotherapy"),
    ("我不想做化疗了。", "refuses | 做化疗"),
    ("我不愿意打胰岛素。", "refuses | 打胰岛素"),
)  # fmt: skip

NO_FACTS = (
    "I have no idea.",
    "I want to take aspirin.",
    "My neighbour says I'm allergic to work.",
    "I have asthma and no inhaler.",
    "I have no fever but a cough and no rash.",
    "I don't want tablets of chocolate or a divorce.",
    "我想做手术。",
    "朋友说我对工作过敏。",
)


def read(text: str) -> list[ThoughtDraft]:
    return RuleGenerator().generate(Turn(query=text, at=AT, id=1, recorded_at=AT))


def format_triple(draft: ThoughtDraft) -> str:
    sign = "not " if draft.negated else ""
    return f"{sign}{draft.relation} | {'; '.join(draft.objects)}"


@pytest.mark.parametrize(("text", "triple"), FACTS, ids=[text for text, _ in FACTS])
def test_health_fact_is_read(text: str, triple: str) -> None:
    drafts = [format_triple(draft) for draft in read(text) if not isinstance(draft, Amendment)]
    assert drafts == ([triple] if triple else [])


@pytest.mark.parametrize("text", NO_FACTS)
def test_sentence_without_health_fact_is_ignored(text: str) -> None:
    told = [draft for draft in read(text) if draft.relation in ("takes", "refuses", "is allergic to")]
    assert told == []
    assert not [draft for draft in read(text) if any(item.startswith("no ") for item in draft.objects)]


def test_state_since_a_year_is_open_ended() -> None:
    (draft,) = read("I have had epilepsy since 2011.")
    assert (draft.valid_from, draft.valid_to) == (datetime(2011, 1, 1, tzinfo=UTC), None)
    assert draft.sentence == "The user has epilepsy (since 2011)."


@pytest.mark.parametrize(
    "text", ["I drink beer at the weekend.", "I eat pizza on weekends.", "我周末喝啤酒。"]
)
def test_weekend_habit_has_no_date(text: str) -> None:
    (draft,) = read(text)
    assert (draft.valid_from, draft.valid_to) == (None, None)
    assert "20" not in draft.sentence


def test_weekend_event_has_a_date() -> None:
    (draft,) = read("I went to Bristol at the weekend.")
    assert draft.valid_from == datetime(2024, 5, 11, tzinfo=UTC)


def test_replaced_medicine_is_ended() -> None:
    before, now = read("I take apixaban instead of warfarin.")
    assert isinstance(before, Amendment)
    assert (before.forget, before.objects) == (True, ("warfarin",))
    assert format_triple(now) == "takes | apixaban"


def test_stopped_medicine_is_ended() -> None:
    assert [format_triple(draft) for draft in read("I take omeprazole only, no more naproxen.")] == [
        "takes | omeprazole", "not takes | naproxen",
    ]  # fmt: skip


def test_refusal_sentence() -> None:
    said = {
        "I refuse to take statins.": "The user refuses statins.",
        "I will not have an operation.": "The user does not want operation.",
        "I don't want to have dialysis.": "The user does not want dialysis.",
        "我不想做化疗了。": "用户不想做化疗。",
    }
    assert [[draft.sentence for draft in read(text)] for text in said] == [[each] for each in said.values()]
