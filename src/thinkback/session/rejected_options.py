"""Finds the options that a user rejects, with the reason, in English and Chinese sentences.

A sentence is split into a statement and its reason ("because ...", 因为……, or the part after a comma). The
whole statement must match a rejection pattern, so "she is out" and 不要紧 are not rejections: precision
matters more than recall here.
"""

from __future__ import annotations

import re

from thinkback.language.writing_systems import has_han
from thinkback.session.summary_items import extract_option_name
from thinkback.types import ExcludedOption

MAX_SENTENCE_CHARACTERS = 400  # longer sentences are cut
_MAX_OPTION_WORDS = 8  # in English
_MAX_OPTION_CHARACTERS_ZH = 20

_REASON_AFTER = re.compile(
    r"[\s,;:(–—-]*\b(?:because(?: of)?|due to|given that|on account of|the reason is(?: that)?|since"
    r"|as)\s+(?P<why>.+)$"
    r"|\s*(?:[,;:–—]|\s-\s)\s*(?P<then>(?:it|they|that|this|there|he|she|too|way too|much too|we|I|my|our"
    r"|no|not|which)\b.+)$",
    re.I,
)
_REASON_IN_BRACKETS = re.compile(r"\s*[(（](?P<why>[^()（）]{2,120})[)）]$")
_TOO_MUCH_SO_NO = re.compile(
    r"^(?P<o>\S.{0,40}?)\s+(?:is|are)\s+(?P<why>(?:far |way |much )?too [^,]{2,60}?),?\s+so\s+(?:no\b"
    r"|(?:it|they)(?:'s|'re| is| are)"
    r" out|(?:let's|we) (?:drop|skip|exclude|forget|rule out|not use|not take)(?: about)? (?:it|them"
    r"|that)).{0,20}$",
    re.I,
)
_REASON_FIRST = re.compile(
    r"^(?:because|since|as|given that)\s+(?P<why>[^,]{3,160}),\s*(?:so\s+)?(?P<said>.+)$", re.I
)
_START = (
    r"(?:(?:and|but|so|also|please|ok|okay|well|then|actually|honestly|no|unfortunately|sorry"
    r"|again)[\s,:]+){0,3}"
)
_SPEAKER = (
    r"(?:(?:let's|let us|i|we)(?:'ll|'d rather| would rather|'d|'ve| will| would| have| can| should| must"
    r"| want to| have to"
    r"| need to| like to)?\s+)?"
)
_REJECTED = (
    r"(?:out of the question|ruled out|off the table|off the list|excluded|rejected|not an option"
    r"|no option|a no[- ]go"
    r"|a no|no longer an option|not possible|not on the table|no good(?: for (?:me|us))?|not acceptable"
    r"|unacceptable|off[- ]limits|out)"
)
_REJECTIONS_EN = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        rf"^{_START}(?P<o>\S.{{0,60}}?)\s*(?:\bis|\bare|'s|\bwas|\bwere|\bhas been|\bhave been)\s+(?:now "
        rf"|definitely |also "
        rf"|already |completely )?(?P<out>{_REJECTED})$",
        rf"^{_START}{_SPEAKER}(?:rule|ruled|cross|crossed|leave|scratch|scratched)\s+(?:out"
        rf"|off)\s+(?P<o>.{{1,60}})$",
        rf"^{_START}{_SPEAKER}(?:rule|ruled|cross|crossed|take|took)\s+(?P<o>\S.{{0,60}}?)\s+(?:out"
        rf"|off(?: the list)?)$",
        rf"^{_START}{_SPEAKER}(?:exclude|reject|drop|skip|avoid|discard|eliminate|veto"
        rf"|forget about)\s+(?P<o>.{{1,60}})$",
        rf"^{_START}(?:i|we)(?: have|'ve)?\s+(?:already )?(?:excluded|rejected|eliminated|discarded"
        rf"|vetoed)\s+(?P<o>.{{1,60}})$",
        rf"^{_START}(?:i|we)\s+(?:really |definitely |absolutely )?(?:don't|do not|won't|will not|can't"
        rf"|cannot|can not|wouldn't|would not"
        r"|would rather not|'d rather not|refuse to)\s+(?:want(?: to (?:use|have|take|buy|see|go (?:to"
        r"|with|by)|consider|try))?|use"
        r"|consider|accept|go (?:with|for|to)|buy|choose|pick|eat)\s+(?P<o>.{1,60})$",
        rf"^{_START}(?P<o>\S.{{0,60}}?)\s+(?:won't|will not|wouldn't)\s+(?:work|do|fit|suit(?: me"
        rf"| us)?)(?: for (?:me|us|this|that))?$",
        rf"^{_START}(?P<o>\S.{{0,60}}?)\s+(?:doesn't|does not|don't|do not)\s+(?:work|fit"
        rf"|suit) (?:for )?(?:me|us|this)$",
        rf"^{_START}(?:i|we)(?: have|'ve|'m| am|'re| are)?\s+(?:decided )?against\s+(?P<o>.{{1,60}})$",
        rf"^{_START}(?:let's not|let us not|don't|do not|never)\s+(?:use|do|take|get|suggest|recommend"
        rf"|propose|consider"
        rf"|book|buy|choose|pick"
        r"|go (?:with|for|to)|offer me|give me)\s+(?P<o>.{1,60})$",
        rf"^{_START}(?P<o>\S.{{0,60}}?)\s+(?:isn't|aren't)\s+(?:an option|possible|acceptable|on the table)$",
        rf"^{_START}(?:i|we)(?:'m|'re| am| are)? ?(?:not|aren't|won't be|will not be)\s+(?:using"
        rf"|buying|choosing"
        r"|considering|going (?:with|for))\s+(?P<o>.{1,60})$",
        r"^(?P<o>[^:,]{1,40}):\s+(?:out|no|excluded|rejected)$",
        rf"^{_START}no\s+(?P<o>\S.{{0,50}}?),?\s+please$",
        r"^(?:anything but|everything but|definitely not)\s+(?P<o>.{1,60})$",
    )
)
_BARE_NO = re.compile(
    r"(?:^|[,;]\s*(?:but |and )?)(?:no|not)\s+(?:to\s+)?(?P<o>[^,;]{1,50})$", re.I
)  # a rejection only if a reason is given
_NOT_AN_OPTION = re.compile(
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
_CLEAR_REASON = re.compile(
    r"^[\s,;:(–—-]*(?:because|due to|it|it's|they|they're|that's|too|way too|much too)\b", re.I
)
_PAUSE = re.compile(r"\s*(?:[,;:–—]|\s-\s)\s*")
_CLAUSE_EN = re.compile(
    r"\b(?:is|are|was|were|has|have|had|gets?|costs?|can|can't|cannot|will|won't|needs?|hates?)\b", re.I
)
_OPTION_SEPARATOR = re.compile(r"\s*,\s*(?:and |or )?|\s+(?:and|or|nor)\s+", re.I)

_REJECTING_VERB_ZH = (
    "(?:不要|不想要|不用再?考虑|不必再?考虑|不考虑|不会考虑|不再考虑|排除掉?|放弃|否决|去掉|划掉|不接受"
    "|拒绝|不选"
    "|别再?(?:用|选|买|去|推荐|考虑)|不(?:想|打算|准备|能|会)(?:用|买|选|去|要|住|坐|吃))"
)
_REJECTIONS_ZH = (
    re.compile(
        "(?:^|我们?|也|都|就|先|请|所以|那)(?:把|将)(?P<o>.{1,20}?)(?:给)?(?:排除|去掉|划掉|删掉|否决)"
    ),
    re.compile(
        f"^(?:那|所以|我们?|也|就|先|请|还是|已经|决定|暂时|坚决|绝对|一定){{0,4}}{_REJECTING_VERB_ZH}(?:了"
        f"|掉)?(?P<o>.{{1,24}})$"
    ),
    re.compile(
        "^(?P<o>.{1,20}?)(?:就|也|已经|已|都|肯定|绝对){0,2}"
        "(?:不行|不合适|不考虑了?|(?:被(?:我们?|大家)?)?(?:排除掉?|否决)了?|算了|不要了?|出局了?|免谈"
        "|不在考虑(?:范围)?之?内?)$"
    ),
)
_WEAK_REJECTION_ZH = re.compile("^(?:我们?|也|就|先|那){0,2}不(?:用|买|去|坐|住|吃|找)(?P<o>.{1,20})$")
_NOT_AN_OPTION_ZH = re.compile(
    "^(?:紧|谢|担心|忘|客气|着急|急|怕|误会|难过|生气|这样|那样|这么|那么|说|我|你|您|他|她|它|这|那|了|再"
    "|太|什么|啥|管|想|脸|命|因|可能)"
)
_THIS_ZH = re.compile("[这那](?:个|家|款|种|里|条)?(?:方案|选项|办法)?$")
_BARE_REJECTION_ZH = re.compile("(?:所以|就|那就|因此){0,2}(?:不考虑|排除|不要|算了|放弃)[了它掉]{0,2}$")
_FAULT_ZH = re.compile("(?P<o>.{1,15}?)(?P<why>(?:太|不够|不太|没有?).{1,12})$")
_REJECTED_BECAUSE_ZH = re.compile("(?:因为|由于)(?P<why>.{1,20}?)(?:所以|就|而)?被?(?:排除|否决|放弃)了?$")
_DEGREE_ZH = re.compile("那么|这么|那样|这样|太|再|如果|要是|但|可是|却|每次|一直|实在|根本|从|.*得$")
_CLAUSE_BREAK_ZH = re.compile("[，,；;：:]|——|。")
_BECAUSE_ZH = re.compile("^(?:因为|由于|毕竟|主要是|原因是|理由是)")
_LEADING_WORDS_ZH = re.compile("^(?:那么?|还有|至于|这个|那个|用|选择?|买|去|推荐|考虑|任何|再|对于?)")


def find_rejections(sentence: str, following: str = "") -> list[ExcludedOption]:
    """Return the options that a sentence rejects; the following sentence may give the reason."""
    text = sentence[:MAX_SENTENCE_CHARACTERS].strip().rstrip(".!。！~～ ")
    if text.endswith(("?", "？")):
        return []
    return _find_chinese(text, following) if has_han(text) else _find_english(text, following)


def _find_english(text: str, following: str) -> list[ExcludedOption]:
    statement, reason = _split_reason(text)
    match = _match_rejection(statement)
    if match is None and (too := _TOO_MUCH_SO_NO.match(text)):
        match, reason = too, too["why"]
    if match is None and _CLEAR_REASON.search(text[len(statement) :]):
        match = _BARE_NO.search(statement)
    if match is None:
        return []
    if not reason and re.match(r"(?:it|they|that|this|too|because|the reason)\b", following, re.I):
        reason = following.strip()
    if match.groupdict().get("out") == "out" and not reason and extract_option_name(match["o"])[:1].islower():
        return []  # "the cat is out": not an option
    names = [extract_option_name(part) for part in _OPTION_SEPARATOR.split(match["o"])]
    options = [
        name
        for name in names
        if name and len(name.split()) <= _MAX_OPTION_WORDS and not _NOT_AN_OPTION.match(name)
    ]
    return [ExcludedOption(name, _clean_reason(reason)) for name in options]


def _match_rejection(statement: str) -> re.Match[str] | None:
    return next((match for pattern in _REJECTIONS_EN if (match := pattern.match(statement))), None)


def _split_reason(text: str) -> tuple[str, str]:
    """Split an English sentence into the statement and its reason (may be empty)."""
    in_brackets = _REASON_IN_BRACKETS.search(text)
    if in_brackets:
        return text[: in_brackets.start()], in_brackets["why"]
    reason_first = _REASON_FIRST.match(text)
    if reason_first:
        return reason_first["said"], reason_first["why"]
    after = _REASON_AFTER.search(text)
    if after is None or not text[: after.start()].strip():
        pause = _PAUSE.search(text)
        if pause and _match_rejection(text[: pause.start()]) and _CLAUSE_EN.search(text, pause.end()):
            return text[: pause.start()], text[pause.end() :]
        return text, ""
    return text[: after.start()].strip(), after["why"] or after["then"]


def _find_chinese(text: str, following: str) -> list[ExcludedOption]:
    clauses = [clause.strip() for clause in re.sub("(?<=.)(?=因为|由于|所以)", "，", text).split("，")]
    clauses = [part.strip() for clause in clauses for part in _CLAUSE_BREAK_ZH.split(clause) if part.strip()]
    rejections: list[ExcludedOption] = []
    for index, clause in enumerate(clauses):
        reason = _find_reason_zh(clauses, index, following)
        body = re.sub("^所以", "", clause)
        if index and (previous := _find_in_previous_clause(clauses[index - 1], clause)):
            rejections.append(previous)
            continue
        match = next((candidate for pattern in _REJECTIONS_ZH if (candidate := pattern.search(body))), None)
        if match is None and reason:
            match = _WEAK_REJECTION_ZH.match(body)
        if match is None:
            continue
        for part in re.split("[、和与及或]", match["o"]):
            if _DEGREE_ZH.match(part.strip()):
                continue
            name = extract_option_name(_THIS_ZH.sub("", _LEADING_WORDS_ZH.sub("", part.strip())))
            if name and len(name) <= _MAX_OPTION_CHARACTERS_ZH and not _NOT_AN_OPTION_ZH.match(name):
                rejections.append(ExcludedOption(name, _clean_reason(reason)))
    return rejections


def _find_in_previous_clause(before: str, clause: str) -> ExcludedOption | None:
    """Find an option named in the previous clause: "X太贵，不考虑" or "X，因为太贵被排除"."""
    if _BARE_REJECTION_ZH.match(clause) and (fault := _FAULT_ZH.match(before)):
        return ExcludedOption(extract_option_name(fault["o"]), _clean_reason(fault["why"]))
    if (
        (rejected := _REJECTED_BECAUSE_ZH.match(clause))
        and len(before) <= _MAX_OPTION_CHARACTERS_ZH
        and not _NOT_AN_OPTION_ZH.match(before)
    ):
        return ExcludedOption(extract_option_name(before), _clean_reason(rejected["why"]))
    return None


def _find_reason_zh(clauses: list[str], index: int, following: str) -> str:
    """Return the reason: a 因为 clause, else the clauses or the sentence after the rejection."""
    because = next((clause for clause in clauses if _BECAUSE_ZH.match(clause)), "")
    if because:
        return _BECAUSE_ZH.sub("", because)
    rest = [
        clause
        for clause in clauses[index + 1 :]
        if not any(pattern.search(clause) for pattern in _REJECTIONS_ZH)
    ]
    if rest:
        return "，".join(rest)
    return following.strip() if re.match("(?:太|它|因为|主要|毕竟|实在)", following) else ""


def _clean_reason(reason: str) -> str:
    return " ".join(reason.split()).strip(" ,.;。，；)）")
