"""The vocabulary of secrets: labels, the words that tie a value to one, and values that are ordinary."""

from __future__ import annotations

import re

from thinkback.text.phrases import alternatives
from thinkback.text.safety.secret_forms import ACCOUNT, API_KEY, CARD, IDENTITY, PASSWORD, PIN, SSN

PHRASE = "phrase"  # a label whose value is several words

_STRONG = {
    PHRASE: "(?:seed|recovery|mnemonic|backup|secret) (?:phrase|words)|passphrases?|mnemonic|助记词",
    PASSWORD: r"""pass[\s_-]?words?|passwd|pass[\s_-]?codes?|pwd|pass(?=\s?[:=])
        (?:login|account|sign-?in|access) (?:details|info|information|data|credentials)|credentials
        (?:wi-?fi|login|email|account|my|the|admin) (?:pw|pass)|密[码碼](?!学|本|锁|箱|管|保护)|口令
        提取码|(?:登录|解锁|开机)码""",
    PIN: r"""pin[ -]?(?:code|number|no\.?)|cvv2?|cvc2?|otp|2fa(?: code)?|passkey
        (?:verification|security|one[- ]?time|door|gate|alarm|access|entry|entrance|safe|unlock|auth|
            authentication) (?:code|pin)|(?:voicemail|card|bank|atm|sim|phone) (?:code|pin)
        (?:login|backup|garage|locker|lock|keypad|sms|confirmation|lockbox|intercom|reset|
            activation) (?:code|pin|combination)|(?:lock|safe|locker|padlock|vault) (?:combination|combo)
        验证码|校验码|安全码|pin码|动态码|动态口令|门禁码|激活码|解锁码|开锁码|取款码""",
    API_KEY: r"""(?:api|access|secret|private|encryption|licen[cs]e|signing|master)[\s_-]?keys?(?:_?id)?
        (?:access|auth|api|bearer|refresh|bot|secret|session|personal)[\s_-]?tokens?
        client[\s_-]?secret|bearer|密钥|秘钥|密匙|令牌|私钥""",
    CARD: r"card (?:number|no\.?|#)|(?:credit|debit|bank) card|银行卡号?|信用卡号?|卡号",
    ACCOUNT: r"account (?:number|no\.?|#)|iban|routing number|sort code|(?:银行)?[账帐]号",
    IDENTITY: r"""passport(?: (?:number|no\.?|#))?|driv(?:er'?s|ing) licen[cs]e(?: (?:number|no\.?))?
        national (?:id|insurance)|(?:id|identity)(?: card)? (?:number|no\.?)|tax (?:id|number)
        身份证号?码?|护照号?码?|驾照号?码?|社保号码?|证件号码?""",
    SSN: r"ssn|social security(?: (?:number|no\.?|#))?|social insurance number",
}
_WEAK = {  # these mean other things more often
    PASSWORD: """pw|log[- ]?in|sign[- ]?in|log(?:s|ged)? (?:me |you |us )?in(?:to)?|wi-?fi|wlan|hotspot
        router|登[录陆]|无线网?|开机|热点""",
    PIN: """(?:at|on|into) the (?:gate|door|panel|entrance|lock|intercom)|pins?|codes?|combination|combo
        keypad|padlock|lockbox|vault|safe|unlocks?|opens?|disarms?|alarm|voicemail|解锁|开锁|门锁
        保险[箱柜]|门禁|开门|密码箱|密码锁|取款""",
    API_KEY: "keys?|tokens?|secrets?",
    CARD: "card|visa|mastercard|amex|卡",
}
_OTHERWISE = (  # codes and keys of another kind
    r"zip|area|postal|post|country|dress|promo|discount|source|error|bar|qr|product|airport|booking|coupon"
    r"|status|colou?r"
    r"|morse|exit|tax|class|course|dialling|referral|voucher|flight|gift|item|stock|hex|unicode|http|piano"
    r"|musical|street"
    r"|sd|sim|post|birthday|green|report|score|graphics|business|library|loyalty|membership|public"
)


def _named(prefix: str, table: dict[str, str]) -> str:
    """One group a kind, named after it."""
    return "|".join(
        f"(?P<{prefix}{kind.replace(' ', '_')}>{'|'.join(alternatives(table[kind]))})" for kind in table
    )


LABEL = re.compile(
    rf"(?:(?<![A-Za-z-])|(?=[\u4e00-\u9fff]))(?:{_named('strong_', _STRONG)}"
    rf"|{_named('weak_', _WEAK)})(?:(?<=[^a-z])|(?![A-Za-z]|[-_]\w*\d))",
    re.I,
)
OTHER_LABEL = re.compile(
    rf"(?:\b(?:{_OTHERWISE})[\s-]{{1,2}}|[邮区]|优惠|条形|二维|交通|会员|名|贺|显|打)\Z", re.I
)

