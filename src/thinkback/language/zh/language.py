"""Chinese: how names, places, jobs and other values of statements look."""

from __future__ import annotations

import re
from collections.abc import Mapping

from thinkback.language.kinship import KIN_ZH, PETS_ZH, alternation_pattern
from thinkback.language.names import SURNAMES, normalise_name
from thinkback.language.protocol import Lexicon, Person, load_language, load_lexicon

_EDGES = " \t。，,！!；;：:.…~～、"
_LIST_SEPARATOR = re.compile("、|和|跟|与|以及|还有|\\s+and\\s+")
_ROLES = KIN_ZH | PETS_ZH
_PERSON_ROLE = re.compile(f"((?:我|俺|咱)(?:家的|家|的)?)({alternation_pattern(_ROLES)})(.*)")
_NAME_CHARACTER = (
    "[^\\W\\da-zA-Z_我你他她它的了是在有不没也都就这那们和跟与会要去来说吧吗呢啊很还把被让对给又才]"
)
_FULL_NAME = re.compile(
    f"(?:[{SURNAMES}方石任龙白文武康史毛雷段]{_NAME_CHARACTER}{{1,2}}|[小老阿]{_NAME_CHARACTER}|(?P<twice>{_NAME_CHARACTER})(?P=twice))"
)
_LATIN_NAME = re.compile("[A-Z][a-z]+(?: [A-Z][a-z]+)?")
_NOT_A_NAME = re.compile(
    "什么|啥|医生|老师|学生|外卖|车|人\\Z|[我你他她它的了吗呢吧着过不没]|起来|停|醒|救命|好\\Z|大家|老板|[师员工长叔姨爷奶伯婶嫂舅姑]\\Z|今年|现在"
)
_NOT_A_PLACE = re.compile(
    "没|^[\\d一二三四五六七八九十两]|^(?:这|那|哪|我|你|他|她|什么|不|家|老家|学校|公司|宿舍|医院|外面|一起|单位|里面|楼|新|旧)"
    "|(?:里面|[楼层]|宿舍|附近|一起|出租屋|房子|新家|公寓|小区|那儿|这儿|隔壁|对门|家里?|院|的人?|时候|得|好|着|过)\\Z|的|着|得很|了"
)
_NOT_AN_ORGANISATION = re.compile(
    "[找忙换]|考虑|准备|努力|^(?:家|这|那|哪|一起|外面|外地|认真|什么|我们?|咱们?|他们?|她们?|你们?)|[一这那]位|[很最有的了]|^(?:线上|网上|里面|公司|厨房|办公室|单位)\\Z|地铁|边|时候|手机|电脑"
)
_SCHOOL = re.compile(
    "(?:小学|中学|大学|学院|学校|高中|初中|幼儿园|附中|附小|(?<=.)[一二三四五六七八九十][中小])\\Z"
)
_STUDYING = re.compile("[读念考]|上(?=大学|小学|中学|高中|初中|幼儿园|学)|教(?!育)|[当做]|工作|毕业")
"""A verb that does not belong to the name of a school: 南京读大学."""
_CONDITION_SUFFIX = re.compile("(?:病|炎|癌|综合征|不耐受)\\Z")
_NOT_A_CONDITION = re.compile("^[有得患们都没还就是生]|[的我你他她了啥么]|毛病|[有生看治犯发]病\\Z|什么|点")
_DRUG = re.compile(
    "(?:[\u4e00-\u9fff]{1,6}(?:地平|他汀|沙坦|洛尔|普利|霉素|西林|洛芬|匹林|双胍|嘌醇|拉唑|曲林|鲁肽|西汀|沙星|沙班|格雷|蝶呤|列净|甲乐)"
    "|胰岛素|二甲双胍|优甲乐|布洛芬|阿司匹林|叶酸|钙片|鱼油|益生菌|维生素[A-EK]?\\d*)"
)
_DOSE = re.compile("(?:\\d[\\d.]*|[一二两三半四]) ?(?:毫克|微克|mg|片|粒|颗|单位)")
_DOSE_CHANGE = re.compile("(?:剂量)?(?:是|改成|改为|减到|加到|增加到|换成|降到)(?:了)?(?:每天)?")
_LANGUAGE = re.compile(
    "(?:英|法|德|日|韩|俄|泰|粤|国|藏|汉|手|西班牙|葡萄牙|意大利|阿拉伯|越南|印尼|马来|希腊|土耳其|荷兰|瑞典|波兰|拉丁|蒙古)(?:语|文)"
    "|中文|普通话|(?:闽南|客家|四川|上海|东北|广东|潮汕|潮州|温州|湖南|长沙|武汉|南京|天津|河南|陕西|山东|重庆)话"
)
_NOT_AN_ALLERGEN = re.compile(
    "皮肤|鼻子|眼睛|嗓子|脸|严重|有点|季节|什么|我|你|他|她|这|那|上班|工作|人|生活|学习|的|了|开会|东西"
)
_CLAUSE_WITHOUT_SUBJECT = re.compile(
    "\\A(?:现在|如今|目前|已经|新(?:手机|电话|号|地址|邮箱)|最(?:喜欢|爱)|改(?:吃|喝)|是?从|是?对)"
)
_SUBJECT_IS_USER = re.compile(f"\\A(?:我|俺)(?!们|家|的|{alternation_pattern(_ROLES)})")
_MAX_THING_CHARACTERS = 8


