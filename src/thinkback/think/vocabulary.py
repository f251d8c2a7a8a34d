"""The table of relations: how each is said and denied in both languages, and its other surface forms."""

from __future__ import annotations

from dataclasses import dataclass

from thinkback.think.attributes import NEW
from thinkback.think.belongings import BELONGINGS, FORMS
from thinkback.types import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """`en` and `zh` are said with {s} and {o}, the `_not` forms deny them; `article`: a/an before objects."""

    name: str
    kind: Kind
    single: bool
    en: str
    en_not: str
    zh: str
    zh_not: str
    article: bool = False
    known: bool = True


def said(name: str, kind: Kind, single: bool, en: str, en_not: str, zh: str, zh_not: str) -> Relation:
    """A relation said in its own words."""
    return Relation(name=name, kind=kind, single=single, en=en, en_not=en_not, zh=zh, zh_not=zh_not)


def be(name: str, kind: Kind, single: bool, words: str, zh: str) -> Relation:
    """A relation said with `is`."""
    en, en_not = f"{{s}} is {words} {{o}}", f"{{s}} is not {words} {{o}}"
    return said(name, kind, single, en, en_not, f"{{s}}{zh}{{o}}", f"{{s}}不{zh}{{o}}")


def do(
    name: str, kind: Kind, single: bool, base: str, zh: str, zh_not: str = "", *, article: bool = False
) -> Relation:
    """A relation said with a verb: `name` is its third person, `base` what follows "does not"."""
    return Relation(
        name=name,
        kind=kind,
        single=single,
        en=f"{{s}} {name} {{o}}",
        en_not=f"{{s}} does not {base} {{o}}",
        zh=f"{{s}}{zh}{{o}}",
        zh_not=f"{{s}}{zh_not or '不' + zh}{{o}}",
        article=article,
    )


def past(name: str, base: str, zh: str) -> Relation:
    """Something that happened."""
    en, en_not = f"{{s}} {name} {{o}}", f"{{s}} did not {base} {{o}}"
    return said(name, "event", False, en, en_not, f"{{s}}{zh}{{o}}", f"{{s}}没有{zh.removesuffix('了')}{{o}}")


def of(name: str, kind: Kind, single: bool, zh: str, en: str = "") -> Relation:
    """A relation said as an attribute: {s}'s {name} is {o}."""
    start = f"{{s}}'s {en or name} is"
    return said(
        name,
        kind,
        single,
        f"{start} {{o}}",
        f"{start} not {{o}}",
        f"{{s}}的{zh}是{{o}}",
        f"{{s}}的{zh}不是{{o}}",
    )


