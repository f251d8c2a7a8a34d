"""Labels of secrets ("password", 验证码), how words link them to values, and values that are no secrets."""

from __future__ import annotations

import re

from thinkback.language.safety.normalise import split_alternatives
from thinkback.language.safety.secret_kinds import (
    ACCOUNT,
    API_KEY,
    CARD,
    IDENTITY,
    PASSWORD,
    PIN,
    SSN,
)

PHRASE = "phrase"  # labels of values with several words

_STRONG_LABELS = {
    PHRASE: "(?:seed|recovery|mnemonic|backup|secret) (?:phrase|words)|passphrases?|mnemonic|助记词",
    PASSWORD: r"""pass[\s_-]?words?|passwd|pass[\s_-]?codes?|pwd|pass(?=\s?[:=])
        (?:login|account|sign-?in|access) (?:details|info|information|data|credentials)|credentials
        (?:wi-?fi|login|email|account|my|the|admin) (?:pw|pass)|密[码碼](?!学|本|锁|箱|管|保护)|口令
        (?:[\w-]{2,20}-)?(?:passw[oö]rt|kennwort)(?:es|s)?|mots? de passe|mdp|passes(?=\s?[:=])
        提取码|(?:登录|解锁|开机|通行|授权)码|(?:安全问题|密保问题?)的?答案?""",
    PIN: r"""pin[ -]?(?:code|number|no\.?)|cvv2?|cvc2?|otp|2fa(?: code)?|passkey
        (?:verification|security|one[- ]?time|door|gate|alarm|access|entry|entrance|safe|unlock|auth|
            authentication) (?:code|pin)|(?:voicemail|card|bank|atm|sim|phone) (?:code|pin)
        (?:login|backup|garage|locker|lock|keypad|sms|confirmation|lockbox|intercom|reset|
            activation) (?:code|pin|combination)|(?:lock|safe|locker|padlock|vault) (?:combination|combo)
        digicode|t[üu]rcode|alarmcode|zahlenkombination|pr[üu]fziffer|cryptogramme
        code (?:de |du |d'|der |des |de la |de l'|aus der )\w{1,12}(?: (?:bleue|bancaire))?
        code re[cç]u(?: par sms)?|verification number|code der \w{1,14}|警报码|背面[三3]码
        验证码|校验码|安全码|pin码|动态码|动态口令|门禁码|激活码|解锁码|开锁码|取款码""",
    API_KEY: r"""(?:api|access|secret|private|encryption|licen[cs]e|signing|master)[\s_-]?keys?(?:_?id)?
        (?:access|auth|api|bearer|refresh|bot|secret|session|personal)[\s_-]?tokens?
        cl[ée] (?:api|secr[èe]te|priv[ée]e)|(?:api|geheim|zugangs)-?schl[üu]ssel|recovery key|auth[\s_]?token
        client[\s_-]?secret|bearer|密钥|秘钥|密匙|令牌|私钥""",
    CARD: r"""card (?:number|no\.?|#)|(?:credit|debit|bank) card|carte (?:bleue|bancaire|de cr[ée]dit)
        (?:ec|kredit|bank)-?karte(?:nnummer)?|提款卡号?|银行卡号?|信用卡号?|卡号""",
    ACCOUNT: r"account (?:number|no\.?|#)|iban|routing number|sort code|(?:银行)?[账帐]号",
    IDENTITY: r"""passport(?: (?:number|no\.?|#))?|driv(?:er'?s|ing) licen[cs]e(?: (?:number|no\.?))?
        steuer-?(?:id|nummer|identifikationsnummer)|sozialversicherungsnummer|(?:personal)?ausweis(?:nummer)?
        reisepass(?:nummer)?|num[ée]ro de (?:s[ée]curit[ée] sociale|s[ée]cu)|passeport
        medicare(?: (?:number|no\.?))?
        health insurance number|nhs number|医保号|身分证字?号?|国民身分证
        national (?:id|insurance)|(?:id|identity)(?: card)? (?:number|no\.?)|tax (?:id|number)
        身份证号?码?|护照号?码?|驾照号?码?|社保号码?|证件号码?""",
    SSN: r"ssn|social security(?: (?:number|no\.?|#))?|social insurance number",
}
_WEAK_LABELS = {  # words that usually mean something else
    PASSWORD: """pw|log[- ]?in|sign[- ]?in|log(?:s|ged)? (?:me |you |us )?in(?:to)?|wi-?fi|wlan|hotspot
        router|登[录陆入]|无线网?|开机|热点|路由器|后台|网银|网络银行
        netflix|spotify|hulu|disney|steam|smtp|imap|视频会员|微博|淘宝""",
    PIN: """(?:at|on|into) the (?:gate|door|panel|entrance|lock|intercom)|pins?|codes?|combination|combo
        keypad|padlock|lockbox|vault|safe|unlocks?|opens?|disarms?|alarm|voicemail|解锁|开锁|门锁
        保险[箱柜]|门禁|开门|密码箱|密码锁|取款|取钱|提款机|柜员机
        atm|cash ?(?:machine|point)|at the machine
        (?:bike )?shed|barrier|turnstile|mailbox|闸口|车库|地库|信箱|柜台|存折|储物柜|快递柜
        (?:bank|geld)automat(?:en)?|distributeur|portail|haust[üu]r|tresor|coffre|fahrradschloss|alarmanlage|alarme|locker|garage""",
    API_KEY: "keys?|tokens?|secrets?",
    CARD: "card|visa|mastercard|amex|卡",
}
OTHER_LABEL_WORDS = (  # codes, keys and cards that are no secrets
    r"zip|area|postal|post|country|tracking|parcel|shipping|shipment|delivery|order|invoice|reservation|batch|lot"
    r"|part|case|claim|registration|dress|promo|discount|source|error|bar|qr|product|airport|booking|coupon"
    r"|status|colou?r"
    r"|morse|exit|tax|class|course|dialling|referral|voucher|flight|gift|item|stock|hex|unicode|http|piano"
    r"|musical|street"
    r"|sd|sim|post|birthday|green|report|score|graphics|business|library|loyalty|membership|public"
)