class Chinese:
    """Checks of Chinese values; see `language.protocol.Language`."""

    code = "zh"

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon

    def to_regex(self, template: str) -> str:
        return template

    def roles(self) -> Mapping[str, str]:
        return _ROLES

    def parse_person(self, words: str, known_names: Mapping[str, str]) -> Person | None:
        if known := known_names.get(words.casefold()):
            return Person(known)
        parts = _PERSON_ROLE.fullmatch(words)
        if parts is None:
            return None
        if not parts[3]:
            return Person(normalise_name(f"我{parts[2]}"))
        name = self._check_person_name(parts[3])
        return Person(name, _ROLES[parts[2]], name) if name else None

    def split_values(self, words: str) -> list[str]:
        return [part for part in _LIST_SEPARATOR.split(words) if part.strip()]

    def continue_subject(self, clause: str, previous: str) -> str:
        """我换工作了，现在在小米上班: the second clause is about the user too."""
        if not _CLAUSE_WITHOUT_SUBJECT.match(clause):
            return clause
        if _SUBJECT_IS_USER.match(previous):
            return f"我{clause}"
        relative = _PERSON_ROLE.match(previous)
        return f"{relative[1]}{relative[2]}{clause}" if relative else clause

    def resolve_pronoun(self, clause: str, person: str) -> str:
        """她生日是六月三号: 王芳生日是六月三号. A relative without a name is not resolved."""
        return re.sub("[他她](?!们)", person, clause, count=1) if not person.isascii() else clause

    def check_value(self, check: str, words: str) -> str:
        value = words.strip(_EDGES)
        if not check or not value:
            return value
        return str(getattr(self, f"_check_{check}")(value))

    def _check_name(self, words: str) -> str:
        if _LATIN_NAME.fullmatch(words):
            return words
        return words if re.fullmatch("[\u4e00-\u9fff·]{2,4}", words) and not _NOT_A_NAME.search(words) else ""

    def _check_latin_name(self, words: str) -> str:
        """A first name in Latin letters where other words fit too (我是……)."""
        return load_language("en").check_value("first_name", words)

    def _check_person_name(self, words: str) -> str:
        if _LATIN_NAME.fullmatch(words):
            return words
        is_name = _FULL_NAME.fullmatch(words) and not _NOT_A_NAME.search(words) and words not in _ROLES
        return words if is_name else ""

    _check_introduced_name = _check_person_name  # where a job or state fits too (我是……，34)

    def _check_place(self, words: str) -> str:
        if re.search("[A-Za-z]", words) and not _LATIN_NAME.fullmatch(words):
            return ""
        return "" if _NOT_A_PLACE.search(words) or len(words) > 8 else words

    def _check_known_place(self, words: str) -> str:
        return words if words.removesuffix("市").removesuffix("省") in self.lexicon.words("places") else ""

    def _check_organisation(self, words: str) -> str:
        return "" if _NOT_AN_ORGANISATION.search(words) or words in self.lexicon.words("places") else words

    def _check_school(self, words: str) -> str:
        return (
            words
            if _SCHOOL.search(words)
            and not re.search("[我你他她这那的了]|^(?:小学|中学|大学|高中|初中|学校|幼儿园)\\Z", words)
            and not _STUDYING.search(words)
            else ""
        )

    def _check_job(self, words: str) -> str:
        bare = re.sub("\\A一?[个名位]", "", words)
        jobs = self.lexicon.words("jobs")
        return (
            bare
            if bare in jobs or (len(bare) <= 6 and any(bare.endswith(job) for job in jobs if len(job) > 2))
            else ""
        )

    def _check_age(self, words: str) -> str:
        return words if not words.isdigit() or 1 <= int(words) <= 110 else ""

    def _check_number(self, words: str) -> str:
        return words if re.search("\\d{2}", words) else ""

    def _check_allergen(self, words: str) -> str:
        return "" if _NOT_AN_ALLERGEN.search(words) or len(words) > 8 else words

    def _check_food(self, words: str) -> str:
        return words if words in self.lexicon.words("food_words") else ""

    def _check_language(self, words: str) -> str:
        return words if _LANGUAGE.fullmatch(words) else ""

    def _check_condition(self, words: str) -> str:
        if _NOT_A_CONDITION.search(words):
            return ""
        known = self.lexicon.words("conditions")
        return words if words in known or (_CONDITION_SUFFIX.search(words) and len(words) >= 3) else ""

    def _check_medicine(self, words: str) -> str:
        name = _DOSE_CHANGE.sub("", _DOSE.sub("", words)).strip(" 的")
        dose = _DOSE.search(words)
        return f"{name}{dose[0] if dose else ''}" if _DRUG.fullmatch(name) else ""

    def _check_diet(self, words: str) -> str:
        return words if words in self.lexicon.words("diets") else ""

    def _check_status(self, words: str) -> str:
        return words if words in self.lexicon.words("statuses") else ""

    def _check_thing(self, words: str) -> str:
        bad = any(word in words for word in self.lexicon.words("not_values")) or "的" in words
        return "" if bad or len(words) > _MAX_THING_CHARACTERS or len(words) < 2 else words

    def _check_title(self, words: str) -> str:
        if words.startswith("《") and words.endswith("》"):
            return words.strip("《》")
        return "" if any(word in words for word in self.lexicon.words("not_values")) else words

    def _check_counted(self, words: str) -> str:
        noun = re.sub("\\A(?:[一两二三四五六七八九十]|\\d+)(?:个|只|条|匹|头|辆)", "", words)
        return words if noun in _ROLES or noun in ("女儿", "儿子", "孩子", "妹妹", "弟弟", "猫", "狗") else ""


def create_language() -> Chinese:
    """The Chinese language with its lexicon."""
    return Chinese(load_lexicon("zh"))
