"""English rules for what happened, what is planned, and what is had."""

from __future__ import annotations

from thinkback.text.numbers import NUMBER_EN
from thinkback.think.rules.english_parts import BE, HAVE, rule
from thinkback.think.rules.english_words import is_concrete, is_engagement
from thinkback.think.rules.rule import Rule

_EVENT_VERBS = (
    "went to(?! (?:bed|sleep|work|town|the (?:toilet|loo|bathroom)))|visited|bought|attended|adopted"
    "|graduated from|flew to|travell?ed to|met with|met"
    "|sold|won|broke(?! up)"
)
_DATED_VERBS = (
    "saw|watched|got|finished|started|ran|lost|joined|passed|celebrated|received|cooked|baked|read"
    "|ate at|ate|had|took|played|hosted|completed|signed up for|booked|made|called|hiked|climbed|went(?!"
    " (?:off|on|out|back|through|up|down|well|wrong|ahead|away))"
    "|delivered|fixed|painted|planted|sprained|tore|crashed|dropped|wrote|opened|launched|published|submitted"
)
_BASE = {
    "going": "go", "flying": "fly", "traveling": "travel", "travelling": "travel", "moving": "move",
        "meeting": "meet",
    "visiting": "visit", "getting": "get", "starting": "start", "having": "have", "seeing": "see",
        "leaving": "leave",
    "attending": "attend", "hosting": "host", "taking": "take", "running": "run",
}  # fmt: skip
_DOING = "|".join(_BASE)
_INFINITIVE = (
    "visit|see|meet|start|buy|move|travel|go|fly|get|have|take|attend|run|host|leave|celebrate"
    "|graduate|begin|join|sell"
)

EVENTS: tuple[Rule, ...] = (
    rule("got new number",
        "(?:got|have|has|have got|has got) an? new (?P<what>phone number|number|phone|e-?mail(?: address)?"
        "|address)"
        r"(?:,| -|:)? (?:and )?(?:it is|it's|which is|is)(?: now)?"
        r" (?P<o>\+?[\w][\w\s@().-]{3,40}\w)", "{what}"),
    rule("had done",
        r"(?:have |has )?(?:had|got|gotten) (?:an? |my |some |the )?"
        r"(?P<o>(?!(?:it|this|that|them|enough|work)\b)[\w' -]{2,40}?) (?:done|taken|carried out)",
        "had", kind="event", say="{s} had {o} done"),
    rule("quit", r"(?:quit|gave up|given up) (?P<o>(?:my|his|her) job|\w+)", "quit"),
    rule("appointment", rf"{HAVE} (?P<o>(?:an? |my |our )(?!lot).+)",
        "has appointment", dated=True, accept=is_engagement),
    rule("happened", rf"(?:have |has )?(?P<verb>{_EVENT_VERBS}) (?P<o>.+)", "{verb}", kind="event"),
    rule("happened then", rf"(?:have |has )?(?P<verb>{_DATED_VERBS}) (?P<o>.+)", "{verb}",
        kind="event", dated=True),
    rule("plans", r"(?:plans?|(?:am|is|are) planning|intends?) (?:on |to )(?P<o>.+)", "plans to"),
    rule("will",
        rf"(?:will|{BE} (?:going|planning|about) to) (?P<o>(?:{_INFINITIVE})\b.*)", "plans to", dated=True),
    rule("is doing", rf"{BE} (?P<doing>{_DOING}) (?P<o>.+)", "plans to", dated=True, say=
        "{s} plans to {base} {o}"),
    # possession, last: almost anything can be had
    rule("owns", rf"(?:{HAVE}|owns?) (?P<o>(?:an? |{NUMBER_EN} |no ).+)", "has",
        split=True, accept=is_concrete),
)  # fmt: skip


def base_verb(doing: str) -> str:
    """going -> go."""
    return _BASE[doing]