def _named_groups(prefix: str, table: dict[str, str]) -> str:
    """One named group per kind of secret."""
    return "|".join(
        f"(?P<{prefix}{kind.replace(' ', '_')}>{'|'.join(split_alternatives(table[kind]))})" for kind in table
    )


LABEL = re.compile(
    rf"(?:(?<![A-Za-z-])|(?=[\u4e00-\u9fff]))(?:{_named_groups('strong_', _STRONG_LABELS)}"
    rf"|{_named_groups('weak_', _WEAK_LABELS)})(?:(?<=[^a-z])|(?![A-Za-z]|[-_]\w*\d))",
    re.I,
)
OTHER_LABEL = re.compile(
    rf"(?:\b(?:{OTHER_LABEL_WORDS})[\s-]{{1,2}}|邮|优惠|条形|二维|交通|会员|名|贺|显|打)\Z", re.I
)

_LINK_WORDS = (
    "is|was|are|be|been|now|still|currently|just|set|changed|reset|updated|to|as|equals|reads|remains|again"
    "|has|will|it's|that's|i|i've|we|called|then|used|ist|lautet|war|jetzt|est|c'est|[ée]tait|sont"
)
LABEL_LINK = re.compile(
    r"(?:\s{1,3}(?:for|to|of|on|at|in|from|into)(?:\s{1,3}[\w'.@/&-]{1,30}){1,6}?|\s{0,2}\([^()\n]{1,40}\)"
    r"|_[A-Z_]{1,20})?"
    rf"(?:\s{{0,3}}(?:[:=：＝]|->|→)|'s|,?(?:\s{{1,3}}(?:{_LINK_WORDS})\b){{1,6}}:?"
    r"|\s{0,3}[我你您他她]?(?:们)?(?:已经|刚刚?|又|被|现在|一直|目前)?(?:改|设|换|设置|更新|修改|重置"
    r"|变)(?:成|为)了?"
    r"|\s{0,3}(?:现在|依然|仍然|目前|一直)?(?:就|还|都|仍|用的)?(?:是|为"
    r"|叫)[:：]?(?:[一二三四五六七八九\d][个位]数?字?)?)\s{0,3}[\"'`“「‘(]?",
    re.I,
)
ADJACENT = re.compile(r"\s{0,3}[\"'`“「(]?")
LABEL_LINK_REVERSED = re.compile(
    r"[\"'`”」)!?]{0,2}\s{0,3}(?:,?\s{0,2}(?:is|was|as|are|being|=|for|that's|works as|gets you into"
    r"|lets you into|,)\s{1,3}(?:\w{1,12}(?:'s)?\s{1,3}){0,4}?"
    r"|(?:就?是|为|作为|当)\s?[\w\u4e00-\u9fff]{0,12}?)",
    re.I,
)
ENTER_VERB_BEFORE = re.compile(
    r"(?:\b(?:use|using|typed?(?: in)?|typing|enter|entered|entering|key in|punch(?:ed)? in|dial|press|try"
    r"|input|with|put in|hit|takes|wants|needs|asks for|accepts|plus|followed by"
    r"|gebe ich|tippe ich|je (?:fais|tape|compose))|(?:输入?|按|用|填|打|敲|报|转|划)(?:的(?:就?是)?)?"
    r"(?:[一二三四五六七八九\d]位数?字?)?)\s{0,3}[\"'`“「]?\Z",
    re.I,
)
INTRODUCED_BEFORE = re.compile(
    r"(?:\b(?:is|it's|its|was|are|that's|becomes|to)\s{1,3}|[:=：,，(/—–-]\s{0,3}|[是为叫成])[\"'`“「]?\Z",
    re.I,
)
SENTENCE_BREAK = re.compile(r"[.!?。！？](?=\s|[\u4e00-\u9fff]|\Z)|\n")
NEXT_SENTENCE_LINK = re.compile(
    r"[^.!?。！？\n]{0,40}[.!?。！？\n]\s{0,3}(?:(?:so |ok |well )?(?:it's|it is|it was|that's|就是|是"
    r"|应该是)\s{0,3})?[\"'`“「]?",
    re.I,
)

