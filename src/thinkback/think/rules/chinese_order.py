"""Clauses that Chinese turns round, put into the order that the table reads.

现在陈奕迅才是我最喜欢的歌手 says the value first; 今天量的血压是... tells how it is known before what it is;
以后请发到B，我的邮箱换了 tells the value before what has changed.
"""

from __future__ import annotations

import re

from thinkback.text.people.kin import KIN_EN, KIN_ZH, longest_first
from thinkback.think.rules.chinese_names import BARE_NAME, is_bare_name
from thinkback.think.rules.chinese_words import is_drug, is_treatment

_NOW = "(?:现在|目前|如今|眼下)"
_VALUE_FIRST = re.compile(
    f"(?P<o>[^我是，,]{{1,14}}?)(?:才|就|已经|{_NOW}|成功|一下子)*(?:是|成了?|变成了?"
    f"|当选)我(?:们家)?(?:{_NOW}|心里|心中"
    "|心目中)*的?(?P<what>最(?:喜欢|爱|喜爱|中意)(?:吃|喝|看|听|玩|读)?的[^，,的了]{1,6})(?:了|啦)?"
)
_NAME_FIRST = re.compile(
    f"(?P<o>{BARE_NAME}|[A-Z][A-Za-z'-]+(?: [A-Z][a-z]+)?) ?(?:才|就|已经|{_NOW})*(?:是|成了|当了?|做了?)"
    f"(?:我|俺|咱)(?:们)?(?:部门|组|公司|{_NOW})?的?(?:新|新任|现任|直属|顶头|亲|好|老)?的?"
    f"(?P<kin>{longest_first(KIN_ZH)})(?:了|啦)?"
)
_TALL = re.compile(
    "(?P<who>我|俺|我(?![身个])[\u4e00-\u9fff]{1,2})(?:有|今年"
    "|已经)?(?P<o>[一1]米[\\d一二三四五六七八九]{1,2})(?:高|的个子|多)?(?:了)?"
)
_LEFT_HAND = re.compile("(?:从小|一直|习惯|都)*用左手(?:写字|吃饭|拿筷子|打球|画画)?(?:的)?\\Z")
_SENT_ME = re.compile("(?:公司|单位|领导|老板|学校)(?:又|刚|已经)*把我(?=[调派换])")
_MY_IS = re.compile(
    f"[Mm]y (?:new |current )?(?P<kin>{longest_first(KIN_EN)})(?: is|'s)(?: now| called"
    f"| named)* ?(?P<o>[\u4e00-\u9fff]{{2,4}})"
)
_MEASURES = "血压|血糖|体重|心率|身高|尿酸|体温"
_MEASURED = re.compile(
    f"(?:我|俺)?(?:自己|刚刚?|又)*(?:在[^，,的]{{1,6}}?)?(?:重新)?(?:测量|检查|量|测|称"
    f"|查)(?:出来)?的(?=(?:空腹|餐后)?(?:{_MEASURES}))"
)
_MEASURES_NOW = re.compile(
    f"(?:我|俺)?(?:自己|刚刚?|又|去)*(?:测量|检查|量|测|称|查|上秤|过秤)(?:了|过)?(?:一下|下|一次|次"
    f"|个)?(?P<what>(?:空腹|餐后)?(?:{_MEASURES}))?"
    "(?:了|啦)?(?:(?:是|有|才|只有)?(?P<o>\\d.*))?"
)
_NO_ALLERGY = re.compile(
    "(?P<who>[^没无对，,]{0,8}?)(?:之前|以前|过去|目前|现在|从来|一直|并|也|都)*(?:没有?|无)(?:任何|什么|已知的?|过)*(?P<kind>药物?|食物|东西)?的?过敏(?:史|的东西)?(?:了|的)?"
)
_NO_SUCH_ALLERGY = re.compile("(?P<to>[^，,]{0,6}?对[^，,]{1,12}?)并?没有?过敏(?:史|反应)?(?:了|的)?")
_NO_MEDICINE = re.compile(
    "(?P<who>[^没不什，,]{0,8}?)(?:没有?在(?:吃|服用?|用)(?:任何|什么)?药物?|[没不](?:吃|服用?|用)(?:任何|什么)药物?"
    "|什么药都?[没不](?:吃|服用?|用))(?:了|的)?"
)
_UNWILLING = re.compile(
    "(?P<who>[^不拒，,]{0,6}?)(?:不想|不愿意?|不肯|拒绝)(?:再)?(?P<o>(?:做|打|吃|用|接受|服用|装|输|住).{1,10}?)(?:了|啦)?"
)
_STOPPED = re.compile("(?P<o>[^，,停我]{2,10}?)(?:我|已经|早就?|刚|都|就)*停(?:掉|用)?了")
_UNITS = "(?:毫克|微克|毫升|单位|片|粒|颗|mg)"
_VALUE = re.compile(
    "(?:是|有|居然|竟然|才|只有|变成|到了?|显示|已经|每天|一天|每次|每晚|吃|服用?|用的)*"
    f"(?P<o>\\d.*|[半一二两三四五六七八九十]{_UNITS}.*)"
)
_DOSE_CHANGES = re.compile(
    "(?:我的?)?(?P<drug>[^我的，,]{2,8}?)(?:的剂量|剂量|的量)?(?:又|刚|已经|最近)*(?:加量|减量|改量|加大"
    "|减少|加|减|调整?"
    "|改)(?:了|啦)"
)
_SEND = re.compile(
    "(?:(?:以后|今后|往后|从今天起|下次|之后|邮件|快递|东西|有事|消息|信|请|麻烦|你|都|就|直接|统一|的)*)"
    "(?:发|寄|打|联系|写|改)(?:到|给|至|往|这个|我的?|新的?)*(?:邮箱|电话|手机号?|号码|地址)?(?:是|：|:)? ?"
    "(?P<o>(?P<email>[\\w.+-]+@[\\w.-]+\\.[A-Za-z]+)|(?P<phone>\\+?\\d[\\d -]{5,18}\\d)"
    "|(?P<address>[\u4e00-\u9fff]{2,12}[路街道巷弄]\\d.{0,16}))(?:吧|哦|就行|就好|这个(?:邮箱|号码?|地址))*"
)
CHANGES = re.compile(
    "(?:我的?)?(?:旧的?|原来的?|以前的?|老)(?P<old>手机号码?|电话|号码?|邮箱|地址)(?:已经|都)*(?:停用|不用"
    "|作废|注销|停)(?:了|啦)|"
    "(?:我的?|俺的?)?(?P<topic>电话|手机号码?|号码|邮箱|地址|房租|工资|月薪|名字|英文名|专业|体重|血压"
    "|座位号?|房间号?"
    "|航班号?|车牌)(?:号码?)?(?:又|刚|已经|最近)*(?:换|改|变|涨|降|调整|更新)(?:了|啦|过)"
    "|(?:我们?|俺)?(?:最近|刚刚?|又|已经)*[换改](?:了|过)?(?:个|新的?)*(?P<thing>手机号码?|电话|号码?|邮箱"
    "|地址|座位号?"
    "|房间号?|航班|车牌)(?:号码?)?(?:了|啦)?\\Z"
)
_KINDS = {"药": "药物", "药物": "药物", "食物": "食物"}
_THINGS = {"号": "电话", "号码": "电话", "座位": "座位号", "房间": "房间号", "航班": "航班号"}


