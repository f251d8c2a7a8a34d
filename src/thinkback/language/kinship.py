"""Words for relatives, friends and pets in English and Chinese, and how these roles relate to each other.

Every word maps to one role name in English: "mum" and 妈妈 are "mother". The relations between roles resolve
"my nephew" from a sister and her son.
"""

from __future__ import annotations

_KIN_WORDS_EN = {
    "mother": "mother mom mum mama mommy mummy mam mumma",
    "father": "father dad papa daddy pop",
    "sister": "sister sis",
    "brother": "brother bro",
    "wife": "wife wifey missus",
    "husband": "husband hubby",
    "girlfriend": "girlfriend gf",
    "boyfriend": "boyfriend bf",
    "partner": "partner spouse",
    "fiance": "fiance fiancee fiancé fiancée",
    "son": "son",
    "daughter": "daughter",
    "child": "child kid baby",
    "aunt": "aunt auntie aunty",
    "uncle": "uncle",
    "cousin": "cousin",
    "niece": "niece",
    "nephew": "nephew",
    "grandmother": "grandmother grandma granny nana gran nan grandmum",
    "grandfather": "grandfather grandpa granddad grandad gramps",
    "grandson": "grandson",
    "granddaughter": "granddaughter",
    "friend": "friend buddy bestie mate pal bff",
    "boss": "boss manager supervisor",
    "colleague": "colleague coworker co-worker teammate workmate",
    "roommate": "roommate flatmate housemate",
    "neighbour": "neighbour neighbor",
    "teacher": "teacher",
    "professor": "professor",
    "doctor": "doctor gp",
    "dentist": "dentist",
    "therapist": "therapist counsellor counselor shrink",
    "sibling": "sibling",
    "mother-in-law": "mother-in-law",
    "father-in-law": "father-in-law",
    "sister-in-law": "sister-in-law",
    "brother-in-law": "brother-in-law",
    "son-in-law": "son-in-law",
    "daughter-in-law": "daughter-in-law",
    "stepmother": "stepmother stepmum stepmom",
    "stepfather": "stepfather stepdad",
    "stepson": "stepson",
    "stepdaughter": "stepdaughter",
    "stepsister": "stepsister",
    "stepbrother": "stepbrother",
    "godmother": "godmother",
    "godfather": "godfather",
    "godson": "godson",
    "goddaughter": "goddaughter",
    "ex": "ex ex-wife ex-husband ex-girlfriend ex-boyfriend ex-partner",
    "classmate": "classmate",
    "landlord": "landlord landlady",
    "tenant": "tenant lodger",
    "mentor": "mentor",
    "tutor": "tutor",
    "coach": "coach",
    "trainer": "trainer",
    "physio": "physio physiotherapist",
    "vet": "vet",
    "hairdresser": "hairdresser",
    "barber": "barber",
    "accountant": "accountant",
    "lawyer": "lawyer solicitor attorney",
    "babysitter": "babysitter nanny",
    "cleaner": "cleaner",
    "assistant": "assistant",
    "co-founder": "co-founder cofounder",
    "cardiologist": "cardiologist",
    "dermatologist": "dermatologist",
    "neurologist": "neurologist",
    "endocrinologist": "endocrinologist",
    "psychiatrist": "psychiatrist",
}
_KIN_WORDS_ZH = {
    "mother": "妈妈 母亲 老妈 妈咪 老娘 妈 娘",
    "father": "爸爸 父亲 老爸 老爹 爸 爹",
    "sister": "妹妹 姐姐 姐 妹",
    "brother": "弟弟 哥哥 哥 弟",
    "wife": "老婆 妻子 太太 媳妇 孩儿他妈 孩子他妈 娃他妈",
    "husband": "老公 丈夫 先生 孩儿他爸 孩子他爸 娃他爸",
    "girlfriend": "女朋友 女友 女票",
    "boyfriend": "男朋友 男友 男票",
    "partner": "对象 爱人 伴侣 老伴",
    "fiance": "未婚妻 未婚夫",
    "ex": "前任 前男友 前女友 前夫 前妻",
    "son": "儿子",
    "daughter": "女儿 闺女",
    "child": "孩子 宝宝 小孩 娃 大宝 二宝",
    "parents": "父母 爸妈 爹妈 双亲 爸爸妈妈 父母亲",
    "grandparents": "爷爷奶奶 姥姥姥爷 外公外婆",
    "parents-in-law": "公婆 公公婆婆 岳父岳母",
    "aunt": "阿姨 姑姑 姨妈 姑妈 舅妈 婶婶 伯母 大姨 小姨 大姑 小姑",
    "uncle": "叔叔 舅舅 伯伯 姑父 姨夫 大伯 大舅 小舅",
    "cousin": "表哥 表弟 表姐 表妹 堂哥 堂弟 堂姐 堂妹",
    "niece": "侄女 外甥女",
    "nephew": "侄子 外甥",
    "grandmother": "奶奶 外婆 姥姥",
    "grandfather": "爷爷 外公 姥爷 祖父",
    "grandson": "孙子 外孙",
    "granddaughter": "孙女 外孙女",
    "mother-in-law": "婆婆 岳母 丈母娘",
    "father-in-law": "公公 岳父 老丈人",
    "sister-in-law": "嫂子 弟妹 嫂嫂 弟媳 小姑子 大姨子 小姨子",
    "brother-in-law": "姐夫 妹夫 小舅子 大舅子",
    "son-in-law": "女婿",
    "daughter-in-law": "儿媳 儿媳妇",
    "friend": "朋友 好朋友 闺蜜 好友 发小 哥们 死党",
    "boss": "老板 上司 领导 主管 经理",
    "colleague": "同事",
    "classmate": "同学 同桌 学长 学姐 学弟 学妹",
    "roommate": "室友 舍友",
    "neighbour": "邻居",
    "landlord": "房东",
    "client": "客户",
    "coach": "教练",
    "teacher": "老师 导师 班主任",
}
_PET_WORDS_EN = {
    "dog": "dog puppy pup doggo pooch labrador poodle greyhound whippet beagle corgi dachshund husky"
    " spaniel terrier"
    " retriever collie bulldog pug chihuahua rottweiler dalmatian cockapoo labradoodle mutt",
    "cat": "cat kitten kitty tabby ragdoll",
    "rabbit": "rabbit bunny",
    "horse": "horse pony",
}
_OTHER_PET_WORDS_EN = """
    bird parrot hamster fish goldfish turtle snake tortoise ferret lizard gecko iguana budgie cockatiel
    canary gerbil chinchilla hedgehog axolotl tarantula rat goat donkey llama alpaca chicken hen duck pig
    cow sheep parakeet bearded-dragon chameleon pet"""