ENTRIES: tuple[tuple[Relation, str], ...] = (
    # a relation, and the other surface forms (comma-separated) that mean the same
    (be("is named", "profile", True, "named", "叫"), "name, name is, has name, full name, 名字, 姓名, 名叫"),
    (be("goes by", "profile", False, "called", "也叫"), "nickname, is nicknamed, 昵称, 小名"),
    (be("same as", "relationship", False, "the same as", "就是"), "is the same as, alias, is also"),
    (
        said(
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
        do("lives in", "profile", True, "live in", "住在"),
        "live in, resides in, residence, location, is living in, home is, moved to, has moved to,"
        "relocated to, lives at, current city, 居住在, 住, 搬到, 现居",
    ),
    (do("comes from", "profile", True, "come from", "来自"), "is from, from, hometown, origin, 家乡, 老家"),
    (
        said(
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
        of("birthday", "profile", True, "生日"),
        "has birthday, was born on, birth date, date of birth, born on, 出生日期",
    ),
    (
        do("works as", "profile", False, "work as", "的职业是", "的职业不是", article=True),
        "work as, job, occupation, profession, is employed as, has job, job title, 职业, 工作是, 当",
    ),
    (
        do("works at", "profile", True, "work at", "工作于", "不工作于"),
        "work at, works for, employer, is employed by, company, workplace, 工作单位",
    ),
    (
        do("studies", "profile", False, "study", "学习"),
        "study, major, majors in, is studying, is learning, 专业, 主修",
    ),
    (do("learns", "profile", False, "learn", "在学", "不学"), "learn"),
    (do("works in", "profile", False, "work in", "从事", "不从事"), "field, industry, 行业"),
    (
        said(
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
    (do("studies at", "profile", True, "study at", "就读于"), "school, university, attends, 学校, 大学"),
    (
        do("likes", "profile", False, "like", "喜欢"),
        "like, loves, love, enjoys, enjoy, is fond of, is interested in, interest, hobby, hobbies, has hobby,"
        "adores, is a fan of, 爱, 爱好, 热爱, 爱吃, 喜爱, 兴趣",
    ),
    (do("prefers", "profile", False, "prefer", "更喜欢", "不更喜欢"), "prefer, has preference, 偏好, 偏爱"),
    (
        said(
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
        do("speaks", "profile", False, "speak", "会说", "不会说"),
        "speak, language, languages, can speak, 语言, 会讲",
    ),
    (do("weighs", "profile", True, "weigh", "体重为", "体重不是"), "weight, has weight, 体重"),
    (of("height", "profile", True, "身高"), "has height, is tall, 身高"),
    (
        of("phone number", "profile", True, "电话号码"),
        "phone, number, telephone, mobile number, 电话, 手机, 手机号, 手机号码",
    ),
    (of("email", "profile", True, "邮箱"), "email address, e-mail, 邮箱地址, 电子邮箱"),
    (of("surname", "profile", True, "姓"), "last name, family name"),
    (of("address", "profile", True, "地址"), "home address"),
    (of("blood type", "profile", True, "血型"), "blood group"),
    (of("blood pressure", "profile", True, "血压"), "has blood pressure, bp"),
    (of("shoe size", "profile", True, "鞋码"), "shoe"),
    (of("salary", "profile", True, "工资"), "income, 薪水, 月薪"),
    (of("english name", "profile", True, "英文名"), ""),
    (of("rent", "profile", True, "房租"), "租金"),
    (of("gpa", "profile", True, "GPA", "GPA"), "绩点"),
    (of("budget", "profile", True, "预算"), ""),
    (of("mortgage", "profile", True, "房贷"), ""),
    (of("heart rate", "profile", True, "心率"), "pulse"),
    (of("bmi", "profile", True, "BMI", "BMI"), ""),
    (of("cholesterol", "profile", True, "胆固醇"), ""),
    (of("blood sugar", "profile", True, "血糖"), ""),
    (of("commute", "profile", True, "通勤时间"), ""),
    (of("room number", "profile", True, "房间号"), "房号"),
    (of("seat number", "profile", True, "座位号"), ""),
    (of("locker number", "profile", True, "柜号"), ""),
    (of("flight number", "profile", True, "航班号"), ""),
    (of("credit score", "profile", True, "信用分"), ""),
    (be("is afraid of", "profile", False, "afraid of", "害怕"), "fears, is scared of, fear, 怕, 恐惧"),
    (
        said(
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
        said(
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
    (do("eats", "profile", False, "eat", "吃"), "eat, diet"),
    (do("drinks", "profile", False, "drink", "喝"), "drink"),
    (do("plays", "profile", False, "play", "玩"), "play, plays sport, plays instrument"),
    (do("drives", "profile", False, "drive", "开"), "drive"),
    (do("takes", "profile", False, "take", "服用"), "take, medication, takes medication, is taking, 用药"),
    (said("smokes", "profile", True, "{s} smokes", "{s} does not smoke", "{s}抽{o}", "{s}不抽{o}"), "smoke"),
    (
        said(
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
        said(
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
        said(
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
        said("is", "profile", False, "{s} is {o}", "{s} is not {o}", "{s}是{o}", "{s}不是{o}"),
        "is a, be, am, 是",
    ),
    (do("has", "profile", False, "have", "有", "没有"), "have, owns, own, possesses, has pet, 拥有, 养"),
    (do("works in", "profile", False, "work in", "从事"), "industry, field"),
    (do("runs", "profile", False, "run", "经营"), "business"),
    (do("uses", "profile", False, "use", "使用"), "use, is using"),
    (do("banks with", "profile", True, "bank with", "的银行是", "的银行不是"), "bank"),
    (do("does", "profile", False, "do", "练"), "practises, practices"),
    (do("teaches", "profile", False, "teach", "教"), "teach"),
    (do("volunteers at", "profile", False, "volunteer at", "在做义工于"), "volunteers for, volunteers with"),
    (do("collects", "profile", False, "collect", "收藏"), "collect"),
    (do("keeps", "profile", False, "keep", "饲养"), "keep"),
    (do("supports", "profile", False, "support", "支持"), "support, roots for"),
    (
        said("vapes", "profile", True, "{s} vapes", "{s} does not vape", "{s}抽电子烟", "{s}不抽电子烟"),
        "vape",
    ),
    (past("lived in", "live in", "曾住在"), "previously lived in, used to live in"),
    (past("worked at", "work at", "曾工作于"), "previously worked at"),
    (past("went to", "go to", "去了"), "visited, go to, traveled to, travelled to, flew to, 去, 去过"),
    (past("met", "meet", "见了"), "met with"),
    (past("bought", "buy", "买了"), "purchased, 购买"),
    (past("attended", "attend", "参加了"), "took part in, participated in, 参加"),
    (past("graduated from", "graduate from", "毕业于"), "graduated, alma mater, 毕业"),
    (past("did", "do", ""), "event"),
    (past("quit", "quit", "放弃了"), "gave up, stopped"),
    (
        said(
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
        said(
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
        said(
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
        said(
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
    *((of(name, "profile", True, zh), FORMS.get(name, "")) for name, zh in BELONGINGS.items()),
    *(
        (of(each.relation, "profile", each.single, each.zh), ", ".join((*each.english, *each.chinese)))
        for each in NEW
    ),
)

FAVOURITES_ZH = {
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
