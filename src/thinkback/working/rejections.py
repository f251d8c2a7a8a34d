"""Rejections in a user's words: which option is out, and why; English and Chinese, precision before recall.

A sentence is cut into what is said and the reason given for it ("because ...", "因为……", or what follows the
comma). What is left must be a whole phrase of rejection, so that "she is out" or "不要紧" is none.
"""

from __future__ import annotations

import re

from thinkback.text.scripts import has_han
from thinkback.types import Excluded
from thinkback.working.items import option

LONGEST = 400  # characters of a sentence that is looked at
_WORDS = 8  # of an option in English
_SIGNS = 20  # of an option in Chinese

_REASON = re.compile(
    r"[\s,;:(–—-]*\b(?:because(?: of)?|due to|given that|on account of|the reason is(?: that)?|since"
    r"|as)\s+(?P<why>.+)$"
    r"|\s*(?:[,;:–—]|\s-\s)\s*(?P<then>(?:it|they|that|this|there|he|she|too|way too|much too|we|I|my|our"
    r"|no|not|which)\b.+)$",
    re.I,
)
_ASIDE = re.compile(r"\s*[(（](?P<why>[^()（）]{2,120})[)）]$")
_TOO = re.compile(
    r"^(?P<o>\S.{0,40}?)\s+(?:is|are)\s+(?P<why>(?:far |way |much )?too [^,]{2,60}?),?\s+so\s+(?:no\b"
    r"|(?:it|they)(?:'s|'re| is| are)"
    r" out|(?:let's|we) (?:drop|skip|exclude|forget|rule out|not use|not take)(?: about)? (?:it|them"
    r"|that)).{0,20}$",
    re.I,
)
_REASON_FIRST = re.compile(
    r"^(?:because|since|as|given that)\s+(?P<why>[^,]{3,160}),\s*(?:so\s+)?(?P<said>.+)$", re.I
)
_LEAD = (
    r"(?:(?:and|but|so|also|please|ok|okay|well|then|actually|honestly|no|unfortunately|sorry"
    r"|again)[\s,:]+){0,3}"
)
_WHO = (
    r"(?:(?:let's|let us|i|we)(?:'ll|'d rather| would rather|'d|'ve| will| would| have| can| should| must"
    r"| want to| have to"
    r"| need to| like to)?\s+)?"
)
_OUT = (
    r"(?:out of the question|ruled out|off the table|off the list|excluded|rejected|not an option"
    r"|no option|a no[- ]go"
    r"|a no|no longer an option|not possible|not on the table|no good(?: for (?:me|us))?|not acceptable"
    r"|unacceptable|off[- ]limits|out)"
)
_ENGLISH = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        rf"^{_LEAD}(?P<o>\S.{{0,60}}?)\s*(?:\bis|\bare|'s|\bwas|\bwere|\bhas been|\bhave been)\s+(?:now "
        rf"|definitely |also "
        rf"|already |completely )?(?P<out>{_OUT})$",
        rf"^{_LEAD}{_WHO}(?:rule|ruled|cross|crossed|leave|scratch|scratched)\s+(?:out"
        rf"|off)\s+(?P<o>.{{1,60}})$",
        rf"^{_LEAD}{_WHO}(?:rule|ruled|cross|crossed|take|took)\s+(?P<o>\S.{{0,60}}?)\s+(?:out"
        rf"|off(?: the list)?)$",
        rf"^{_LEAD}{_WHO}(?:exclude|reject|drop|skip|avoid|discard|eliminate|veto"
        rf"|forget about)\s+(?P<o>.{{1,60}})$",
        rf"^{_LEAD}(?:i|we)(?: have|'ve)?\s+(?:already )?(?:excluded|rejected|eliminated|discarded"
        rf"|vetoed)\s+(?P<o>.{{1,60}})$",
        rf"^{_LEAD}(?:i|we)\s+(?:really |definitely |absolutely )?(?:don't|do not|won't|will not|can't"
        rf"|cannot|can not|wouldn't|would not"
        r"|would rather not|'d rather not|refuse to)\s+(?:want(?: to (?:use|have|take|buy|see|go (?:to"
        r"|with|by)|consider|try))?|use"
        r"|consider|accept|go (?:with|for|to)|buy|choose|pick|eat)\s+(?P<o>.{1,60})$",
        rf"^{_LEAD}(?P<o>\S.{{0,60}}?)\s+(?:won't|will not|wouldn't)\s+(?:work|do|fit|suit(?: me"
        rf"| us)?)(?: for (?:me|us|this|that))?$",
        rf"^{_LEAD}(?P<o>\S.{{0,60}}?)\s+(?:doesn't|does not|don't|do not)\s+(?:work|fit"
        rf"|suit) (?:for )?(?:me|us|this)$",
        rf"^{_LEAD}(?:i|we)(?: have|'ve|'m| am|'re| are)?\s+(?:decided )?against\s+(?P<o>.{{1,60}})$",
        rf"^{_LEAD}(?:let's not|let us not|don't|do not|never)\s+(?:use|do|take|get|suggest|recommend"
        rf"|propose|consider"
        rf"|book|buy|choose|pick"
        r"|go (?:with|for|to)|offer me|give me)\s+(?P<o>.{1,60})$",
        rf"^{_LEAD}(?P<o>\S.{{0,60}}?)\s+(?:isn't|aren't)\s+(?:an option|possible|acceptable|on the table)$",
        rf"^{_LEAD}(?:i|we)(?:'m|'re| am| are)? ?(?:not|aren't|won't be|will not be)\s+(?:using"
        rf"|buying|choosing"
        r"|considering|going (?:with|for))\s+(?P<o>.{1,60})$",
        r"^(?P<o>[^:,]{1,40}):\s+(?:out|no|excluded|rejected)$",
        rf"^{_LEAD}no\s+(?P<o>\S.{{0,50}}?),?\s+please$",
        r"^(?:anything but|everything but|definitely not)\s+(?P<o>.{1,60})$",
    )
)
_BARE_NO = re.compile(
    r"(?:^|[,;]\s*(?:but |and )?)(?:no|not)\s+(?:to\s+)?(?P<o>[^,;]{1,50})$", re.I
)  # only where a reason is given
_NO_OPTION = re.compile(
    r"^(?:i|it|that|this|these|those|them|they|he|she|we|you|one|anything|something"
    r"|everything|nothing|who|what"
    r"|there|everyone|everybody|nobody|the (?:sun|moon|power|internet|jury|word)|my \w+|mine|to\b.*"
    r"|sure\b.*|yet\b.*|problem\b.*"
    r"|idea\b.*|thanks?\b.*|worries\b.*|doubt\b.*|wonder\b.*|matter\b.*|way\b.*|need\b.*|really\b.*"
    r"|only\b.*|much\b.*"
    r"|(?:you|him|her|me|us|them|up|but|sir|ma'am|doctor|right)\b.*"
    r"|(?:so|very|too|just|even|always|all|well|bad|here|now)\b.*)$",
    re.I,
)
_SURE_REASON = re.compile(
    r"^[\s,;:(–—-]*(?:because|due to|it|it's|they|they're|that's|too|way too|much too)\b", re.I
)
_PAUSE = re.compile(r"\s*(?:[,;:–—]|\s-\s)\s*")
_CLAUSE_EN = re.compile(
    r"\b(?:is|are|was|were|has|have|had|gets?|costs?|can|can't|cannot|will|won't|needs?|hates?)\b", re.I
)
_SPLIT = re.compile(r"\s*,\s*(?:and |or )?|\s+(?:and|or|nor)\s+", re.I)