_PET_WORDS_ZH = {
    "狗": "dog",
    "小狗": "dog",
    "猫": "cat",
    "小猫": "cat",
    "猫咪": "cat",
    "狗狗": "dog",
    "兔子": "rabbit",
}
_PET_WORDS_ZH |= {
    "鹦鹉": "parrot",
    "仓鼠": "hamster",
    "乌龟": "turtle",
    "金鱼": "goldfish",
    "鸟": "bird",
    "马": "horse",
}

_BREED_WORDS_ZH = {
    "dog": "柯基 金毛 泰迪 拉布拉多 哈士奇 边牧 柴犬 比熊 博美 萨摩耶 法斗 德牧 雪纳瑞 吉娃娃 土狗 贵宾",
    "cat": "英短 美短 布偶 布偶猫 橘猫 狸花猫 暹罗猫 加菲猫 蓝猫 田园猫 缅因猫",
}
_PET_WORDS_ZH |= {word: name for name, words in _BREED_WORDS_ZH.items() for word in words.split()}

KIN_EN: dict[str, str] = {word: name for name, words in _KIN_WORDS_EN.items() for word in words.split()}
KIN_ZH: dict[str, str] = {word: name for name, words in _KIN_WORDS_ZH.items() for word in words.split()}
PETS_EN: dict[str, str] = {word: name for name, words in _PET_WORDS_EN.items() for word in words.split()}
PETS_EN |= {word: word for word in _OTHER_PET_WORDS_EN.split()}
PETS_ZH: dict[str, str] = _PET_WORDS_ZH | {"宠物": "pet"}

