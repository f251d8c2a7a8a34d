"""Fast check, in microseconds, whether a text may contain instructions or secrets at all.

Recall checks everything it returns, and nearly all of it is harmless. The check looks for words that every
instruction or secret must contain, with byte tables and sets, which are faster than one regular expression.
It has false positives but no false negatives; a test compares it with the full detectors.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from thinkback.language.safety.ciphers import CIPHER_SIGN, may_be_cipher
from thinkback.language.safety.injection_lexicon import words_with_codes
from thinkback.language.safety.normalise import has_disguised_characters
from thinkback.language.safety.secret_formats import mnemonic_prefixes

_LOWER_CASE = {code: code + 32 for code in range(65, 91)}
_LETTERS_TABLE = bytes(
    _LOWER_CASE.get(code, code if chr(code).islower() and code < 128 else 32) for code in range(256)
)
_TOKEN_CHARACTERS_TABLE = bytes(
    97 if code < 128 and (chr(code).isalnum() or code in b"_+/-") else 32 for code in range(256)
)
_DIGITS_TABLE = bytes(48 if chr(code).isdigit() and code < 128 else 32 for code in range(256))
_LONG_TOKEN, _LONG_NUMBER = b"a" * 16, b"0" * 9  # API keys and random tokens; cards, accounts and SSNs


def _english_words(*lists: str) -> frozenset[bytes]:
    return frozenset(word.encode() for words in lists for word in words.split() if word.isascii())


def _chinese_pattern(*lists: str) -> re.Pattern[str]:
    return re.compile(
        "|".join(sorted({word for words in lists for word in words.split() if not word.isascii()}))
    )


_MARKUP_CHARACTER = re.compile(r"[<\[{【#]")
_QUOTATION = re.compile(r"[\"“]|---|\n>")
_MACHINE_WORDS = """
    system developer admin ai ais llm llms assistant assistants chatbot chatbots bot bots model models
    inst sys override sudo jailbreak agent agents ki ia modele assistenten sprachmodell anweisungen
    consignes ignoriere ignorez antworten reponses nutzer utilisateur"""
_MACHINE_WORDS_ZH = "助手 模型 人工智能 机器人 智能体 系统 管理员 开发者 指令 提示词"
_ACTION_WORDS = f"""{words_with_codes("AahOXJ")}
    pose role play refer identify steer bring keep store save record commit pay throw set put leave sing
    sound side take takes bound told directed sent informed referred advised given steered apply applies
    applied valid force count new only sole real true updated standing order command policy priority
    regard hereby become embody imagine yourself answers replies responses response outputs recommendation
    recommendations summary summaries following obeying applying goal job name override sudo jailbreak
    规则 指令 提到 提及 提起 说起 加 带 附 补 发 转 寄 当 视 忘 丢 抛 扔 遵守 遵循 理会 管 听从 新 任务
    身份 角色 使命 优先 最高 你现在 你已 你从此 你将 你就 你不再 你叫 你的名字"""
_PERSONA_WORDS = (
    "now today moment point here forward henceforth hereby longer become embody play imagine yourself name"
)
_OBLIGATION_WORDS = f"""{words_with_codes("BbEMSnNUuCRJ")}
    now today here point moment forward starting effective matter notice times future summarising
    summarizing answering responding replying translating describing reviewing discussing quoting until
    exception longer more nothing have has allowed permitted circumstances costs imperative essential
    mandatory conversation conversations chat chats session sessions reply replies answer answers response
    responses interaction not don won shouldn mustn refrain user users wants comes mentioned discussed
    rule task persona mission objective directive priority highest law binding obligatory compulsory role
    may instruct instructs order orders command commands direct directs forbid forbids told taught given
    trained above foregoing message messages content policy filters mode restriction filter censorship
    outputs summary summaries recommendation recommendations email mail page article letter document cv
    text post review website pdf reads says 从 自即日起 以后 每一次 任何 一定 都 不 别 只 希望 想 授权
    允许 命令 没有 内容 文字 对话 所有 最高 优先 停止 无需 你的 邮件 网页 文章 原文 文档 帖子 简历 这段
    公告 通知 “ 「 之前 以前 先前"""
_SENSITIVE_LABEL_WORDS = """
    password passwords pass passwd passcode passcodes pwd passphrase passphrases pw phrase seed recovery
    mnemonic backup pin pins code codes cvv cvc otp fa passkey combination combo key keys token tokens
    secret secrets bearer card visa mastercard amex account iban routing sort passport license licence id
    passwort kennwort wlan pin code codewort turcode tresor schloss steuer karte konto iban passe mdp
    digicode carte coffre identifiant secrete numero identity insurance tax ssn security login log logs
    logged sign signin wifi wi credential credentials
    wlan hotspot router keypad padlock lockbox vault safe unlock unlocks open opens gate door panel
    entrance lock intercom disarm disarms alarm voicemail words cvvs 密码 密碼 口令 助记词 提取码 登录
    登陆 解锁 开机 验证码 校验码 安全码 动态 门禁 激活码 开锁 取款 密钥 秘钥 密匙 令牌 私钥 卡 账号 帐号
    身份证 护照 驾照 社保 证件 无线 热点 门锁 保险箱 保险柜 开门 登入 路由器 后台 网银 网络银行 取钱 提款机
    柜员机 钱包 备份 助记 备用 恢复 验证 应急 两步 二步 双重 atm machine cashpoint recover recovered step
    factor mfa netflix spotify hulu disney steam smtp imap 视频会员 微博 淘宝 authenticator
    shed barrier turnstile mailbox automat bankautomat bankautomaten geldautomat
    geldautomaten distributeur portail haustur 闸口 车库 地库 信箱 柜台 存折 储物柜 快递柜 emergency
    secours wiederherstellung wiederherstellungscodes wallet qr totp mysql mysqldump mariadb sshpass"""
_MACHINES_EN, _ACTIONS_EN, _OBLIGATIONS_EN, _SENSITIVE_LABELS_EN = (
    _english_words(each)
    for each in (_MACHINE_WORDS, _ACTION_WORDS, _OBLIGATION_WORDS, _SENSITIVE_LABEL_WORDS)
)
_PERSONAS_EN = _english_words(_PERSONA_WORDS)
_MACHINE_PATTERN_ZH, _ACTION_PATTERN_ZH, _OBLIGATION_PATTERN_ZH, _SENSITIVE_LABEL_PATTERN_ZH = (
    _chinese_pattern(each)
    for each in (_MACHINE_WORDS_ZH, _ACTION_WORDS, _OBLIGATION_WORDS, _SENSITIVE_LABEL_WORDS)
)


_PASSWORD_SHAPE = re.compile(r"[A-Za-z0-9][!#$%^*@~][A-Za-z0-9]")
_PASSWORD_SYMBOLS = tuple(symbol.encode() for symbol in "!#$%^*@~")
_MIN_MNEMONIC_RUN = 8


class Suspicion(NamedTuple):
    """What a text may contain by its patterns; `disguised` text is read in other ways too."""

    instructions: bool
    secrets: bool
    disguised: bool = False

    @property
    def any(self) -> bool:
        return self.instructions or self.secrets


_DISGUISES = tuple(  # one by one they are five times faster than as alternatives of one pattern
    re.compile(pattern, re.I)
    for pattern in (
        r"(?<![^\W_])[^\W\d_][ .\-_*·•|/~+,'^=](?:[ .\-_*·•|/~+,'^=]{0,2}[^\W\d_][ .\-_*·•|/~+,'^=]){2}"
        r"[ .\-_*·•|/~+,'^=]{0,2}[^\W\d_](?![^\W_])",
        r"[a-z][.\-_*·•|~^+=/][a-z]{1,12}\b.{0,40}?[a-z][.\-_*·•|~^+=/][a-z]",
        r"[a-z][013457@$!][a-z].{0,80}?(?:[a-z][013457@$!]|[013457@$!][a-z])",
        r"[\u3400-\u9fff][\s.\-_*·•|/~+^=]{1,2}[\u3400-\u9fff][\s.\-_*·•|/~+^=]{1,2}[\u3400-\u9fff]",
        r"%[0-9a-f]{2}%[0-9a-f]{2}|&#x?[0-9a-f]{2}|\\[ux][0-9a-f]{2}",
        r"[a-z0-9+/]{20}",
        r"(?<![0-9a-f])(?:[0-9a-f]{2}[ :]){12}",
        r"[01]{8} [01]{8}",
    )
)


def prefilter_text(text: str, *, disguises: bool = True) -> Suspicion:
    """Tell which detectors have to read a text; without `disguises`, only by the words that are plain."""
    has_non_ascii = not text.isascii()
    if disguises and any(pattern.search(text) for pattern in _DISGUISES):
        return Suspicion(True, True, True)
    if has_non_ascii and has_disguised_characters(text):
        return Suspicion(True, True)
    data = text.encode("utf-8", "ignore")
    words = data.translate(_LETTERS_TABLE).split()
    if disguises and (may_be_cipher(words) or (has_non_ascii and CIPHER_SIGN.search(text))):
        return Suspicion(True, True, True)
    instructions = (
        _MARKUP_CHARACTER.search(text) is not None
        or not _MACHINES_EN.isdisjoint(words)
        or not (
            _ACTIONS_EN.isdisjoint(words)
            or (_OBLIGATIONS_EN.isdisjoint(words) and _QUOTATION.search(text) is None)
        )
        or (b"you" in words and not _PERSONAS_EN.isdisjoint(words))
        or (has_non_ascii and _may_instruct_zh(text))
    )
    secrets = (
        not _SENSITIVE_LABELS_EN.isdisjoint(words)
        or _LONG_TOKEN in data.translate(_TOKEN_CHARACTERS_TABLE)
        or _LONG_NUMBER in data.translate(_DIGITS_TABLE, b" -")
        or b"://" in data
        or _has_mnemonic(words)
        or (has_non_ascii and _SENSITIVE_LABEL_PATTERN_ZH.search(text) is not None)
        or (any(map(data.__contains__, _PASSWORD_SYMBOLS)) and _PASSWORD_SHAPE.search(text) is not None)
    )
    return Suspicion(instructions, secrets)


def _has_mnemonic(words: list[bytes]) -> bool:
    """Whether many words of a wallet's word list follow each other."""
    known, run = mnemonic_prefixes(), 0
    for word in words:
        run = run + 1 if word[:4].decode() in known else max(0, run - 3)
        if run >= _MIN_MNEMONIC_RUN:
            return True
    return False


def _may_instruct_zh(text: str) -> bool:
    return _MACHINE_PATTERN_ZH.search(text) is not None or (
        _ACTION_PATTERN_ZH.search(text) is not None and _OBLIGATION_PATTERN_ZH.search(text) is not None
    )