_LINKS = (
    "is|was|are|be|been|now|still|currently|just|set|changed|reset|updated|to|as|equals|reads|remains|again"
    "|has|will|it's|that's|i|i've|we|called|then|used"
)
DIRECT = re.compile(
    r"(?:\s{1,3}(?:for|to|of|on|at|in|from|into)(?:\s{1,3}[\w'.@/&-]{1,30}){1,6}?|\s{0,2}\([^()\n]{1,40}\)"
    r"|_[A-Z_]{1,20})?"
    rf"(?:\s{{0,3}}(?:[:=：＝]|->|→)|'s|,?(?:\s{{1,3}}(?:{_LINKS})\b){{1,6}}:?"
    r"|\s{0,3}[我你您他她]?(?:们)?(?:已经|刚刚?|又|被|现在|一直|目前)?(?:改|设|换|设置|更新|修改|重置"
    r"|变)(?:成|为)了?"
    r"|\s{0,3}(?:现在|依然|仍然|目前|一直)?(?:就|还|都|仍|用的)?(?:是|为"
    r"|叫)[:：]?(?:[一二三四五六七八九\d][个位]数?字?)?)\s{0,3}[\"'`“「‘(]?",
    re.I,
)
BESIDE = re.compile(r"\s{0,3}[\"'`“「(]?")
REVERSED = re.compile(
    r"[\"'`”」)!?]{0,2}\s{0,3}(?:,?\s{0,2}(?:is|was|as|are|being|=|for|that's|works as|gets you into"
    r"|lets you into|,)\s{1,3}(?:\w{1,12}(?:'s)?\s{1,3}){0,4}?"
    r"|(?:就?是|为|作为|当)\s?[\w\u4e00-\u9fff]{0,12}?)",
    re.I,
)
ENTERED = re.compile(
    r"(?:\b(?:use|using|typed?(?: in)?|typing|enter|entered|entering|key in|punch(?:ed)? in|dial|press|try"
    r"|input|with|put in|hit)|输入?|按|用|填)\s{0,3}[\"'`“「]?\Z",
    re.I,
)
TOLD = re.compile(
    r"(?:\b(?:is|it's|its|was|are|that's|becomes|to)\s{1,3}|[:=：,，(/—–-]\s{0,3}|[是为叫成])[\"'`“「]?\Z",
    re.I,
)
STOP = re.compile(r"[.!?。！？](?=\s|[\u4e00-\u9fff]|\Z)|\n")
TOLD_NEXT = re.compile(
    r"[^.!?。！？\n]{0,40}[.!?。！？\n]\s{0,3}(?:(?:so |ok |well )?(?:it's|it is|it was|that's|就是|是"
    r"|应该是)\s{0,3})?[\"'`“「]?",
    re.I,
)

PLAIN = frozenset(  # what a password is said to be, rather than is
    """a an the not no too so very in on at to for of by my your his her our their same this that it its
    weak strong wrong right correct incorrect invalid valid safe unsafe secure insecure secret public private
    long short simple easy hard difficult complex unique different old new unknown missing empty blank gone
    required optional needed necessary mandatory important default case never always still just only also
    already somewhere stored kept lost stolen full good bad great fine ok okay okay-ish terrible awful
    something someone anything nothing what which where when why how who like about under inside behind below
    above hidden temporary personal shared sensitive impossible possible password passwords out up here there
    being been be have has had all any some one two both me you us them him enough broken dead set hell
    ridiculous annoying silly stupid dumb funny back done due then and or but if as is was are down slow fast
    free working better worse login username user none open shut closed ready available similar written
    everything everywhere nowhere memorable forgettable obvious""".split()  # noqa: SIM905
)
UNITS = re.compile(
    r"\s?(?:%|(?:years?|months?|weeks?|days?|hours?|minutes?|mins?|seconds?|secs?|times|characters?|chars?"
    r"|digits?|letters?|words?|lines?"
    r"|symbols?|numbers?|percent|dollars?|euros?|pounds?|bucks|people|steps|km|kg|miles|met(?:er|re)s|gb"
    r"|mb|am|pm|o'clock|attempts?"
    r"|tries|users?|accounts?|devices?|pages?|bits?|bytes?)\b|[年月日位个次元岁块楼室天点分条人字遍件种多])",
    re.I,
)
ORDINARY = re.compile(
    r"(?:19|20)\d\d[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:19|20)\d\d"
    r"|\d{1,2}[/.]\d{1,2}[/.]\d\d|\d{1,2}[:：]\d\d(?::\d\d)?(?:am|pm)?|\d{1,2}(?:am|pm)"
    r"|[$€£¥]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[$€£¥]\d[\d.,]*|\d+\.\d+|\d+%|v?\d+(?:\.\d+){1,3}|\d+(?:st|nd"
    r"|rd|th|s|k|x|gb|mb|kb|ghz|mhz|hz|kg|km|cm|mm|min|h|hrs|px|mph|fps)"
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|https?://\S*|www\.\S*|[\w-]+\.(?:com|org|net|io|py|txt|pdf|csv|json|cn"
    r"|md|js|html|env|yml|yaml)\S*"
    r"|(?:iphone|ipad|windows|covid|python|galaxy|pixel|ps|mp|wpa|sha|md|utf|base|web|html|css|http|oauth"
    r"|ipv|level|gate|room|xbox|ios|android)-?\d{1,4}\w?"
    r"|2fa|1password|[\d/.-]{1,2}|2-?step|#\d+|24/7|\d+/\d+|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|[-_.*x•●#]+|\W+",
    re.I,
)
NAMED = re.compile(  # the number of something else
    r"(?:\b(?:flight|room|order|model|version|phone|mobile|call|bus|train|gate|number|extension|ext|page"
    r"|chapter|unit|apartment|apt|floor|year|line"
    r"|since|in|before|after|until|by|error|ticket|ref|reference|invoice|tracking|seat|table|highway|route"
    r"|street|telephone|tel)"
    r"|航班|房间|订单|电话|手机号?|单号|号码|型号)[\s#:：.]{0,3}(?:is\s|no\.?\s|number\s|是)?\Z",
    re.I,
)
SPELLED = (
    r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|double|triple)(?:[\s,-]{1,2}(?:zero|oh|one"
    r"|two|three|four|five|six|seven|eight"
    r"|nine|double|triple)){3,11}\b|[零〇一二三四五六七八九幺]{4,12}"
)