_UNIQUE_ROLE_WORDS = """
    mother father wife husband girlfriend boyfriend partner fiance boss landlord dentist therapist
    mother-in-law father-in-law"""
UNIQUE_ROLES = frozenset(_UNIQUE_ROLE_WORDS.split())
"""Roles of which a person has only one at a time."""


INDEFINITE_ROLES = frozenset(("friend", "colleague", "neighbour", "cousin", "classmate", "client"))
"""Roles of which a person has many: "my friend" today need not be "my friend" of yesterday."""
INDEFINITE_ROLES_ZH = INDEFINITE_ROLES - {"cousin"}
"""Chinese has different words for cousins (表哥, 堂妹)."""

_SPECIFIC_ROLE_WORDS_ZH = {
    "older sister": "姐姐 姐",
    "younger sister": "妹妹 妹",
    "older brother": "哥哥 哥",
    "younger brother": "弟弟 弟",
    "maternal grandmother": "外婆 姥姥",
    "maternal grandfather": "外公 姥爷",
    "paternal grandmother": "奶奶",
    "paternal grandfather": "爷爷",
}
_ROLES_WITH_SYNONYMS = (
    "mother",
    "father",
    "wife",
    "husband",
    "girlfriend",
    "boyfriend",
    "partner",
    "son",
    "daughter",
    "child",
    "parents",
    "grandparents",
    "parents-in-law",
)
SPECIFIC_ROLES_ZH: dict[str, str] = {
    word: name
    for word, name in (KIN_ZH | PETS_ZH).items()
    if name in (*_ROLES_WITH_SYNONYMS, *PETS_ZH.values())
}
SPECIFIC_ROLES_ZH |= {word: name for name, words in _SPECIFIC_ROLE_WORDS_ZH.items() for word in words.split()}
"""The specific role of a Chinese word: 姐姐 is "older sister" and 妹妹 "younger sister"."""

GENERIC_ROLE_WORDS_ZH = {
    "sister": "姐妹",
    "brother": "兄弟",
    "cousin": "堂表亲",
    "grandmother": "祖母",
    "grandfather": "祖父",
}
"""Chinese words for roles that English does not divide, where the text does not say which: "sister"."""


def alternation_pattern(words: dict[str, str]) -> str:
    """A regular-expression alternation of the words, the longest first."""
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


ROLES_EN: dict[str, str] = KIN_EN | PETS_EN | {"parent": "parents", "grandparent": "grandparents"}
ROLES_EN |= {"children": "child", "wives": "wife", "boy": "son", "girl": "daughter"}
ROLES_ZH: dict[str, str] = KIN_ZH | PETS_ZH | {"姐妹": "sister", "兄弟姐妹": "sibling"}
ROLES_ZH |= {"子女": "child", "儿女": "child"}
ROLE_NAMES = frozenset((*ROLES_EN.values(), *ROLES_ZH.values()))
"""All roles; a thought has the relation `has ROLE`."""

ROLE_QUALIFIERS = {"elder": "older", "big": "older", "little": "younger"}
ROLE_QUALIFIERS |= {
    word: word for word in ("older", "younger", "maternal", "paternal", "former", "pen", "childhood", "late")
}
"""Words before a role that say which of several persons is meant."""

