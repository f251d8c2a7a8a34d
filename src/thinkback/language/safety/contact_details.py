"""Statements of an e-mail address, which look like orders or logins to the trained detector but are neither.

    My new email is ann@mail.example.      把我的邮箱换成 ann@mail.example

Only a sentence that says whose address it is, or that it changed, and nothing else. The patterns of orders
and secrets read it all the same.
"""

from __future__ import annotations

import re

_ADDRESS = (
    r"[A-Za-z0-9]{1,32}(?:[._+-][A-Za-z0-9]{1,32}){0,2}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,3}"
)
_OWNER = r"(?:my|our|his|her|their|(?:[A-Za-z'’-]{1,30} )?[A-Za-z-]{1,30}['’]s)"
_MAIL = (
    r"(?:(?:new|old|other|work|private|personal|home|office)\s){0,2}(?:e-?mail|mail|mailbox)(?:\saddress)?"
)
_SAYS = r"(?:is|was|changed\sto|has\schanged\sto|will\sbe)(?:\s(?:now|still))?|:|="
_CHANGE = r"(?:please\s)?(?:replace|change|update|swap|switch|set)"
_OWNER_ZH = r"(?:(?!密码|口令|密钥|令牌|验证码)[\u4e00-\u9fff]){0,8}?的?"
_MAIL_ZH = r"(?:新|旧|老|工作|公司|私人|个人|单位)?(?:的)?(?:电子)?(?:邮箱|邮件)(?:地址|账号)?"
_SAYS_ZH = r"(?:现在|已经|以前|原来)?(?:是|为|改成|改为|改到|换成|换为|更新为|[:：])了?"
_STATEMENT = re.compile(
    rf"(?:(?:and|so|also|oh|hey|ok|hi),?\s)?{_OWNER}\s{_MAIL}\s?(?:{_SAYS})\s?{_ADDRESS}(?:\snow)?"
    rf"|{_CHANGE}\s{_OWNER}\s{_MAIL}\s(?:with|to|by|for)\s{_ADDRESS}(?:,?\splease)?"
    rf"|(?:请|麻烦)?(?:你)?把?{_OWNER_ZH}{_MAIL_ZH}{_SAYS_ZH}\s?{_ADDRESS}\s?了?",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"passw|passcode|passphrase|\bpin\b|secret|token|密码|口令|密钥|令牌|验证码", re.IGNORECASE
)
_MAX_CHARS = 160


def is_contact_statement(sentence: str) -> bool:
    """Whether a sentence only states somebody's e-mail address."""
    words = " ".join(sentence.split()).rstrip(" .!。！")
    if "@" not in words or len(words) > _MAX_CHARS or _LABEL.search(words):
        return False
    return _STATEMENT.fullmatch(words) is not None
