"""Forged structure: tags, role marks and headings that make pasted text look like the application's own.

A tag takes all up to its closing, a heading its line, a note to machines its passage or its brackets.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

_ROLE = r"(?:system|sys|inst|instructions?|assistant|developer|admin(?:istrator)?)"
_ROLE_ZH = (
    r"(?:系统(?:提示词?|消息|指令|通知|命令|管理员)?|管理员(?:指令|消息)?|开发者(?:指令|消息)?|指令|提示词)"
)
_KIND = r"(?:[\s_-]?(?:prompt|message|override|note))?"
_TAG = re.compile(
    rf"<\s?/?\s?{_ROLE}{_KIND}\s?>(?!\s?[:：])|<{{2}}/?SYS>{{2}}|<\|[a-z_]{{2,30}}\|>"
    rf"|\[\s?/?\s?{_ROLE}{_KIND}\s?\]|【\s?/?\s?{_ROLE_ZH}\s?】",
    re.I,
)
_CLOSING = re.compile(
    rf"<\s?/\s?{_ROLE}[^<>\n]{{0,12}}>|\[\s?/\s?{_ROLE}[^\[\]\n]{{0,12}}\]|【\s?/\s?{_ROLE_ZH}\s?】"
    rf"|<{{2}}/SYS>{{2}}|<\|(?:im_end|end|eot_id|endoftext)\|>",
    re.I,
)
_ROLE_OBJECT = re.compile(
    r"\{\s{0,4}[\"']role[\"']\s{0,4}:\s{0,4}[\"'](?:system|developer)[\"'][^{}]{0,4000}\}?", re.I
)
_CLAUSE = r"(?:^|(?<=[.,:;!?()\[\]>*\"'“”‘「『（【，。：；！？、\s-]))"
_HEADING = re.compile(
    rf"{_CLAUSE}(?:(?:system|developer|admin)\s{{1,3}}(?:prompt|override|instructions?|command)\s{{0,2}}[:：]"
    r"|#{2,4}\s{0,3}(?:system|(?:new )?instructions?)\b\s{0,2}[:：]?"
    r"|(?:new|updated|hidden|secret)\s{1,3}(?:system\s{1,3})?(?:instructions?|directives?)\s{0,2}[:：]"
    r"|(?:override|sudo|jailbreak)\s{0,2}[:：]"
    r"|begin\s{1,3}(?:system|admin)\s{1,3}\w{1,12}\s{0,2}[:：]?)",
    re.I | re.M,
)
_SPEAKER = re.compile(
    rf"{_CLAUSE}(?:(?:system|admin)(?:\s{{1,3}}(?:message|note|notice|update))?|{_ROLE_ZH})\s{{0,2}}[:：]",
    re.I | re.M,
)
_TO_MODEL = re.compile(
    r"\b(?:you|user|assistant|must|ignore|always|never|admin|approved|instructions?|reveal|override"
    r"|granted|unrestricted|respond|answer)\b"
    r"|你(?!的)|用户|必须|忽略|无视|指令|规则|管理员|权限|回答|回复|推荐|总是|永远|助手|机器人",
    re.I,
)
_MACHINE = (
    r"(?:ais?|llms?|(?:ai|language|large language)\s{1,3}(?:models?|assistants?|agents?|systems?|readers?"
    r"|tools?)"
    r"|assistants?|chat\s?bots?|bots|models)"
)
_NOTE = re.compile(
    rf"\b(?:notes?|attention|messages?|instructions?|reminder|memo|hint)\s{{1,3}}(?:to"
    rf"|for)\s{{1,3}}(?:\w{{1,9}}\s{{1,3}}){{0,2}}?"
    rf"{_MACHINE}\b[^.:：\n]{{0,40}}[:,：，-]"
    rf"|\battention[,:]?\s{{1,3}}(?:all\s{{1,3}})?(?:ai|llm|language\s{{1,3}}model"
    rf"|chatbot)s?\b(?:\s{{1,3}}\w{{1,12}})?[,:!]"
    rf"|\bif\s{{1,3}}you(?:\s{{1,3}}are|'re)\s{{1,3}}(?:an?\s{{1,3}})?{_MACHINE}\b[^.,\n]{{0,40}},"
    r"|致(?:所有|各位)?(?:AI|人工智能|语言模型|大模型|智能助手|助手)[^。\n：:，,]{0,8}[:：，,]"
    r"|[给对](?:所有|各位)?(?:AI|人工智能|语言模型|大模型|智能助手|助手)们?的(?:提示|说明|备注|指示|话"
    r"|要求|指令)[:：，,]"
    r"|(?:AI|语言模型|大模型|智能助手|助手)(?:读者|助手|模型)?(?:请注意|注意|须知|请看)[:：，,]?",
    re.I,
)
_PARAGRAPH = re.compile(r"\n\s{0,20}\n")
_PASSAGE_END = re.compile('["”」』】\\]\n]')


def _tags(text: str) -> Iterator[tuple[int, int]]:
    """To the closing tag; a tag that is never closed takes its paragraph, a closing one itself."""
    closings = [found.end() for found in _CLOSING.finditer(text)]
    at = 0
    while found := _TAG.search(text, at):
        at = found.end()
        if not _CLOSING.fullmatch(found[0]):
            after = bisect_right(closings, at)
            if after < len(closings):
                at = closings[after]
            else:
                paragraph = _PARAGRAPH.search(text, at)
                at = paragraph.start() if paragraph else len(text)
        yield found.start(), at


def _objects(text: str) -> Iterator[tuple[int, int]]:
    return (found.span() for found in _ROLE_OBJECT.finditer(text))


def _headings(text: str) -> Iterator[tuple[int, int]]:
    """`System: Windows 11` names a computer; what is addressed to a model speaks of you, the user, rules."""
    for pattern in (_HEADING, _SPEAKER):
        at = 0
        while found := pattern.search(text, at):
            at = found.end()
            if pattern is _HEADING or _TO_MODEL.search(text, at, at + 100):
                stop = text.find("\n", at)
                at = len(text) if stop < 0 else stop
                yield found.start(), at


def _notes(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    while found := _NOTE.search(text, at):
        stop = _PASSAGE_END.search(text, found.end())
        at = stop.start() if stop else len(text)
        yield found.start(), at


_READERS = (  # what finds it, and what it cannot be without
    (_tags, re.compile(r"[<\[【]")),
    (_objects, re.compile(r"[\"']role")),
    (
        _headings,
        re.compile(
            "system|developer|admin|instruction|directive|override|sudo|jailbreak|##|系统|管理员|开发者"
            "|指令|提示词"
        ),
    ),
    (_notes, re.compile(r"(?<![a-z])(?:ais?|llms?)(?![a-z])|model|assistant|bot|人工智能|模型|助手")),
)


def find(text: str) -> Iterator[tuple[int, int]]:
    """Where such a thing stands with all it governs; in order and apart."""
    lower = text.lower()
    last = 0
    for start, end in sorted(
        each for reader, sign in _READERS if sign.search(lower) for each in reader(text)
    ):
        if start >= last:
            last = end
            yield start, end
