"""The table of relations: English and Chinese sentence templates, cardinality, and other surface forms."""

from __future__ import annotations

from dataclasses import dataclass

from thinkback.language.attributes import ATTRIBUTE_RELATIONS, POSSESSION_ALIASES, POSSESSIONS
from thinkback.types import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A relation of thoughts, with its sentence templates.

    In the templates `{s}` is the subject and `{o}` the value; `en_not` and `zh_not` are the negated forms.
    """

    name: str
    kind: Kind
    single_valued: bool
    """A newer value replaces the older one."""
    en: str
    en_not: str
    zh: str
    zh_not: str
    takes_article: bool = False
    """English values get "a" or "an": "works as a nurse"."""
    is_known: bool = True
    """False for a relation that is not in the table."""


def phrase_relation(
    name: str, kind: Kind, single: bool, en: str, en_not: str, zh: str, zh_not: str
) -> Relation:
    """A relation with four templates of its own."""
    return Relation(name=name, kind=kind, single_valued=single, en=en, en_not=en_not, zh=zh, zh_not=zh_not)


def be_relation(name: str, kind: Kind, single: bool, words: str, zh: str) -> Relation:
    """A relation phrased with "is": {s} is named {o}."""
    en, en_not = f"{{s}} is {words} {{o}}", f"{{s}} is not {words} {{o}}"
    return phrase_relation(name, kind, single, en, en_not, f"{{s}}{zh}{{o}}", f"{{s}}不{zh}{{o}}")


def verb_relation(
    name: str, kind: Kind, single: bool, base: str, zh: str, zh_not: str = "", *, article: bool = False
) -> Relation:
    """A relation phrased with a verb: `name` is its third person, `base` the form after "does not"."""
    return Relation(
        name=name,
        kind=kind,
        single_valued=single,
        en=f"{{s}} {name} {{o}}",
        en_not=f"{{s}} does not {base} {{o}}",
        zh=f"{{s}}{zh}{{o}}",
        zh_not=f"{{s}}{zh_not or '不' + zh}{{o}}",
        takes_article=article,
    )


def event_relation(name: str, base: str, zh: str) -> Relation:
    """A relation for something that happened, in the past tense."""
    en, en_not = f"{{s}} {name} {{o}}", f"{{s}} did not {base} {{o}}"
    return phrase_relation(
        name, "event", False, en, en_not, f"{{s}}{zh}{{o}}", f"{{s}}没有{zh.removesuffix('了')}{{o}}"
    )


def attribute_relation(name: str, kind: Kind, single: bool, zh: str, en: str = "") -> Relation:
    """A relation phrased as an attribute: {s}'s {name} is {o}."""
    start = f"{{s}}'s {en or name} is"
    return phrase_relation(
        name,
        kind,
        single,
        f"{start} {{o}}",
        f"{start} not {{o}}",
        f"{{s}}的{zh}是{{o}}",
        f"{{s}}的{zh}不是{{o}}",
    )


