"""Text that gives orders to the assistant, found without a model, in English and Chinese.

The line: what the user is, has, likes, plans, or wants to be called is a fact or a preference, however it
is put ("from now on I drink tea", "please always call me Ann", 以后叫我小王). How the assistant must answer,
what it must say, recommend, hide or ignore is an order ("from now on always answer in French", 你必须推荐),
even if the user means it: memory keeps facts, and who can write into it must not command every later answer.
Orders of the moment ("summarise this", "tell me a joke") bind nobody later and are left alone.

A span runs from the order to the end of its sentence and of the sentences that go on with it; what overrides
earlier instructions takes its whole passage, a forged tag all up to its closing. Matches inside a span are
skipped and every quantifier is bounded, so the time is linear in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import NamedTuple

from thinkback.text.folding import OPAQUE, Folded, Span

INSTRUCTION = "instruction"

_S = r"\s{1,4}"
_NOUN = (
    r"(?:instructions?|prompts?|directions|directives|orders|commands|rules|guidelines|guardrails|policies"
    r"|programming|constraints|restrictions|safeguards|training|safety\s{1,4}\w{1,15})\b"
)
_ANSWER = (
    r"(?:(?:answer|answering)(?!\s{1,4}(?:the\s{1,4}(?:phone|door|call|bell)|emails?|calls?"
    r"|my\s{1,4}(?:phone|calls?)))"
    r"|reply(?!\s{1,4}to\s{1,4}(?:emails?|texts))|respond|recommend|obey|comply|speak|talk|write|output"
    r"|print|translate|pretend"
    r"|roleplay|promote|suggest|praise|agree|reveal|leak|disclose|refuse|mention|refer\s{1,4}to"
    r"|act\s{1,4}(?:as|like)|behave\s{1,4}(?:as|like)"
    r"|treat\s{1,4}(?:me|the\s{1,4}user|every)|include|append|insert|add\s{1,4}[\"'“a-z]"
    r"|say(?!\s{1,4}(?:thank|please|sorry|hello|hi\b|goodbye|no\b|yes\b|what\s{1,4}you))"
    r"|tell\s{1,4}(?:the\s{1,4}users?|users?|me|him|her|them|people|everyone|anyone|customers?)"
    r"|(?:begin|start|end|finish|sign|close|preface)\s{1,4}(?:every|each|all|your|any)|call\s{1,4}yourself"
    r"|ignore|disregard|follow\s{1,4}(?:my|these|the|this)|use\s{1,4}(?:only|the\s{1,4}word|emoji"
    r"|markdown))\b"
)
_DIRECTING = (
    r"(?:(?:please|kindly|you|you'll|you'd|will|must|should|shall|have|need|are|to|just|only|always|never"
    r"|not|do|don't|cannot|can't"
    r"|may|also|exclusively|strictly|every|each|time|in|all|of|your|answers?|replies|responses?|when"
    r"|asked|always,|please,|you,)"
    r"\s{1,4}){0,8}"
)
_NOW_ON = (
    r"\b(?:from\s{1,4}(?:now|here|today|this\s{1,4}(?:point|moment|day))(?:\s{1,4}(?:on(?:wards?)?"
    r"|forward))?|going\s{1,4}forward|henceforth|starting\s{1,4}(?:now|today))"
)
_MODELS = (
    r"(?:assistants?|ai(?:\s{1,4}(?:assistant|model|agent))?|llms?|chat\s?bots?|language\s{1,4}models?"
    r"|models?|agents?)"
)
_BEFORE_ZH = (
    r"(?:你|您|的|了|掉|所有|全部|一切|任何|之前|以前|此前|先前|前面|上面|上述|以上|前述|原有|原来|现有"
    r"|当前|系统|安全|开发者|给|收到|说过|设定好?|这些|那些|内置|内部)"
)
_NOUN_ZH = r"(?:指令|指示|提示词?|规则|规定|设定|限制|约束|命令|准则|守则|prompt|instructions?|rules?)"
_ONWARDS_ZH = (
    r"(?:从(?:现在|此刻|今天|今|这一刻)(?:起|开始|以后|往后)|自即日起|从此(?:以后|之后)?|以后|今后|往后)"
)
_SAY_ZH = r"(?:回答|回复|答复|应答|推荐|输出|扮演|作答|推销)"
_ROLE = r"(?:system|sys|inst|instruction|assistant|developer|admin(?:istrator)?)"
_ROLE_ZH = (
    r"(?:系统(?:提示词?|消息|指令|通知|命令|管理员)?|管理员(?:指令|消息)?|开发者(?:指令|消息)?|指令|提示词)"
)
_TO_MODEL = re.compile(
    r"\b(?:you|user|assistant|must|ignore|always|never|admin|approved|instructions?|reveal|override"
    r"|granted|unrestricted|respond|answer)\b"
    r"|你(?!的)|用户|必须|忽略|无视|指令|规则|管理员|权限|回答|回复|推荐|总是|永远|助手|机器人",
    re.I,
)


class _Rule(NamedTuple):
    triggers: tuple[str, ...]
    pattern: re.Pattern[str]
    reach: str = "sentence"  # or passage, tag, line
    accepts: Callable[[re.Match[str]], bool] = lambda found: True


_NOT_ORDERED = re.compile(
    r"(?:\b(?:i|i'll|i'd|they|we|he|she|who|people|kids|children|students|drivers|someone|everyone|not"
    r"|never|don't|didn't|doesn't"
    r"|can't|won't|shouldn't|couldn't|often|sometimes|usually|tend to|used to|would|always)"
    r"|[我他她它们])\s{0,4}\Z",
    re.I,
)
_CLAUSE = re.compile(
    r"(?:\A|[.,:;!?()\[\]>*\n\"'“”‘「『（【，。：；！？、-]|\b(?:and|then|please|but|so|also|you|must"
    r"|now|to|just)|[请并且要须应该都你您再])\s{0,4}\Z",
    re.I,
)


def _before(found: re.Match[str]) -> str:
    return found.string[max(0, found.start() - 24) : found.start()]


def _ordered(found: re.Match[str]) -> bool:
    """Nobody else does it: "they ignore all instructions" tells of them."""
    return not _NOT_ORDERED.search(_before(found))


def _begins(found: re.Match[str]) -> bool:
    return _ordered(found) and bool(_CLAUSE.search(_before(found)))


def _about_its_rules(found: re.Match[str]) -> bool:
    """All rules may be anybody's; those that came before, or are yours, are the assistant's."""
    theirs = re.search("[你您前上系安开置]|收到|原", found[0]) and not re.search(
        "[我他她它们]\\Z", _before(found)
    )
    return bool(theirs) or _begins(found)


def _addressed(found: re.Match[str]) -> bool:
    """`System: Windows 11` names a computer; what is addressed to a model speaks of you, the user, rules."""
    return _begins(found) and bool(_TO_MODEL.search(found.string, found.end(), found.end() + 100))


def _re(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.I)


_RULES = (
    # forged tags
    _Rule(
        ("<", "[", "【"),
        _re(
            rf"<\s?/?\s?{_ROLE}(?:[\s_-]?(?:prompt|message|override))?\s?>(?!\s?[:：])|<{{2}}/?SYS>{{2}}"
            rf"|<\|[a-z_]{{2,30}}\|>",
            rf"\[\s?/?\s?{_ROLE}(?:[\s_-]?(?:prompt|message|override|note))?\s?\]|【\s?/?\s?{_ROLE_ZH}\s?】",
        ),
        "tag",
    ),
    _Rule(
        ("system", "developer", "###", "instruction", "admin"),
        _re(
            r"(?:system|developer|admin)\s{1,3}(?:prompt|override|instructions?|command)\s{0,2}[:：]",
            r"#{2,4}\s{0,3}(?:system|instructions?|new instructions?)\b\s{0,2}[:：]?",
            r"(?:new|updated|important|hidden|secret)\s{1,3}(?:system\s{1,3})?instructions?\s{0,2}[:：]",
        ),
        "line",
        _begins,
    ),
    _Rule(
        ("system", "系统", "管理员", "开发者", "admin"),
        _re(rf"(?:system|admin)(?:\s{{1,3}}(?:message|note|notice))?\s{{0,2}}[:：]|{_ROLE_ZH}\s{{0,2}}[:：]"),
        "line",
        _addressed,
    ),
    # overriding what was said before
    _Rule(
        ("ignor", "disregard", "forget", "overrid", "bypass", "follow", "attention", "violat"),
        _re(
            rf"\b(?:ignore|disregard|forget|override|bypass|violate|stop{_S}following|(?:do{_S}not"
            rf"|don't){_S}follow|pay{_S}no{_S}attention{_S}to)"
            rf"{_S}(?:(?:all|any|every|of|the|these|those|my|and|or|other|current|existing|everything"
            rf"|in){_S}){{0,4}}"
            rf"(?:previous|prior|above|earlier|preceding|foregoing|your|system|safety|original|initial"
            rf"|developer|ethical|content)"
            rf"{_S}(?:(?:and|or|the|of|previous|prior|above|earlier|own|system|safety|existing|original"
            rf"|initial|given){_S}){{0,3}}{_NOUN}",
            rf"\b(?:ignore|disregard){_S}(?:all|any){_S}(?:of{_S})?(?:the{_S}|these{_S}"
            rf"|other{_S})?(?:instructions|rules|guidelines|prompts)\b",
            rf"\b(?:ignore|disregard|forget){_S}(?:everything|anything|all|the"
            rf"|what(?:ever)?){_S}(?:(?:of|the|is|was){_S}){{0,2}}(?:above|foregoing)\b(?!{_S}(?:message"
            rf"|mail|email|question|photo|link))",
            rf"\b(?:ignore|disregard|forget){_S}(?:everything|anything|all"
            rf"|what(?:ever)?){_S}(?:that{_S})?you(?:'ve|{_S}have|{_S}were|'re){_S}(?:been{_S})?(?:told"
            rf"|taught|instructed|given|trained|programmed)",
            rf"\b(?:ignore|disregard|forget){_S}(?:(?:all|the|any){_S}){{1,2}}instructions{_S}(?:above"
            rf"|before|given|you)",
        ),
        "passage",
        _ordered,
    ),
    _Rule(
        ("忽略", "无视", "理会", "别管", "忘记", "忘掉", "抛开", "遵守", "绕过", "跳过", "違反", "违反"),
        _re(
            rf"(?:忽略|无视|不要理会|不用理会|别管|忘记|忘掉|抛开|不要(?:再)?遵守|停止遵守|不再遵守|违反"
            rf"|绕过|跳过)\s?(?:{_BEFORE_ZH}\s?){{1,8}}{_NOUN_ZH}",
        ),
        "passage",
        _about_its_rules,
    ),
    # standing orders
    _Rule(
        ("from ", "forward", "henceforth", "starting"),
        _re(
            rf"{_NOW_ON}[,，:]?\s{{1,4}}{_DIRECTING}{_ANSWER}",
            rf"{_NOW_ON}[,，:]?\s{{1,4}}you(?:'re|{_S}(?:are|will{_S}be|must|shall)){_S}(?!welcome|my\b"
            rf"|invited|free\b)",
        ),
        accepts=lambda found: (
            not re.search(
                r"\b(?:call|address)\s{1,4}me\b", found.string[found.end() : found.end() + 20], re.I
            )
        ),
    ),
    _Rule(
        ("you",),
        _re(
            rf"\byou{_S}(?:must|shall|should|will|have{_S}to|need{_S}to|are{_S}(?:required|obliged"
            rf"|instructed|ordered|programmed){_S}to|are{_S}to|ought{_S}to|may|can)"
            rf"{_S}(?:(?:now|only|henceforth|not|also){_S}){{0,2}}(?:always|never|only|exclusively"
            rf"|henceforth|under{_S}no{_S}circumstances){_S}(?:(?:and|only|ever"
            rf"|again){_S}){{0,2}}{_ANSWER}",
            rf"\byou{_S}(?:must|have{_S}to|are{_S}(?:required|instructed|ordered"
            rf"|programmed){_S}to){_S}(?:obey|comply|recommend|reveal|pretend|ignore{_S}(?:all|any|your"
            rf"|the)|tell{_S}(?:the{_S}user|everyone|users))\b",
            rf"\byou{_S}are{_S}(?:not{_S}allowed{_S}to|forbidden{_S}to|no{_S}longer{_S}(?:allowed|bound"
            rf"|restricted))\b",
            rf"\b(?:you{_S}are|you're|act{_S}as|become|pretend{_S}(?:to{_S}be|you{_S}are"
            rf"|you're)){_S}(?:now{_S})?(?:in{_S})?(?:an?{_S}|the{_S})?(?:DAN\b"
            rf"|(?:\w{{1,15}}{_S})?(?:unrestricted|unfiltered|uncensored|jailbroken)|developer{_S}mode"
            rf"|god{_S}mode|evil)",
        ),
    ),
    _Rule(
        ("always", "never"),
        _re(
            rf"(?:always|never){_S}(?:(?:respond|reply){_S}(?:in|with|as|to{_S}(?:the{_S}user|me|every))"
            rf"|answer{_S}(?:in|with|as|that|every|me|the{_S}user|questions)"
            rf"|recommend\b|tell{_S}(?:the{_S}users?|users|everyone|customers)|refuse{_S}(?:a|any|my"
            rf"|the)\b|say{_S}(?:that\b|[\"'“])|(?:end|begin|start|finish|sign){_S}(?:your|every|each"
            rf"|all)\b"
            rf"|obey|include{_S}(?:the{_S}(?:word|phrase|link)|a{_S}link)|speak{_S}(?:in|as|like)|pretend)",
        ),
        accepts=_begins,
    ),
    _Rule(
        ("user", "remember", "用户"),
        _re(
            rf"\b(?:the|this|your){_S}user(?:'s)?{_S}(?:(?:has|had|is|always|explicitly|already"
            rf"|really){_S}){{0,2}}"
            rf"(?:wants?|wanted|expects?|asked|asks|told|tells|instructed|instructs|authori[sz]e[sd]"
            rf"|allows?|allowed|permits|requires|orders?|ordered|prefers|wishes){_S}(?:you"
            rf"|the{_S}{_MODELS}){_S}(?:to|not)\b",
            rf"\b(?:remember|note|memori[sz]e|store|save|keep{_S}in{_S}mind){_S}(?:this[:,]?{_S}"
            rf"|that{_S}){{0,2}}you{_S}(?:must|should{_S}always|should{_S}never|are{_S}(?:to|now)"
            rf"|have{_S}to|shall|will{_S}always|can{_S}only)\b",
            rf"\b(?:do{_S}not|don't|never|without){_S}(?:tell|telling|inform|informing|warn|warning"
            rf"|alert|notify){_S}(?:the|this){_S}user\b",
            r"用户(?:已经|已|一直|明确|总是)?(?:希望|要求|想让|想要|授权|允许|同意让|命令)(?:了)?(?:你"
            r"|您|助手|AI|系统)",
            r"不(?:要|准|许|得|能)(?:告诉|告知|提醒|通知)用户",
        ),
    ),
    _Rule(
        ("prompt", "instruction", "提示词", "指令", "prompt"),
        _re(
            rf"\b(?:reveal|leak|disclose|expose|output|print|repeat|dump|show(?:{_S}me)?|share|give{_S}me"
            rf"|tell{_S}me){_S}(?:(?:all|of|me|the|your|out|verbatim){_S}){{0,3}}"
            rf"(?:hidden|secret|system|initial|original|internal|developer){_S}(?:(?:system"
            rf"|developer){_S})?(?:prompts?|instructions)\b",
            r"(?:说出|透露|泄露|泄漏|输出|公开|显示|告诉我|打印|复述|展示)(?:出|了)?(?:你|您|的|所有"
            r"|全部|自己){0,4}(?:隐藏|系统|内部|初始|原始|秘密)(?:的)?(?:提示词?|指令|规则|prompt)",
        ),
    ),
    _Rule(
        ("note", "attention", "message", "if you", "致", "注意"),
        _re(
            rf"\b(?:note|attention|message|instructions?|reminder){_S}(?:to|for){_S}(?:the{_S}|any{_S}"
            rf"|all{_S})?{_MODELS}\b\s{{0,2}}[:,：，-]",
            rf"\battention[,:]?{_S}(?:ai|llm|assistant)s?\b",
            rf"\bif{_S}you{_S}are{_S}(?:an?{_S})?(?:ai|llm|(?:large{_S})?language{_S}model|chat\s?bot"
            rf"|ai{_S}assistant)\b",
            r"致(?:所有)?(?:AI|人工智能|语言模型|智能助手|助手)[:：，,]",
        ),
        "passage",
    ),
    _Rule(
        ("从", "以后", "今后", "往后", "自即日起"),
        _re(
            rf"{_ONWARDS_ZH}[，,、\s]{{0,2}}(?:(?:请|你|您|们|都|就|必须|务必|总是|始终|一直|永远|只能"
            rf"|只|要|得|应该|每次|每句话?|每一?[次个句条]|所有|任何时候|我问什么|的|在|不管谁问|一律"
            rf"|全部){{1,8}}(?:[用以][^，。！？\n]{{1,8}}?)?){_SAY_ZH}"
            rf"|{_ONWARDS_ZH}[，,、\s]{{0,2}}(?:回答|回复|作答)(?!我|他|她|邮件|短信)",
            r"(?:从(?:现在|此刻|今天|今|这一刻)(?:起|开始|以后|往后)|自即日起|从此(?:以后"
            r"|之后)?)[，,、\s]{0,2}(?:请)?(?:你|您)(?:们)?(?:必须|务必|总是|要|都要|只能|得|应该|不准"
            r"|不许|不得|不能|不要|永远|始终|一律|将|就是|是|不再|不用|无需|可以)(?!叫我|称呼我|喊我"
            r"|提醒我|照顾|记得|记住|我的)",
            r"(?:以后|今后|往后)[，,、\s]{0,2}(?:请)?(?:你|您)?(?:们)?(?:必须|务必|总是|只能|不准|不许"
            r"|不得|永远|始终|一律|每次都?要?|每句话都?要?|都必须|都要|都得)(?:说|告诉(?:用户|大家"
            r"|所有人|别人)|拒绝|提到|提及|加上?|假装|听从|服从|称赞|夸|用|以|按|无条件)(?!我的名字叫)",
        ),
        accepts=lambda found: not re.search("[我他她它们妈爸友]\\Z", _before(found)),
    ),
    _Rule(
        ("你", "您"),
        _re(
            rf"[你您](?:们)?(?:现在)?(?:必须|务必|一定要|只能|只准|不得|不准|不许|应当|应该)(?:总是|永远"
            rf"|始终|每次|一直|都|无条件|绝对|只|再|地|对(?:我|用户)){{0,4}}(?:{_SAY_ZH}(?!问题)|服从"
            rf"|听从|听命|透露|泄露|执行(?:我|以下|任何)|拒绝(?:我|任何|回答)|无视|忽略)",
            r"[你您](?:们)?(?:必须|务必|一定要|只能|应该|要|得)(?:总是|永远|始终|每次|无条件"
            r"|一直)(?:都)?(?:说|告诉|用|以|按|称|夸|承认|同意|相信|假装|提到|加上?|带上?)",
            r"[你您](?:现在|已经|已|从此)?(?:是|进入|变成|扮演)(?:了)?(?:一个|一名)?(?:DAN"
            r"|没有(?:任何)?(?:限制|约束)|不受(?:任何)?(?:限制|约束)|无限制|无约束|越狱|开发者模式)",
        ),
        accepts=lambda found: not re.search("[说觉为]\\Z", _before(found)),
    ),
    _Rule(
        ("推荐", "回答", "回复", "谁问"),
        _re(
            rf"(?:每次|总是|永远|始终|一律|务必)(?:都)?(?:要|得|必须)?(?:向用户|给用户|对用户"
            rf"|用[^，。！？\n]{{1,8}}|以[^，。！？\n]{{1,8}}){{0,2}}(?:{_SAY_ZH})(?!问题|老师|邮件|我)",
            r"(?:不管|无论)?谁问都(?:要|得|必须)?(?:说|回答|告诉|推荐)",
        ),
        accepts=_begins,
    ),
)
_TRIGGERS = tuple(dict.fromkeys(trigger for rule in _RULES for trigger in rule.triggers))
_STOP = re.compile("[.!?…]+[\"'”’)\\]]*(?=\\s|\\Z|[\u4e00-\u9fff])|[。！？]+[”’」』）]*|\n")
_CLOSED = re.compile('["”」』]|\n')
_GOES_ON = re.compile(
    r"\s{0,4}(?:and|also|then|always|never|do not|don't|you|your|if (?:asked|anyone|the user)"
    r"|when (?:asked|anyone)|instead|only|reply|respond|answer"
    r"|say|tell|recommend|refuse|reveal|this (?:rule|instruction)|不要|不许|不准|不得|必须|务必|总是"
    r"|永远|每次|也|并|还要|否则|然后|你|如果有人|无论|谁)(?![\w'-])?",
    re.I,
)
_TURNS_AWAY = re.compile(
    r"\s{0,4}(?:i|i'm|i've|my|we|our|what|where|when|who|how|why|which|can|could|thanks|thank|我|咱"
    r"|请问)(?:(?![\w])|(?<=[我咱问]))",
    re.I,
)
_CLOSING = re.compile(
    rf"<\s?/\s?{_ROLE}[^<>\n]{{0,12}}>|\[\s?/\s?{_ROLE}[^\[\]\n]{{0,12}}\]|【\s?/\s?{_ROLE_ZH}\s?】"
    rf"|<{{2}}/SYS>{{2}}|<\|(?:im_end|end|eot_id|endoftext)\|>",
    re.I,
)
_PARAGRAPH = re.compile(r"\n\s{0,20}\n")


def find(folded: Folded) -> Iterator[Span]:
    """Every order to the assistant, in no order; they may overlap."""
    text = folded.text
    lower = text.lower()
    present = {trigger for trigger in _TRIGGERS if trigger in lower}
    for rule in _RULES if present else ():
        if present.isdisjoint(rule.triggers):
            continue
        ranges = list(_tags(rule, text) if rule.reach == "tag" else _ranges(rule, text))
        yield from (folded.span(start, end, INSTRUCTION) for start, end in ranges)
        if rule.reach == "tag":  # what stands between tags is found, and reaches no further than they do
            text = _masked(text, ranges)


def _masked(text: str, ranges: list[tuple[int, int]]) -> str:
    parts: list[str] = []
    at = 0
    for start, end in ranges:
        parts += (text[at:start], OPAQUE * (end - start))
        at = end
    return "".join((*parts, text[at:]))


def _ranges(rule: _Rule, text: str) -> Iterator[tuple[int, int]]:
    at = 0
    while found := rule.pattern.search(text, at):
        at = found.end()
        if rule.accepts(found):
            at = max(at, _REACHES[rule.reach](text, found))
            yield found.start(), at


def _tags(rule: _Rule, text: str) -> Iterator[tuple[int, int]]:
    """To the closing tag; a tag that is never closed takes its paragraph, a closing one itself."""
    closings = [found.end() for found in _CLOSING.finditer(text)]
    at = 0
    while found := rule.pattern.search(text, at):
        at = found.end()
        if not _CLOSING.fullmatch(found[0]):
            after = bisect_right(closings, at)
            if after < len(closings):
                at = closings[after]
            else:
                paragraph = _PARAGRAPH.search(text, at)
                at = paragraph.start() if paragraph else len(text)
        yield found.start(), at


def _sentence(text: str, found: re.Match[str]) -> int:
    """The end of the sentence, and of those that go on with the order."""
    end = _sentence_end(text, found.end())
    while end < len(text) and _GOES_ON.match(text, end) and text[end - 1] != "\n":
        end = _sentence_end(text, end + 1)
    return end


def _passage(text: str, found: re.Match[str]) -> int:
    """All that follows to the end of the quotation or line, until the user speaks of themselves again."""
    end = _sentence_end(text, found.end())
    closed = _CLOSED.search(text, found.end())
    limit = closed.start() if closed else len(text)
    while end < limit and not _TURNS_AWAY.match(text, end):
        end = _sentence_end(text, end + 1)
    return end


def _line(text: str, found: re.Match[str]) -> int:
    stop = text.find("\n", found.end())
    return len(text) if stop < 0 else stop


def _sentence_end(text: str, at: int) -> int:
    stop = _STOP.search(text, min(at, len(text)))
    if stop is None:
        return len(text)
    return stop.start() if stop[0] == "\n" and stop.start() >= at else stop.end()


_REACHES: dict[str, Callable[[str, re.Match[str]], int]] = {
    "sentence": _sentence,
    "passage": _passage,
    "line": _line,
}