_STRONG = (
    "(?:不要|不想要|不用再?考虑|不必再?考虑|不考虑|不会考虑|不再考虑|排除掉?|放弃|否决|去掉|划掉|不接受"
    "|拒绝|不选"
    "|别再?(?:用|选|买|去|推荐|考虑)|不(?:想|打算|准备|能|会)(?:用|买|选|去|要|住|坐|吃))"
)
_CHINESE = (
    re.compile(
        "(?:^|我们?|也|都|就|先|请|所以|那)(?:把|将)(?P<o>.{1,20}?)(?:给)?(?:排除|去掉|划掉|删掉|否决)"
    ),
    re.compile(
        f"^(?:那|所以|我们?|也|就|先|请|还是|已经|决定|暂时|坚决|绝对|一定){{0,4}}{_STRONG}(?:了"
        f"|掉)?(?P<o>.{{1,24}})$"
    ),
    re.compile(
        "^(?P<o>.{1,20}?)(?:就|也|已经|已|都|肯定|绝对){0,2}"
        "(?:不行|不合适|不考虑了?|(?:被(?:我们?|大家)?)?(?:排除掉?|否决)了?|算了|不要了?|出局了?|免谈"
        "|不在考虑(?:范围)?之?内?)$"
    ),
)
_CHINESE_WEAK = re.compile("^(?:我们?|也|就|先|那){0,2}不(?:用|买|去|坐|住|吃|找)(?P<o>.{1,20})$")
_NO_OPTION_ZH = re.compile(
    "^(?:紧|谢|担心|忘|客气|着急|急|怕|误会|难过|生气|这样|那样|这么|那么|说|我|你|您|他|她|它|这|那|了|再"
    "|太|什么|啥|管|想|脸|命|因|可能)"
)
_THIS_ZH = re.compile("[这那](?:个|家|款|种|里|条)?(?:方案|选项|办法)?$")
_BARE_ZH = re.compile("(?:所以|就|那就|因此){0,2}(?:不考虑|排除|不要|算了|放弃)[了它掉]{0,2}$")
_FAULT_ZH = re.compile("(?P<o>.{1,15}?)(?P<why>(?:太|不够|不太|没有?).{1,12})$")
_DONE_ZH = re.compile("(?:因为|由于)(?P<why>.{1,20}?)(?:所以|就|而)?被?(?:排除|否决|放弃)了?$")
_DEGREE = re.compile("那么|这么|那样|这样|太|再|如果|要是|但|可是|却|每次|一直|实在|根本|从|.*得$")
_CLAUSE = re.compile("[，,；;：:]|——|。")
_BECAUSE = re.compile("^(?:因为|由于|毕竟|主要是|原因是|理由是)")
_HEAD_ZH = re.compile("^(?:那么?|还有|至于|这个|那个|用|选择?|买|去|推荐|考虑|任何|再|对于?)")