_COUPLE_ROLES = ("husband", "wife", "partner", "fiance", "girlfriend", "boyfriend")
_PET_ROLES = tuple(dict.fromkeys((*PETS_EN.values(), *PETS_ZH.values())))
_ROLE_TIERS: dict[str, tuple[tuple[str, ...], ...]] = {
    "partner": (_COUPLE_ROLES,),
    "husband": (("husband",), ("partner", "fiance")),
    "wife": (("wife",), ("partner", "fiance")),
    "fiance": (("fiance",), ("partner",)),
    "boyfriend": (("boyfriend",), ("partner",)),
    "girlfriend": (("girlfriend",), ("partner",)),
    "child": (("child", "son", "daughter"),),
    "son": (("son",), ("child",)),
    "daughter": (("daughter",), ("child",)),
    "sibling": (("sibling", "brother", "sister"),),
    "brother": (("brother",), ("sibling",)),
    "sister": (("sister",), ("sibling",)),
    "parents": (("parents", "mother", "father"),),
    "grandparents": (("grandparents", "grandmother", "grandfather"),),
    "parents-in-law": (("parents-in-law", "mother-in-law", "father-in-law"),),
    "pet": (_PET_ROLES,),
    "boss": (("boss",),),
}

_CHILD_ROLES = ("son", "daughter", "child")
_PARENT_ROLES = ("mother", "father", "parents")
_SIBLING_ROLES = ("brother", "sister", "sibling")
_SYMMETRIC_ROLES = ("friend", "colleague", "roommate", "neighbour", "classmate", "cousin", "ex", "co-founder")
_INVERSE_ROLES: dict[str, tuple[str, ...]] = {name: (name,) for name in _SYMMETRIC_ROLES}
_INVERSE_ROLES |= dict.fromkeys(("husband", "wife", "partner", "fiance"), _COUPLE_ROLES)
_INVERSE_ROLES |= dict.fromkeys(("girlfriend", "boyfriend"), ("girlfriend", "boyfriend", "partner", "fiance"))
_INVERSE_ROLES |= dict.fromkeys(_PARENT_ROLES, _CHILD_ROLES) | dict.fromkeys(_CHILD_ROLES, _PARENT_ROLES)
_INVERSE_ROLES |= dict.fromkeys(_SIBLING_ROLES, _SIBLING_ROLES)
_INVERSE_ROLES |= dict.fromkeys(("grandmother", "grandfather", "grandparents"), ("grandson", "granddaughter"))
_INVERSE_ROLES |= dict.fromkeys(("grandson", "granddaughter"), ("grandmother", "grandfather", "grandparents"))
_INVERSE_ROLES |= dict.fromkeys(("aunt", "uncle"), ("niece", "nephew"))
_INVERSE_ROLES |= dict.fromkeys(("niece", "nephew"), ("aunt", "uncle"))
_INVERSE_ROLES |= {"landlord": ("tenant",), "tenant": ("landlord",)}

_FEMALE_ROLE_WORDS = """
    mother sister wife girlfriend daughter aunt niece grandmother granddaughter mother-in-law
    sister-in-law daughter-in-law stepmother stepdaughter stepsister godmother goddaughter"""
_MALE_ROLE_WORDS = """
    father brother husband boyfriend son uncle nephew grandfather grandson father-in-law brother-in-law
    son-in-law stepfather stepson stepbrother godfather godson"""
_FEMALE_ROLES = frozenset(_FEMALE_ROLE_WORDS.split())
_MALE_ROLES = frozenset(_MALE_ROLE_WORDS.split())

