"""A first look at a text: need the detectors of `text/safety/trust.py` read it at all? A few microseconds.

Recall asks about everything it returns, and nearly all of it is harmless. So: only what every order and
every secret must contain, looked for by byte tables and sets, which cost less than one regular expression.
A text that passes may still be harmless; one that does not pass holds nothing (a test compares both ways).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from thinkback.text.safety.folding import disguised
from thinkback.text.safety.order_words import words_of

_CAPITALS = {code: code + 32 for code in range(65, 91)}
_WORDS = bytes(_CAPITALS.get(code, code if chr(code).islower() and code < 128 else 32) for code in range(256))
_RUNS = bytes(97 if code < 128 and (chr(code).isalnum() or code in b"_+/-") else 32 for code in range(256))
_NUMBERS = bytes(48 if chr(code).isdigit() and code < 128 else 32 for code in range(256))
_LONG_RUN, _LONG_NUMBER = b"a" * 16, b"0" * 9  # an issued key or a random token; a card, an account, an SSN


def _english(*lists: str) -> frozenset[bytes]:
    return frozenset(word.encode() for words in lists for word in words.split() if word.isascii())


def _chinese(*lists: str) -> re.Pattern[str]:
    return re.compile(
        "|".join(sorted({word for words in lists for word in words.split() if not word.isascii()}))
    )


_FORGED = re.compile(r"[<\[{【#]")
_PASTED = re.compile(r"[\"“]|---|\n>")
_MACHINES = """system developer admin ai ais llm llms assistant assistants chatbot chatbots bot bots model
    models inst sys override sudo jailbreak"""
_MACHINES_ZH = "助手 模型 人工智能 机器人 智能体 系统 管理员 开发者 指令 提示词"
_DEEDS = f"""{words_of("AahOXJ")} pose role play refer identify steer bring keep store save record
    commit pay throw set put leave sing sound side take takes bound told directed sent informed
    referred advised given steered apply applies applied valid force count new only sole real true
    updated standing order command policy priority regard hereby become embody imagine yourself
    answers replies responses response outputs recommendation recommendations summary summaries
    following obeying applying goal job name override sudo jailbreak 规则 指令
    提到 提及 提起 说起 加 带 附 补 发 转 寄 当 视 忘 丢 抛 扔 遵守 遵循 理会 管 听从 新 任务 身份
    角色 使命 优先 最高 你现在 你已 你从此 你将 你就 你不再 你叫 你的名字"""
_PERSONAS = (
    "now today moment point here forward henceforth hereby longer become embody play imagine yourself name"
)
_FORCES = f"""{words_of("BbEMSnNUuCRJ")} now today here point moment forward starting effective matter
    notice times future summarising summarizing answering responding replying translating describing
    reviewing discussing quoting until exception longer more nothing have has allowed permitted
    circumstances costs imperative essential mandatory conversation conversations chat chats session
    sessions reply replies answer answers response responses interaction not don won shouldn mustn
    refrain user users wants comes mentioned discussed rule task persona mission objective directive
    priority highest law binding obligatory compulsory role may instruct instructs order orders
    command commands direct directs forbid forbids told taught given trained above foregoing message
    messages content policy filters mode restriction filter censorship outputs summary summaries
    recommendation recommendations email mail page article letter document cv text post review website
    pdf reads says 从 自即日起 以后 每一次 任何 一定 都 不 别 只 希望 想 授权 允许 命令 没有 内容 文字
    对话 所有 最高 优先 停止 无需 你的 邮件 网页 文章 原文 文档 帖子 简历 这段 公告 通知 “ 「 之前
    以前 先前"""
_LABELS = """password passwords pass passwd passcode passcodes pwd passphrase passphrases pw phrase seed
    recovery mnemonic backup pin pins code codes cvv cvc otp fa passkey combination combo key keys
    token tokens secret secrets bearer card visa mastercard amex account iban routing sort passport
    license licence id identity insurance tax ssn security login log logs logged sign signin wifi wi
    credential credentials wlan hotspot router keypad padlock lockbox vault safe unlock unlocks open
    opens gate door panel entrance lock intercom disarm disarms alarm voicemail words cvvs 密码 密碼
    口令 助记词 提取码 登录 登陆 解锁 开机 验证码 校验码 安全码 动态 门禁 激活码 开锁 取款 密钥 秘钥
    密匙 令牌 私钥 卡 账号 帐号 身份证 护照 驾照 社保 证件 无线 热点 门锁 保险箱 保险柜 开门"""
_MACHINE, _DEED, _FORCE, _LABEL = (_english(each) for each in (_MACHINES, _DEEDS, _FORCES, _LABELS))
_PERSONA = _english(_PERSONAS)
_MACHINE_ZH, _DEED_ZH, _FORCE_ZH, _LABEL_ZH = (
    _chinese(each) for each in (_MACHINES_ZH, _DEEDS, _FORCES, _LABELS)
)


class Glance(NamedTuple):
    """What a text may hold."""

    orders: bool
    secrets: bool


_BOTH, _ORDERS, _SECRETS, _NEITHER = (
    Glance(True, True),
    Glance(True, False),
    Glance(False, True),
    Glance(False, False),
)


def glance(text: str) -> Glance:
    foreign = not text.isascii()
    if foreign and disguised(text):
        return _BOTH
    data = text.encode("utf-8", "ignore")
    words = data.translate(_WORDS).split()
    orders = (
        _FORGED.search(text) is not None
        or not _MACHINE.isdisjoint(words)
        or not (_DEED.isdisjoint(words) or (_FORCE.isdisjoint(words) and _PASTED.search(text) is None))
        or (b"you" in words and not _PERSONA.isdisjoint(words))
        or (foreign and _orders_zh(text))
    )
    secrets = (
        not _LABEL.isdisjoint(words)
        or _LONG_RUN in data.translate(_RUNS)
        or _LONG_NUMBER in data.translate(_NUMBERS, b" -")
        or b"://" in data
        or (foreign and _LABEL_ZH.search(text) is not None)
    )
    return _BOTH if orders and secrets else _ORDERS if orders else _SECRETS if secrets else _NEITHER


def _orders_zh(text: str) -> bool:
    return _MACHINE_ZH.search(text) is not None or (
        _DEED_ZH.search(text) is not None and _FORCE_ZH.search(text) is not None
    )
