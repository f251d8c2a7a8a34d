"""Words for relatives, friends and pets in English and Chinese, and the one word each stands for."""

from __future__ import annotations

_ENGLISH = {
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
_CHINESE = {
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
_PETS_EN = {
    "dog": "dog puppy pup doggo pooch labrador poodle greyhound whippet beagle corgi dachshund husky"
    " spaniel terrier"
    " retriever collie bulldog pug chihuahua rottweiler dalmatian cockapoo labradoodle mutt",
    "cat": "cat kitten kitty tabby ragdoll",
    "rabbit": "rabbit bunny",
    "horse": "horse pony",
}
_MORE_PETS_EN = """bird parrot hamster fish goldfish turtle snake tortoise ferret lizard gecko iguana budgie
 cockatiel canary gerbil chinchilla hedgehog axolotl tarantula rat goat donkey llama alpaca chicken hen duck
 pig cow sheep parakeet bearded-dragon chameleon pet"""
_PETS_ZH = {
    "狗": "dog",
    "小狗": "dog",
    "猫": "cat",
    "小猫": "cat",
    "猫咪": "cat",
    "狗狗": "dog",
    "兔子": "rabbit",
}
_PETS_ZH |= {
    "鹦鹉": "parrot",
    "仓鼠": "hamster",
    "乌龟": "turtle",
    "金鱼": "goldfish",
    "鸟": "bird",
    "马": "horse",
}

_BREEDS_ZH = {
    "dog": "柯基 金毛 泰迪 拉布拉多 哈士奇 边牧 柴犬 比熊 博美 萨摩耶 法斗 德牧 雪纳瑞 吉娃娃 土狗 贵宾",
    "cat": "英短 美短 布偶 布偶猫 橘猫 狸花猫 暹罗猫 加菲猫 蓝猫 田园猫 缅因猫",
}
_PETS_ZH |= {word: name for name, words in _BREEDS_ZH.items() for word in words.split()}

KIN_EN: dict[str, str] = {word: name for name, words in _ENGLISH.items() for word in words.split()}
KIN_ZH: dict[str, str] = {word: name for name, words in _CHINESE.items() for word in words.split()}
PETS_EN: dict[str, str] = {word: name for name, words in _PETS_EN.items() for word in words.split()}
PETS_EN |= {word: word for word in _MORE_PETS_EN.split()}
PETS_ZH: dict[str, str] = _PETS_ZH | {"宠物": "pet"}

_ONE_EACH = """mother father wife husband girlfriend boyfriend partner fiance boss landlord dentist therapist
 mother-in-law father-in-law"""
ONE_EACH = frozenset(_ONE_EACH.split())
"""Of these a person has one at a time; of the others, several."""


INDEFINITE = frozenset(("friend", "colleague", "neighbour", "cousin", "classmate", "client"))
"""Of these one has many: "my friend" today need not be "my friend" of yesterday."""
INDEFINITE_ZH = INDEFINITE - {"cousin"}
"""表哥 and 堂妹 tell which cousin."""

_ZH_PERSONS = {
    "older sister": "姐姐 姐",
    "younger sister": "妹妹 妹",
    "older brother": "哥哥 哥",
    "younger brother": "弟弟 弟",
    "maternal grandmother": "外婆 姥姥",
    "maternal grandfather": "外公 姥爷",
    "paternal grandmother": "奶奶",
    "paternal grandfather": "爷爷",
}
_SYNONYMS = (
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
PERSON_ZH: dict[str, str] = {
    word: name for word, name in (KIN_ZH | PETS_ZH).items() if name in (*_SYNONYMS, *PETS_ZH.values())
}
PERSON_ZH |= {word: name for name, words in _ZH_PERSONS.items() for word in words.split()}
"""Which person a Chinese word means, in English words: 姐姐 and 妹妹 are two, 妈妈 and 母亲 one."""

EITHER_ZH = {
    "sister": "姐妹",
    "brother": "兄弟",
    "cousin": "堂表亲",
    "grandmother": "祖母",
    "grandfather": "祖父",
}
"""English does not tell 姐姐 from 妹妹: a thought of several says neither."""


def longest_first(words: dict[str, str]) -> str:
    """The words as alternatives of a pattern, none hidden by its own beginning."""
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))