ORDINARY_WORDS = frozenset(  # words after "my password is" that are not the password
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
    everything everywhere nowhere memorable forgettable obvious ask asks wants needs requires prompts looks
    begs calls checks waits""".split()  # noqa: SIM905
)
_PLACEHOLDER = (  # what stands for a value in an example
    r"(?:your|insert|enter|paste|replace)[-_ ]?"
    r"(?:(?:your|the|own|new|real|api|secret|access|auth|client|private|bot|app|user|admin|database|db|with)"
    r"[-_ ]?){0,4}"
    r"(?:key|token|password|passwd|secret|pass|pwd|here)(?:[-_ ]?(?:here|value))?"
    r"|change[-_]?(?:me|it|this)|replace[-_]?me|placeholder|redacted|x{3,}"
    r"|(?:请|在这里|在此处?|这里)?(?:填写?|输|写|换|粘贴|替换)[入上成为]{0,2}(?:你|您|自己)的?[\w]{0,8}"
    r"|(?:你|您|自己)的\w{0,6}(?:密[钥码]|口令|令牌)"
    r"|(?:dein|ihr)[-_ ]?(?:\w{1,12}[-_ ]?)?(?:schl[üu]ssel|passwort|token)"
    r"|(?:votre|ta|ton)[-_ ](?:cl[ée]|mot|jeton)\w{0,20}"
)
PLACEHOLDER = re.compile(_PLACEHOLDER, re.I)
UNIT_AFTER = re.compile(
    r"\s?(?:%|(?:years?|months?|weeks?|days?|hours?|minutes?|mins?|seconds?|secs?|times|characters?|chars?"
    r"|digits?|letters?|words?|lines?"
    r"|symbols?|numbers?|possible|combinations?|kombinationen|combinaisons|percent|dollars?|euros?|pounds?|bucks|people|steps|km|kg|miles|met(?:er|re)s|gb"
    r"|mb|am|pm|o'clock|attempts?"
    r"|tries|users?|accounts?|devices?|pages?|bits?|bytes?|messages?|photos?|members?|visitors?|kilos?|nachrichten|mitglieder|fotos|membres)\b|[年月日位个次元岁块楼室天点分条人字遍件种多])",
    re.I,
)
ORDINARY_VALUE = re.compile(
    r"(?:1[89]|20)\d\d[-–](?:1[89]|20)?\d\d|(?:19|20)\d\d[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:19|20)\d\d"
    r"|\d{1,2}[/.]\d{1,2}[/.]\d\d|\d{1,2}[:：]\d\d(?::\d\d)?(?:am|pm)?|\d{1,2}(?:am|pm)"
    r"|[$€£¥]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[$€£¥]\d[\d.,]*|\d+\.\d+|\d+%|v?\d+(?:\.\d+){1,3}|\d+(?:st|nd"
    r"|rd|th|s|k|x|gb|mb|kb|ghz|mhz|hz|kg|km|cm|mm|min|h|hrs|px|mph|fps)"
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|https?://\S*|www\.\S*|[\w-]+\.(?:com|org|net|io|py|txt|pdf|csv|json|cn"
    r"|md|js|html|env|yml|yaml)\S*"
    r"|(?:iphone|ipad|windows|covid|python|galaxy|pixel|ps|mp|wpa|sha|md|utf|base|web|html|css|http|oauth"
    r"|ipv|level|gate|room|xbox|ios|android)-?\d{1,4}\w?"
    r"|2fa|1password|[\d/.-]{1,2}|2-?step|#\d+|24/7|\d+/\d+|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|@[\w.-]+(?::\d+)?(?:/\S*)?|(?:\w+\.)+\w+[(\[].*|\w+[(\[][\"')\]].*"  # calls of functions
    r"|[a-z][\w./-]*:latest|(?:alpine|debian|golang|mongo|mysql|nginx|node|php|postgres|python|redis|ruby|ubuntu)"
    r"[\w./-]*:\d{1,2}(?:\.\d+)*(?:-\w+)?"  # images of containers
    rf"|{_PLACEHOLDER}|[-_.*x•●#]+|\W+",
    re.I,
)
OTHER_NUMBER_BEFORE = re.compile(  # "room", "flight", "phone" before a number
    r"(?:\b(?:flight|room|order|model|version|phone|mobile|call|bus|train|gate|number|extension|ext|page"
    r"|chapter|unit|apartment|apt|floor|year|line"
    r"|since|(?<!type )(?<!typed )(?<!typing )(?<!punch )(?<!punched )(?<!key )(?<!keyed )(?<!put )(?<!tap )"
    r"(?<!get )in|before|after|until|by|error|ticket|ref|reference|invoice|tracking|seat|table|highway|route"
    r"|street|telephone|tel)"
    r"|航班|房间|订单|电话|手机号?|单号|号码|型号)[\s#:：.]{0,3}(?:is\s|no\.?\s|number\s|是)?\Z",
    re.I,
)
SPELLED_DIGITS = (
    r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|double|triple)(?:[\s,-]{1,2}(?:zero|oh|one"
    r"|two|three|four|five|six|seven|eight"
    r"|nine|double|triple)){3,11}\b|[零〇一二三四五六七八九幺]{4,12}"
)