_AGES = ("older", "younger")
_ROLE_COMPOSITIONS: dict[str, tuple[tuple[str, str], ...]] = {
    **{kin: (("sibling", kin),) for kin in ("sister", "brother", "mother", "father", "parents")},
    **{f"{age} {kin}": (("sibling", f"{age} {kin}"),) for kin in ("sister", "brother") for age in _AGES},
    "nephew": (("sibling", "son"),),
    "niece": (("sibling", "daughter"),),
    "brother-in-law": (("sister", "husband"), ("partner", "brother")),
    "sister-in-law": (("brother", "wife"), ("partner", "sister")),
    "mother-in-law": (("partner", "mother"),),
    "father-in-law": (("partner", "father"),),
    "son-in-law": (("daughter", "husband"),),
    "daughter-in-law": (("son", "wife"),),
    "grandmother": (("parents", "mother"),),
    "grandfather": (("parents", "father"),),
    "grandson": (("child", "son"),),
    "granddaughter": (("child", "daughter"),),
    "uncle": (("parents", "brother"),),
    "aunt": (("parents", "sister"),),
    "cousin": (("uncle", "child"), ("aunt", "child")),
    "外甥": (("sister", "son"),),
    "外甥女": (("sister", "daughter"),),
    "侄子": (("brother", "son"),),
    "侄女": (("brother", "daughter"),),
    "舅": (("mother", "brother"),),
    "姨": (("mother", "sister"),),
    "姑": (("father", "sister"),),
    "叔": (("father", "brother"),),
    "伯": (("father", "brother"),),
    "妹夫": (("younger sister", "husband"),),
    "姐夫": (("older sister", "husband"),),
    "嫂子": (("older brother", "wife"),),
    "嫂嫂": (("older brother", "wife"),),
    "弟妹": (("younger brother", "wife"),),
    "弟媳": (("younger brother", "wife"),),
    "maternal grandmother": (("mother", "mother"),),
    "maternal grandfather": (("mother", "father"),),
    "paternal grandmother": (("father", "mother"),),
    "paternal grandfather": (("father", "father"),),
}
_FAMILY_SIDES_ZH = "姑姨舅婶伯叔"  # the side of the family of an aunt or uncle
_POLITE_FORMS_ZH = frozenset(("阿姨", "叔叔"))  # also used for friends of the family
_ROLES_SPECIFIC_IN_CHINESE = frozenset(("cousin", "brother-in-law", "sister-in-law", "niece", "nephew"))
_SPELLING_VARIANTS_ZH = {"嫂嫂": "嫂子", "弟媳": "弟妹"}


def parse_role(phrase: str) -> tuple[str, str]:
    """(role, specific role) of a phrase: ("sister", "older sister"); empty strings if it is no role."""
    if phrase in ROLE_NAMES:
        return phrase, ""
    if phrase in ROLES_ZH:
        return ROLES_ZH[phrase], specific_role_zh(phrase)
    qualifier, _, word = phrase.rpartition(" ")
    role = ROLES_EN.get(word, "")
    return role, f"{qualifier} {role}" if role and qualifier in ROLE_QUALIFIERS.values() else ""


def base_role(specific_role: str) -> str:
    """The role of a specific role: "older sister" -> "sister", 表哥 -> "cousin"."""
    return ROLES_ZH.get(specific_role) or specific_role.rpartition(" ")[2]


def specific_role_zh(word: str) -> str:
    """The specific role of a Chinese word (姐姐, 表哥, 舅舅); empty if it is not specific."""
    role = ROLES_ZH.get(word, "")
    if role in _ROLES_SPECIFIC_IN_CHINESE:
        return _SPELLING_VARIANTS_ZH.get(word, word)
    if role in ("aunt", "uncle") and word not in _POLITE_FORMS_ZH:
        return next((side for side in word if side in _FAMILY_SIDES_ZH), "")
    return SPECIFIC_ROLES_ZH.get(word, "") if role in GENERIC_ROLE_WORDS_ZH else ""


def role_tiers(role: str) -> tuple[tuple[str, ...], ...]:
    """Roles that may answer a question for `role`, in tiers; the first tier with a match counts."""
    return _ROLE_TIERS.get(role, ((role,),))


def inverse_roles(role: str) -> tuple[str, ...]:
    """The roles in the other direction: "son" -> mother, father, parents."""
    return _INVERSE_ROLES.get(role, ())


def role_compositions(specific_role: str, role: str) -> tuple[tuple[str, str], ...]:
    """Pairs of steps that lead to a role: "nephew" -> ("sibling", "son")."""
    return _ROLE_COMPOSITIONS.get(specific_role) or (
        () if specific_role else _ROLE_COMPOSITIONS.get(role, ())
    )


def incompatible_roles(role: str) -> frozenset[str]:
    """Roles that the same person cannot have: a mother is nobody's son."""
    return _MALE_ROLES if role in _FEMALE_ROLES else _FEMALE_ROLES if role in _MALE_ROLES else frozenset()
