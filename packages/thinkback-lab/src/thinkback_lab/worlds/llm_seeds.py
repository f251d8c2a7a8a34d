"""Seeds for worlds written by a language model (PerLTQA, step 1): names, occupations, topics."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from random import Random

from thinkback_lab.worlds.world import Lang


@dataclass(frozen=True, slots=True)
class SeedPool:
    surnames: tuple[str, ...]
    given: tuple[str, ...]
    occupations: tuple[str, ...]
    hobbies: tuple[str, ...]
    educations: tuple[str, ...]
    topics: tuple[str, ...]
    joined: str  # separator of a list


def _split_list(text: str) -> tuple[str, ...]:
    return tuple(each.strip() for each in text.replace("\n", " ").split("|"))


SEED_POOLS: dict[Lang, SeedPool] = {
    "en": SeedPool(
        _split_list(
            "Abbott|Brandt|Calloway|Dunmore|Ellery|Farrow|Garrick|Holloway|Iverson|Jessup|Kessler|Lindqvist|"
            "Marlowe|Novak|Okafor|Pemberton|Quintero|Radcliffe|Sorensen|Thackeray"
        ),
        _split_list(
            "Adele|Bruno|Cecily|Dorian|Edith|Felix|Greta|Hugo|Imogen|Jasper|Kira|Leopold|Mabel|Nathaniel|"
            "Odette|Percy|Rosalind|Silas|Tabitha|Victor"
        ),
        _split_list(
            "bridge engineer|pastry chef|veterinary nurse|court interpreter|stage designer|marine biologist|"
            "tram driver|piano tuner|tax adviser|school librarian|beekeeper|radio presenter|glazier|midwife|"
            "landscape gardener|software tester|museum guide|flight instructor|speech therapist|locksmith"
        ),
        _split_list(
            "bird watching|fencing|orchids|chess|open-water swimming|wood carving|jazz piano|geocaching|"
            "baking bread|calligraphy|model railways|stargazing|cross-stitch|bouldering|collecting stamps|"
            "amateur theatre|canoeing|mushroom picking|table tennis|restoring bicycles"
        ),
        _split_list(
            "apprenticeship|evening school diploma|bachelor's degree|master's degree|doctorate|"
            "art academy|technical college|conservatory"
        ),
        _split_list(
            "a journey|a repair|a wedding|a lost thing|a contest|moving house|an illness|a garden|a concert|"
            "a business plan|a school feast|a storm|a recipe|a flea market|a night shift|an old photograph|"
            "a first lesson|a reunion|a petition|a rescued animal"
        ),
        ", ",
    ),
    "zh": SeedPool(
        _split_list("赵|钱|孙|周|吴|郑|冯|陈|褚|卫|蒋|沈|韩|杨|朱|秦|许|何|吕|施"),
        _split_list(
            "安然|博文|初晴|德林|恩琪|方圆|光远|海棠|嘉树|可心|乐天|明轩|念慈|启航|若水|思远|庭芳|望舒|"
            "晓峰|云舟"
        ),
        _split_list(
            "桥梁工程师|糕点师|兽医|法庭翻译|舞台设计师|海洋生物学家|电车司机|调音师|税务顾问|学校图书管理员|"
            "养蜂人|电台主持人|玻璃工匠|助产士|园艺师|软件测试员|博物馆讲解员|飞行教练|语言治疗师|锁匠"
        ),
        _split_list(
            "观鸟|击剑|养兰花|下象棋|冬泳|木雕|弹古筝|徒步|烤面包|书法|火车模型|观星|刺绣|攀岩|集邮|话剧|"
            "划船|采蘑菇|打乒乓球|修理自行车"
        ),
        _split_list(
            "职业学校毕业|夜校文凭|本科毕业|硕士毕业|博士毕业|美术学院毕业|技术学院毕业|音乐学院毕业"
        ),
        _split_list(
            "一次旅行|一次修理|一场婚礼|一件丢失的东西|一场比赛|搬家|生病|种花园|一场音乐会|创业计划|校庆|"
            "暴风雨|一道菜谱|旧货市场|夜班|一张老照片|第一堂课|老友重逢|社区请愿|救助动物"
        ),
        "、",
    ),
}
ASSISTANT_NAME: dict[Lang, str] = {"en": "AI assistant", "zh": "AI助手"}


def max_characters(lang: Lang) -> int:
    """Number of distinct names."""
    return len(SEED_POOLS[lang].surnames) * len(SEED_POOLS[lang].given)


def draw_names(count: int, lang: Lang, seed: int) -> list[str]:
    """Draw distinct names."""
    pool = SEED_POOLS[lang]
    pairs = list(product(pool.given, pool.surnames))
    pairs_drawn = Random(f"{seed} names").sample(pairs, count)  # noqa: S311 - no secret is drawn
    return [surname + given if lang == "zh" else f"{given} {surname}" for given, surname in pairs_drawn]
