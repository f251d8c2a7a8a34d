"""Casual Chinese: omitted subjects, changed values, names, pronouns and daily life.

A triple is written "subject | relation | value; value"; "not " before the relation means that it is negated.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from thinkback.language.sentence_builder import compose_sentence
from thinkback.think.rule_generator import RuleGenerator
from thinkback.think.state import Amendment
from thinkback.types import Turn

AT = datetime(2024, 5, 15, 12, tzinfo=UTC)


def read_triples(*texts: str) -> tuple[str, ...]:
    """The triples of the last text, with the others as earlier turns."""
    turns = [
        Turn(id=number, query=text, response="好的", at=AT, recorded_at=AT)
        for number, text in enumerate(texts, start=1)
    ]
    return tuple(
        f"{draft.subject} | {'not ' * draft.negated}{draft.relation} | {'; '.join(draft.objects)}"
        for draft in RuleGenerator().generate(turns[-1], turns[:-1])
        if not isinstance(draft, Amendment)
    )


ABOUT_OTHERS = (
    "对，电话是010-55501234，这里能逛多久？",
    "我查过了，地址在和平路9号，票价30元。",
    "我知道她，是一位很有名的作家。",
    "她很有名，是一名歌手。",
    "我看了部剧，女主是一名律师，住在上海。",
    "那家店换号了，电话是010-55501234。",
    "听说他是医生，住在北京。",
    "称了一下西瓜，10公斤。",
    "以后发到客服邮箱help@shop.example。",
    "医生把他的药改成每天两片了。",
    "卧推100公斤的人很多。",
    "帮我查一下车牌京A12345。",
    "我儿子同学对花生过敏。",
    "我爸的同事住在合肥。",
    "我马上去公司。",
    "我已经去过了。",
    "我去过两次了。",
    "我数了数，一共是26颗。",
    "我皮肤过敏了。",
    "我开了家长会。",
    "小区在装修。",
    "我喜欢的歌手是上海人。",
    "我家在六楼没电梯。",
    "我去过十几个国家。",
)


@pytest.mark.parametrize("text", ABOUT_OTHERS)
def test_sentence_about_others_is_ignored(text: str) -> None:
    assert read_triples(text) == ()


UPDATES: tuple[tuple[str, str], ...] = (
    ("我换号了，新号码是13655550001。", "user | phone number | 13655550001"),
    ("手机号改了，以后打13655550001。", "user | phone number | 13655550001"),
    ("我号码变了，现在用的是13655550001", "user | phone number | 13655550001"),
    ("我妈换号了，新号码是13655550001。", "用户的妈 | phone number | 13655550001"),
    ("以后有事发wu@new.example吧，我换邮箱了。", "user | email | wu@new.example"),
    ("旧邮箱停用了，新的是wu@new.example。", "user | email | wu@new.example"),
    ("体重掉到58公斤了。", "user | weighs | 58公斤"),
    ("刚上秤，61公斤。", "user | weighs | 61公斤"),
    ("今早称了一下，居然60公斤。", "user | weighs | 60公斤"),
    ("榴莲成了我最爱吃的水果。", "user | favourite fruit | 榴莲"),
    ("现在孙燕姿才是我最喜欢的歌手。", "user | favourite singer | 孙燕姿"),
    ("我现在最迷的歌手是薛之谦。", "user | favourite singer | 薛之谦"),
    ("今天量的血压是126/81。", "user | blood pressure | 126/81"),
    ("刚量了血压，135/88。", "user | blood pressure | 135/88"),
    ("吃药以后我的血压降到130/84了。", "user | blood pressure | 130/84"),
    ("大夫把我的氨氯地平加到10毫克了。", "user | takes | 氨氯地平10毫克"),
    ("我的二甲双胍加量了，现在每天三片。", "user | takes | 二甲双胍三片"),
    ("我每天吃250毫克二甲双胍。", "user | takes | 二甲双胍250毫克"),
    ("我搬家了，新地址是和平路9号。", "user | address | 和平路9号"),
    ("快递以后寄到和平路9号，我搬家了。", "user | address | 和平路9号"),
    ("我女儿长到一米五了。", "用户的女儿 | height | 一米五"),
    ("我供职于招商证券。", "user | works at | 招商证券"),
    ("我眼下在青岛生活。", "user | lives in | 青岛"),
    ("我女儿换学校了，现在在红星小学上学。", "用户的女儿 | studies at | 红星小学"),
    ("我们换领导了，新老板是孙倩。", "user | has boss | 孙倩"),
    ("现在何丽是我的主管。", "user | has boss | 何丽"),
    ("我直属上司换成了钱进。", "user | has boss | 钱进"),
    ("我室友换了，新室友叫王鹏。", "user | has roommate | 王鹏"),
    ("我跟小李分手了，现在的男朋友叫小张。", "user | has boyfriend | 小张"),
    ("我有新男朋友了，他叫阿杰。", "user | has boyfriend | 阿杰"),
    ("公司把我调到了成都分公司。", "user | works at | 成都分公司"),
    ("航班改了，新航班号是CA1502。", "user | flight number | CA1502"),
    ("今天测的空腹血糖是6.1。", "user | blood sugar | 6.1"),
    ("我最喜欢的电影现在是《星际穿越》。", "user | favourite movie | 星际穿越"),
    ("我以前吃二甲双胍，现在改用达格列净。", "user | takes | 达格列净"),
    ("女儿升初中了，在第七中学。", "用户的女儿 | studies at | 第七中学"),
    ("Big news，my manager is now 林佩珊。", "user | has boss | 林佩珊"),
    ("我的职业不是会计。", "user | not works as | 会计"),
)


@pytest.mark.parametrize(("text", "triple"), UPDATES)
def test_new_value_is_read_in_any_wording(text: str, triple: str) -> None:
    assert triple in read_triples(text)


def test_new_place_follows_the_ended_one() -> None:
    said = read_triples("我已经不在西安住了，现在在兰州。")
    assert said == ("user | not lives in | 西安", "user | lives in | 兰州")


PEOPLE: tuple[tuple[str, str], ...] = (
    ("李雷住在大连。", "李雷 | lives in | 大连"),
    ("韩梅梅去第一医院工作了。", "韩梅梅 | works at | 第一医院"),
    ("老陈会说日语。", "老陈 | speaks | 日语"),
    ("阿强对花粉过敏。", "阿强 | is allergic to | 花粉"),
    ("我爸妈住在合肥。", "用户的爸妈 | lives in | 合肥"),
    ("我妹夫在银行上班。", "用户的妹夫 | works at | 银行"),
    ("我爸是老师。", "用户的爸 | works as | 老师"),
    ("室友阿凯对青霉素过敏。", "阿凯 | is allergic to | 青霉素"),
)


@pytest.mark.parametrize(("text", "triple"), PEOPLE)
def test_bare_names_and_roles_are_people(text: str, triple: str) -> None:
    assert triple in read_triples(text)


DAILY: tuple[tuple[str, str], ...] = (
    ("俺的车牌号是鲁B5678Q。", "user | license plate | 鲁B5678Q"),
    ("我工号8823。", "user | employee id | 8823"),
    ("我卧推能推80公斤了。", "user | bench press | 80公斤"),
    ("我开一辆二手飞度。", "user | drives | 飞度"),
    ("我用左手写字。", "user | is | 左撇子"),
    ("女儿在少年宫学古筝。", "用户的女儿 | learns | 古筝"),
    ("我在邮局干了二十年。", "user | works at | 邮局"),
    ("我自己开了家奶茶店。", "user | runs | 奶茶店"),
    ("我爸开出租的。", "用户的爸 | works as | 开出租"),
    ("一到春天我就花粉过敏。", "user | is allergic to | 花粉"),
    ("我高血压十几年了。", "user | has condition | 高血压"),
    ("我在吃metformin，一天两次。", "user | takes | metformin"),
    ("俺是山东临沂的。", "user | comes from | 山东临沂"),
    ("我养了条柯基，叫土豆。", "user | has dog | 土豆"),
    ("我租的房子在望京。", "user | lives in | 望京"),
    ("我近视600度。", "user | has condition | 近视"),
    ("我儿子小名叫壮壮。", "用户的儿子 | goes by | 壮壮"),
    ("我弟沉迷打游戏。", "用户的弟 | likes | 打游戏"),
    ("我搬来苏州半年了。", "user | lives in | 苏州"),
    ("我一米七八。", "user | height | 一米七八"),
    ("儿子考上了华师大附中。", "用户的儿子 | studies at | 华师大附中"),
)


@pytest.mark.parametrize(("text", "triple"), DAILY)
def test_daily_life_is_read(text: str, triple: str) -> None:
    assert triple in read_triples(text)


def test_pronoun_refers_to_person_of_earlier_turn() -> None:
    assert read_triples("我室友叫乔娜。", "她是贵州人。") == ("乔娜 | comes from | 贵州",)
    assert read_triples("我妈最近膝盖疼。", "她今年62岁。") == ("用户的妈 | is aged | 62",)


def test_ambiguous_pronoun_is_ignored() -> None:
    assert read_triples("我爸最近膝盖疼。", "她今年62岁。") == ()
    assert read_triples("我室友叫乔娜。我同桌叫林晓。", "她是贵州人。") == ()


def test_plural_subject_takes_plural_verb() -> None:
    assert compose_sentence("user's parents", "lives in", ("Hefei",)) == "The user's parents live in Hefei."
    assert compose_sentence("user's mother", "lives in", ("Hefei",)) == "The user's mother lives in Hefei."
    denied = compose_sentence("user's parents", "is afraid of", ("dogs",), negated=True)
    assert denied == "The user's parents are not afraid of dogs."
