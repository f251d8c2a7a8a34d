"""Finds the objects of an older thought that a newer thought of opposite polarity contradicts.

TiM's Algorithm 1 compares objects by their keys. For health facts this is not enough: "stopped ramipril"
contradicts "takes ramipril 5 mg", "has a bleeding ulcer" contradicts "never had an ulcer", and any allergy
contradicts "no allergies". For all other relations only an equal object counts.
"""

from __future__ import annotations

import re

from thinkback.language.tokens import extract_terms
from thinkback.think.comparison_keys import object_key, strip_dose
from thinkback.think.state import object_keys
from thinkback.types import ThoughtDraft

_HEALTH_RELATIONS = frozenset(("takes", "is allergic to", "has condition", "had condition"))
_PRESENT_RELATIONS = ("takes",)
"""Relations where a general denial ends every earlier fact: "I take no medicine", but not "no allergies"."""
_ANY_OF_KIND = re.compile("any (?P<kind>[a-z]+)|任何(?P<kind_zh>[\u4e00-\u9fff]+)")
_MEDICINE = re.compile("(?:medicine|drug|medication|tablet|pill)s?|药物?|药品")
_FOOD = re.compile("foods?|食物|食品")
_FOOD_ALLERGEN = re.compile(
    r"\b(?:(?:pea|brazil |tree |hazel|wal)?nuts?|almonds?|cashews?|pistachios?|sesame|soya?|wheat|gluten"
    r"|milk|dairy|lactose|eggs?|fish|seafood|shellfish|shrimps?|prawns?|crabs?|lobsters?|oysters?|mussels?|kiwis?"
    r"|mango(?:es)?|strawberr(?:y|ies)|apples?|peach(?:es)?|bananas?|pineapples?|tomato(?:es)?|celery|mustard"
    r"|chocolate|alcohol|mushrooms?|meat|beef|pork|chicken|corn|avocados?)\b"
    "|[花杏核桃榛坚]?[生仁果]|牛?奶|鸡?蛋|[海河]鲜|[鱼虾蟹贝]|小麦|麸质|大豆|黄豆|芝麻|芒果|菠萝|猕猴桃|草莓"
    "|桃|香蕉|苹果|酒|蘑菇|[牛羊猪鸡]肉|巧克力|芹菜",
    re.I,
)
_ENVIRONMENT_ALLERGEN = re.compile(
    r"\b(?:pollens?|grass(?:es)?|trees?|birch|hay|dust|mites?|mou?lds?|cats?|dogs?|horses?|fur|hair|feathers?"
    r"|bees?|wasps?|insects?|stings?|bites?|latex|nickel|metals?|wool|perfumes?|sun|plasters?|cold|smoke|ragweed)\b"
    "|花粉|粉尘|灰尘|尘螨|螨虫|霉菌|[猫狗马]毛?|动物|羽毛|蜂|昆虫|蚊|乳胶|镍|金属|羊毛|香水|紫外线|阳光|冷空气|柳絮|草",
    re.I,
)
"""Allergens that are not medicines; medicines have too many names to be listed."""


def contradicted_keys(draft: ThoughtDraft, old: ThoughtDraft) -> set[str]:
    """Return the keys of the old objects that a draft of opposite polarity contradicts."""
    draft_keys = object_keys([draft.objects])
    if draft.relation not in _HEALTH_RELATIONS:
        return {key for key in map(object_key, old.objects) if key in draft_keys}
    return {
        object_key(item)
        for item in old.objects
        if object_key(item) in draft_keys
        or any(
            _denial_covers(draft.relation, value, item)
            if draft.negated
            else _refutes_denial(draft.relation, value, item)
            for value in draft.objects
        )
    }


def _denial_covers(relation: str, denied: str, affirmed: str) -> bool:
    """Return whether a newer denial covers an object that was affirmed."""
    if _ANY_OF_KIND.fullmatch(denied):
        return relation in _PRESENT_RELATIONS
    return _is_more_general(relation, denied, affirmed)


def _refutes_denial(relation: str, affirmed: str, denied: str) -> bool:
    """Return whether a newly affirmed object is the denied one, or belongs to the denied kind."""
    if not (match := _ANY_OF_KIND.fullmatch(denied)):
        return _is_more_general(relation, denied, affirmed)
    kind = match["kind"] or match["kind_zh"]
    if relation != "is allergic to":
        return True
    if _MEDICINE.fullmatch(kind):
        return not _FOOD_ALLERGEN.search(affirmed) and not _ENVIRONMENT_ALLERGEN.search(affirmed)
    return bool(_FOOD_ALLERGEN.search(affirmed)) if _FOOD.fullmatch(kind) else True


def _is_more_general(relation: str, general: str, special: str) -> bool:
    """Return whether one object includes the other.

    Examples: ulcer and bleeding ulcer, 心脏病 and 冠状动脉心脏病, a medicine and a dose of it.
    """
    if relation == "takes" and object_key(general) == object_key(strip_dose(special)):
        return True
    if not general.isascii():
        return len(general) > 1 and special.endswith(general)
    general_terms, special_terms = extract_terms(general), extract_terms(special)
    return (
        bool(general_terms)
        and general_terms[-1:] == special_terms[-1:]
        and set(general_terms) <= set(special_terms)
    )