def changed_thing(text: str) -> str:
    """What a clause says has got a new value: 我的邮箱换了, 换号了."""
    found = CHANGES.match(text)
    if not found:
        dose = _DOSE_CHANGES.fullmatch(text)
        return f"{dose['drug']}剂量" if dose and is_drug(dose["drug"]) else ""
    word: str = found["topic"] or found["thing"] or found["old"]
    return _THINGS.get(word, word)


def plainly(text: str) -> str:
    """A clause with the user first and the value last."""
    text = _of_health(text)
    if first := _VALUE_FIRST.fullmatch(text):
        return f"我{first['what']}是{first['o']}"
    if tall := _TALL.fullmatch(text):
        return f"{tall['who']}身高{tall['o']}"
    if left := _LEFT_HAND.search(text):
        return f"{text[: left.start()]}是左撇子"
    if how := _MEASURED.match(text) or _SENT_ME.match(text):
        return f"我{text[how.end() :]}"
    if (now := _MEASURES_NOW.fullmatch(text)) and now["what"] and now["o"]:
        return f"我{now['what']}是{now['o']}"
    return text


def _of_health(text: str) -> str:
    """没有药物过敏, 没在吃药, 不想做手术, 布洛芬停了: with a verb that the table knows, and its object."""
    if none := _NO_ALLERGY.fullmatch(text):
        return f"{none['who']}对任何{_KINDS.get(none['kind'] or '', '东西')}不过敏"
    if none := _NO_SUCH_ALLERGY.fullmatch(text):
        return f"{none['to']}不过敏"
    if none := _NO_MEDICINE.fullmatch(text):
        return f"{none['who']}不服用任何药物"
    if (unwilling := _UNWILLING.fullmatch(text)) and is_treatment(unwilling["o"]):
        return f"{unwilling['who']}拒绝{unwilling['o']}"
    if (stopped := _STOPPED.fullmatch(text)) and is_drug(stopped["o"]):
        return f"停了{stopped['o']}"
    return text


def named_first(text: str) -> tuple[str, str]:
    """(what somebody is to the user, the name): 吴磊现在是我的主管."""
    if mixed := _MY_IS.fullmatch(text):
        return mixed["kin"].lower(), mixed["o"]
    found = _NAME_FIRST.fullmatch(text)
    if found and (found["o"].isascii() or is_bare_name(found["o"])):
        return found["kin"], found["o"]
    return "", ""


def measured_thing(text: str) -> str:
    """What was measured, if the value follows in the next clause: 称了一下，60公斤."""
    found = _MEASURES_NOW.fullmatch(text)
    if not found or found["o"]:
        return ""
    return found["what"] or ("体重" if "称" in text or "秤" in text else "")


def bare_value(text: str) -> str:
    """A number that says nothing of what it measures."""
    found = _VALUE.fullmatch(text)
    return found["o"] if found else ""


def sent_to(text: str) -> str:
    """以后请发到a@b.example -> what it says of the user, in plain order."""
    found = _SEND.fullmatch(text)
    if not found:
        return ""
    kind = "邮箱" if found["email"] else "电话" if found["phone"] else "地址"
    return f"我{kind}是{found['o']}"