RELATION_TABLE: tuple[tuple[Relation, str], ...] = (
    (
        be_relation("is named", "profile", True, "named", "叫"),
        "name, name is, has name, full name, 名字, 姓名, 名叫",
    ),
    (be_relation("goes by", "profile", False, "called", "也叫"), "nickname, is nicknamed, 昵称, 小名"),
    (be_relation("same as", "relationship", False, "the same as", "就是"), "is the same as, alias, is also"),
    (
        phrase_relation(
            "is aged",
            "profile",
            True,
            "{s} is {o} years old",
            "{s} is not {o} years old",
            "{s}{o}岁",
            "{s}不是{o}岁",
        ),
        "age, age is, has age, is years old, 年龄, 岁数",
    ),
    (
        verb_relation("lives in", "profile", True, "live in", "住在"),
        "live in, resides in, residence, location, is living in, home is, moved to, has moved to,"
        "relocated to, lives at, current city, 居住在, 住, 搬到, 现居",
    ),
    (
        verb_relation("comes from", "profile", True, "come from", "来自"),
        "is from, from, hometown, origin, 家乡, 老家",
    ),
    (
        phrase_relation(
            "was born in",
            "profile",
            True,
            "{s} was born in {o}",
            "{s} was not born in {o}",
            "{s}出生在{o}",
            "{s}不出生在{o}",
        ),
        "birthplace, born in, place of birth, 出生地",
    ),
    (
        attribute_relation("birthday", "profile", True, "生日"),
        "has birthday, was born on, birth date, date of birth, born on, 出生日期",
    ),
    (
        verb_relation("works as", "profile", False, "work as", "的职业是", "的职业不是", article=True),
        "work as, job, occupation, profession, is employed as, has job, job title, 职业, 工作是, 当",
    ),
    (
        verb_relation("works at", "profile", True, "work at", "工作于", "不工作于"),
        "work at, works for, employer, is employed by, company, workplace, 工作单位",
    ),
    (
        verb_relation("studies", "profile", False, "study", "学习"),
        "study, major, majors in, is studying, is learning, 专业, 主修",
    ),
    (verb_relation("learns", "profile", False, "learn", "在学", "不学"), "learn"),
    (verb_relation("works in", "profile", False, "work in", "从事", "不从事"), "field, industry, 行业"),
    (
        phrase_relation(
            "studied at",
            "profile",
            False,
            "{s} studied at {o}",
            "{s} did not study at {o}",
            "{s}曾就读于{o}",
            "{s}没有就读于{o}",
        ),
        "",
    ),
    (
        verb_relation("studies at", "profile", True, "study at", "就读于"),
        "school, university, attends, 学校, 大学",
    ),
    (
        verb_relation("likes", "profile", False, "like", "喜欢"),
        "like, loves, love, enjoys, enjoy, is fond of, is interested in, interest, hobby, hobbies, has hobby,"
        "adores, is a fan of, 爱, 爱好, 热爱, 爱吃, 喜爱, 兴趣",
    ),
    (
        verb_relation("prefers", "profile", False, "prefer", "更喜欢", "不更喜欢"),
        "prefer, has preference, 偏好, 偏爱",
    ),
    (
        phrase_relation(
            "is allergic to",
            "profile",
            False,
            "{s} is allergic to {o}",
            "{s} is not allergic to {o}",
            "{s}对{o}过敏",
            "{s}对{o}不过敏",
        ),
        "allergy, allergies, has allergy, allergic to, 对过敏, 过敏, 过敏原",
    ),
    (
        verb_relation("speaks", "profile", False, "speak", "会说", "不会说"),
        "speak, language, languages, can speak, 语言, 会讲",
    ),
    (verb_relation("weighs", "profile", True, "weigh", "体重为", "体重不是"), "weight, has weight, 体重"),
    (attribute_relation("height", "profile", True, "身高"), "has height, is tall, 身高"),
    (
        attribute_relation("phone number", "profile", True, "电话号码"),
        "phone, number, telephone, mobile number, 电话, 手机, 手机号, 手机号码",
    ),
    (attribute_relation("email", "profile", True, "邮箱"), "email address, e-mail, 邮箱地址, 电子邮箱"),
    (attribute_relation("surname", "profile", True, "姓"), "last name, family name"),
    (attribute_relation("address", "profile", True, "地址"), "home address"),
    (attribute_relation("blood type", "profile", True, "血型"), "blood group"),
    (attribute_relation("blood pressure", "profile", True, "血压"), "has blood pressure, bp"),
    (attribute_relation("shoe size", "profile", True, "鞋码"), "shoe"),
    (attribute_relation("salary", "profile", True, "工资"), "income, 薪水, 月薪"),
    (attribute_relation("english name", "profile", True, "英文名"), ""),
    (attribute_relation("rent", "profile", True, "房租"), "租金"),
    (attribute_relation("gpa", "profile", True, "GPA", "GPA"), "绩点"),
    (attribute_relation("budget", "profile", True, "预算"), ""),
    (attribute_relation("mortgage", "profile", True, "房贷"), ""),
    (attribute_relation("heart rate", "profile", True, "心率"), "pulse"),
    (attribute_relation("bmi", "profile", True, "BMI", "BMI"), ""),
    (attribute_relation("cholesterol", "profile", True, "胆固醇"), ""),
    (attribute_relation("blood sugar", "profile", True, "血糖"), ""),
    (attribute_relation("commute", "profile", True, "通勤时间"), ""),
    (attribute_relation("room number", "profile", True, "房间号"), "房号"),
    (attribute_relation("seat number", "profile", True, "座位号"), ""),
    (attribute_relation("locker number", "profile", True, "柜号"), ""),
    (attribute_relation("flight number", "profile", True, "航班号"), ""),
    (attribute_relation("credit score", "profile", True, "信用分"), ""),
    (
        be_relation("is afraid of", "profile", False, "afraid of", "害怕"),
        "fears, is scared of, fear, 怕, 恐惧",
    ),
    (
        phrase_relation(
            "marital status",
            "profile",
            True,
            "{s} is {o}",
            "{s} is not {o}",
            "{s}的婚姻状况是{o}",
            "{s}的婚姻状况不是{o}",
        ),
        "relationship status, 婚姻状况",
    ),
    (
        phrase_relation(
            "grew up in",
            "profile",
            False,
            "{s} grew up in {o}",
            "{s} did not grow up in {o}",
            "{s}在{o}长大",
            "{s}不在{o}长大",
        ),
        "was raised in, 成长于",
    ),
    (verb_relation("eats", "profile", False, "eat", "吃"), "eat, diet"),
    (verb_relation("drinks", "profile", False, "drink", "喝"), "drink"),
    (verb_relation("plays", "profile", False, "play", "玩"), "play, plays sport, plays instrument"),
    (verb_relation("drives", "profile", False, "drive", "开"), "drive"),
    (
        verb_relation("takes", "profile", False, "take", "服用"),
        "take, medication, takes medication, is taking, 用药",
    ),
    (
        phrase_relation(
            "smokes", "profile", True, "{s} smokes", "{s} does not smoke", "{s}抽{o}", "{s}不抽{o}"
        ),
        "smoke",
    ),
    (
        phrase_relation(
            "has condition",
            "profile",
            False,
            "{s} has {o}",
            "{s} does not have {o}",
            "{s}患有{o}",
            "{s}没有{o}",
        ),
        "diagnosis, disease, suffers from, has disease, is diagnosed with, 病史, 患有, 病情, 病",
    ),
    (
        phrase_relation(
            "had condition",
            "profile",
            False,
            "{s} had {o}",
            "{s} never had {o}",
            "{s}得过{o}",
            "{s}没有得过{o}",
        ),
        "medical history, past illness, 得过, 患过",
    ),
    (
        phrase_relation(
            "refuses",
            "profile",
            False,
            "{s} does not want {o}",
            "{s} no longer refuses {o}",
            "{s}不想{o}",
            "{s}不再拒绝{o}",
        ),
        "refuse, rejects, does not want, declines, 拒绝",
    ),
    (
        phrase_relation("is", "profile", False, "{s} is {o}", "{s} is not {o}", "{s}是{o}", "{s}不是{o}"),
        "is a, be, am, 是",
    ),
    (
        verb_relation("has", "profile", False, "have", "有", "没有"),
        "have, owns, own, possesses, has pet, 拥有, 养",
    ),
    (verb_relation("runs", "profile", False, "run", "经营"), "business"),
    (verb_relation("uses", "profile", False, "use", "使用"), "use, is using"),
    (verb_relation("banks with", "profile", True, "bank with", "的银行是", "的银行不是"), "bank"),
    (verb_relation("does", "profile", False, "do", "练"), "practises, practices"),
    (verb_relation("teaches", "profile", False, "teach", "教"), "teach"),
    (
        verb_relation("volunteers at", "profile", False, "volunteer at", "在做义工于"),
        "volunteers for, volunteers with",
    ),
    (verb_relation("collects", "profile", False, "collect", "收藏"), "collect"),
    (verb_relation("keeps", "profile", False, "keep", "饲养"), "keep"),
    (verb_relation("supports", "profile", False, "support", "支持"), "support, roots for"),
    (
        phrase_relation(
            "vapes", "profile", True, "{s} vapes", "{s} does not vape", "{s}抽电子烟", "{s}不抽电子烟"
        ),
        "vape",
    ),
    (event_relation("lived in", "live in", "曾住在"), "previously lived in, used to live in"),
    (event_relation("worked at", "work at", "曾工作于"), "previously worked at"),
    (
        event_relation("went to", "go to", "去了"),
        "visited, go to, traveled to, travelled to, flew to, 去, 去过",
    ),
    (event_relation("met", "meet", "见了"), "met with"),
    (event_relation("bought", "buy", "买了"), "purchased, 购买"),
    (event_relation("attended", "attend", "参加了"), "took part in, participated in, 参加"),
    (event_relation("graduated from", "graduate from", "毕业于"), "graduated, alma mater, 毕业"),
    (event_relation("did", "do", ""), "event"),
    (event_relation("quit", "quit", "放弃了"), "gave up, stopped"),
    (
        phrase_relation(
            "plans to",
            "event",
            False,
            "{s} plans to {o}",
            "{s} does not plan to {o}",
            "{s}打算{o}",
            "{s}不打算{o}",
        ),
        "plan to, is going to, intends to, 计划, 打算",
    ),
    (
        phrase_relation(
            "has appointment",
            "event",
            False,
            "{s} has {o}",
            "{s} does not have {o}",
            "{s}有{o}",
            "{s}没有{o}",
        ),
        "appointment, has an appointment, 预约",
    ),
    (
        phrase_relation(
            "recommended",
            "dialogue",
            False,
            "The recommended {s} is {o}",
            "The recommended {s} is not {o}",
            "推荐的{s}是{o}",
            "推荐的{s}不是{o}",
        ),
        "recommends, recommendation, 推荐",
    ),
    (
        phrase_relation(
            "capital",
            "knowledge",
            True,
            "The capital of {s} is {o}",
            "The capital of {s} is not {o}",
            "{s}的首都是{o}",
            "{s}的首都不是{o}",
        ),
        "has capital, capital is, capital city, 首都",
    ),
    *(
        (attribute_relation(name, "profile", True, zh), POSSESSION_ALIASES.get(name, ""))
        for name, zh in POSSESSIONS.items()
    ),
    *(
        (
            attribute_relation(each.relation, "profile", each.single_valued, each.zh_noun),
            ", ".join((*each.english_nouns, *each.chinese_nouns)),
        )
        for each in ATTRIBUTE_RELATIONS
    ),
)
"""Each relation with its other surface forms, separated by commas."""

FAVOURITE_NOUNS_ZH = {
    "colour": "颜色",
    "food": "食物",
    "movie": "电影",
    "book": "书",
    "sport": "运动",
    "song": "歌",
    "singer": "歌手",
    "music": "音乐",
    "fruit": "水果",
    "animal": "动物",
    "season": "季节",
    "city": "城市",
    "drink": "饮料",
    "game": "游戏",
    "band": "乐队",
    "dish": "菜",
    "author": "作家",
    "subject": "科目",
    "actor": "演员",
    "team": "球队",
}
"""Chinese nouns of "favourite ..." relations."""