def rejections(sentence: str, following: str = "") -> list[Excluded]:
    """The options one sentence rejects; `following` is the sentence after it, which may give the reason."""
    text = sentence[:LONGEST].strip().rstrip(".!。！~～ ")
    if text.endswith(("?", "？")):
        return []
    return _chinese(text, following) if has_han(text) else _english(text, following)


def _english(text: str, following: str) -> list[Excluded]:
    said, why = _parted(text)
    found = _phrase(said)
    if found is None and (too := _TOO.match(text)):
        found, why = too, too["why"]
    if found is None and _SURE_REASON.search(text[len(said) :]):
        found = _BARE_NO.search(said)
    if found is None:
        return []
    if not why and re.match(r"(?:it|they|that|this|too|because|the reason)\b", following, re.I):
        why = following.strip()
    if found.groupdict().get("out") == "out" and not why and option(found["o"])[:1].islower():
        return []  # "the cat is out" names nothing we chose among
    names = [option(part) for part in _SPLIT.split(found["o"])]
    good = [name for name in names if name and len(name.split()) <= _WORDS and not _NO_OPTION.match(name)]
    return [Excluded(name, _reason(why)) for name in good]


def _phrase(said: str) -> re.Match[str] | None:
    return next((match for pattern in _ENGLISH if (match := pattern.match(said))), None)


def _parted(text: str) -> tuple[str, str]:
    """What is said, and the reason that is given for it."""
    aside = _ASIDE.search(text)
    if aside:
        return text[: aside.start()], aside["why"]
    first = _REASON_FIRST.match(text)
    if first:
        return first["said"], first["why"]
    found = _REASON.search(text)
    if found is None or not text[: found.start()].strip():
        pause = _PAUSE.search(text)
        if pause and _phrase(text[: pause.start()]) and _CLAUSE_EN.search(text, pause.end()):
            return text[: pause.start()], text[pause.end() :]
        return text, ""
    return text[: found.start()].strip(), found["why"] or found["then"]


def _chinese(text: str, following: str) -> list[Excluded]:
    clauses = [clause.strip() for clause in re.sub("(?<=.)(?=因为|由于|所以)", "，", text).split("，")]
    clauses = [part.strip() for clause in clauses for part in _CLAUSE.split(clause) if part.strip()]
    found: list[Excluded] = []
    for at, clause in enumerate(clauses):
        why = _reason_zh(clauses, at, following)
        body = re.sub("^所以", "", clause)
        if at and (told := _of_the_clause_before(clauses[at - 1], clause)):
            found.append(told)
            continue
        match = next((m for pattern in _CHINESE if (m := pattern.search(body))), None)
        if match is None and why:
            match = _CHINESE_WEAK.match(body)
        if match is None:
            continue
        for part in re.split("[、和与及或]", match["o"]):
            if _DEGREE.match(part.strip()):
                continue
            name = option(_THIS_ZH.sub("", _HEAD_ZH.sub("", part.strip())))
            if name and len(name) <= _SIGNS and not _NO_OPTION_ZH.match(name):
                found.append(Excluded(name, _reason(why)))
    return found


def _of_the_clause_before(before: str, clause: str) -> Excluded | None:
    """X太贵，不考虑: the option and its fault stand before; X因为太贵被排除: the option alone does."""
    if _BARE_ZH.match(clause) and (fault := _FAULT_ZH.match(before)):
        return Excluded(option(fault["o"]), _reason(fault["why"]))
    if (done := _DONE_ZH.match(clause)) and len(before) <= _SIGNS and not _NO_OPTION_ZH.match(before):
        return Excluded(option(before), _reason(done["why"]))
    return None


def _reason_zh(clauses: list[str], at: int, following: str) -> str:
    """因为……, before or after; else the clauses that follow the rejection."""
    given = next((clause for clause in clauses if _BECAUSE.match(clause)), "")
    if given:
        return _BECAUSE.sub("", given)
    rest = [clause for clause in clauses[at + 1 :] if not any(p.search(clause) for p in _CHINESE)]
    if rest:
        return "，".join(rest)
    return following.strip() if re.match("(?:太|它|因为|主要|毕竟|实在)", following) else ""


def _reason(why: str) -> str:
    return " ".join(why.split()).strip(" ,.;。，；)）")
