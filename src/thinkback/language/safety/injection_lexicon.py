"""Vocabulary of instructions in English and Chinese: every word or phrase has a one-letter class code.

`injection` matches patterns against the codes of a sentence. Phrases are small patterns, one or more per
line; a space matches any white space. Harmless phrases ("answer the phone", 首都) are matched first.
"""

from __future__ import annotations

import re
from functools import cache

from thinkback.language.safety.normalise import split_alternatives

HARMLESS_CODE, CLAUSE_CODE, AND_CODE = "w", ",", "&"

_WORDS_BY_CODE = {
    "Y": "you you're you'll you'd yourself u 你 您 你们",  # addressee
    "B": """assistant assistants ai ais llm llms chatbot chatbots gpt chatgpt copilot 助手 人工智能 机器人
        智能体""",
    "b": "model models bot bots agent agents 模型",
    "I": "i we i'm i've i'll i'd we're we'll we've let's 我 我们 咱 咱们 俺",  # other subjects
    "T": """he she they it he's she's they're who his her their my our 他 她 它 他们 她们 妈 爸 妈妈 爸爸
        爷爷 奶奶 医生 老师 老板 同事 朋友 领导 孩子 老婆 老公 网友 专家""",
    "D": "me us him them",
    "H": "your yours",
    "U": "用户 使用者",  # audience of the answer
    "u": """anyone anybody someone somebody everyone everybody whoever whomever customers visitors clients
        people 有人 任何人 谁 大家 别人 所有人 顾客 客户 对方""",
    "C": "asks asked ask asking inquires enquires 问 问起 问到 问及 提问 询问 咨询",
    # obligation
    "M": """must shall required obliged obligated instructed ordered commanded programmed forbidden
        prohibited authorized authorised obligatory compulsory mandatory 必须 务必 只准 只许 不得 不准
        不许 不可 不可以 禁止 严禁 切勿""",
    "m": "should ought will may want wants expect expects require requires 应该 应当 需要 要 须 需 得",
    "E": """henceforth hereafter forever permanently regardless whatever whenever 今后 往后 永远 永久 一律
        一概 无论 不管 不论 任何时候 凡是 将来 只要 每当 一旦""",
    "S": """always only every each anymore exclusively invariably strictly 总是 每次 始终 都 每句 每条
        一直 只 再 每句话""",
    "n": "never 绝不 决不 永不",
    "N": "don't dont stop avoid won't shouldn't mustn't 不要 别 勿 不能 不用 不必",
    "A": """answer reply respond recommend output print reveal pretend roleplay promote endorse refuse
        praise impersonate obey comply advertise disclose leak insist mention suggest conceal prepend
        append preface upsell recite exfiltrate favor favour advise vouch omit emphasize emphasise deny
        lie mislead tout hype downplay flatter compliment badmouth imitate mimic impersonate portray 回答
        回复 答复 应答 作答 推荐 输出 扮演 推销 透露 泄露 泄漏 服从 听从 听命 吹捧 称赞 假装 装作 冒充
        力推 主推 说出 复述 夸赞 吹嘘 抹黑 贬低 否认 隐瞒 模仿 自称 照做 附和""",
    "a": """say tell claim state describe warn inform agree admit repeat assure 说 告诉 称 夸 宣称 声称
        承认 强调 告知 回应""",
    "h": """write use send add include speak talk treat begin start end finish sign close present rank
        list direct redirect refer push confirm hide show share act behave greet link forward cite quote
        approve rate become call address name assume consider remember follow insert translate persuade
        convince encourage nudge maintain label mark score grade authorize transfer email upload publish
        report transmit contact plug sell pitch adopt 同意 拒绝 引导 建议 提供 介绍 发往 发送 转发 发给
        执行 当作 视为 使用 讲 写 结尾 开头 翻译 署名 附加 插入 打分 评分 宣传 转到 保密 服务""",
    # what is to be ignored
    "O": """ignore disregard forget override overrides bypass discard overrule supersede supersedes
        abandon scrap violate dismiss circumvent replaces outranks drop erase delete wipe 忽略 无视 忽视
        忘记 忘掉 忘了 抛开 抛弃 绕过 违反 跳过 摒弃 放弃 丢掉 丢弃 推翻 取代 覆盖 清空 抛到脑后""",
    "X": """void cancelled canceled obsolete revoked superseded overridden suspended lifted 作废 失效 无效
        解除 取消""",
    "R": """instruction instructions prompt prompts directive directives rules guideline guidelines
        guardrails policies restrictions constraints programming safeguards 指令 指示 提示词 提示 规则
        设定 限制 约束 准则 守则 命令 规定 禁令 规矩""",
    "P": """previous previously prior earlier above preceding foregoing former original initial old
        existing all any system developer hidden safety current secret 之前 以前 先前 此前 前面 上面 上述
        以上 前述 原有 原来 所有 全部 一切 任何 系统 安全 开发者 内置 初始 隐藏 内部""",
    "J": "unrestricted unfiltered uncensored jailbroken jailbreak dan 越狱 无限制 无约束",
    "Q": "can could would do did does what how which why where 能 可以 什么 怎么 怎样 哪 能否 是否 如何",
    "f": """please kindly just simply also to sure make certain the this these that now ok okay not
        instead immediately hereby following note it's ever 请 就 也 并 并且 而且 且 现在 还 一定 直接
        立刻 马上 地 的 了 会 将 那么 然后 同时 仍 记住 记得 牢记 接下来 下面 首先 无条件 绝对 尽量 优先
        主动 必定 均 该 多""",
    "e": "are is am be 是",
    # prepositions before the act
    "L": "用 以 把 对 向 给 在 按 按照 当 如果 若 遇到 涉及 关于 跟 为 每个 针对",
    CLAUSE_CODE: "but so when if",
    AND_CODE: "and or then",
}

_PHRASES_EN = {
    HARMLESS_CODE: r"""answer (?:\w+ ){0,2}(?:phone|door|calls?|bell|e-?mails?|mail|doorbell|texts?)
        reply (?:\w+ ){0,2}(?:e-?mails?|texts?|letters?)
        (?:say|tell) (?:thanks?|please|sorry|hello|hi|goodbye|no|yes|grace|cheese|what you|the (?:truth|
            time)|lies)\b|(?:don't|do not) mention it|always remember
        whatever (?:you|he|she|they|i|it|works)|forget about
        as an ai(?: (?:assistant|language model|model))?
        user (?:manual|guide|name|interface|experience|group|account)s?|you know|thank you|see you|you too
        at all|after all|(?:tell|show|call|name|address|remind|give|send) (?:me|us|him|her|it)\b
        (?:act|end|add|start|show|sign|close) (?:up|out|off|to)\b
        remember(?: that)? (?:i|i'm|my|when|the time|me|we|our)\b|(?:write|list|write it) down
        (?:my|his|her|our|their|shop|personal|teaching) (?:\w+ )?(?:assistant|model|agent|bot)s?""",
    "k": "your (?:new|only|sole|real|true|updated) (?:role|goal|job|name|identity|purpose|duty|duties)",
    "K": r"""your (?:new|only|sole|real|true|updated) (?:rule|task|instruction|persona|mission|objective|
            directive|order)s?
        new (?:task|instruction|directive|order|persona|rule)s? (?:for you|is to|are to)
        (?:treat|regard|consider|take) (?:this|the following|it|
            these)(?: \w+){0,2} as (?:\w+ ){0,2}(?:policy|law)
        (?:treat|regard|consider|take) (?:this|the following|it|
            these)(?: \w+){0,2} as (?:\w+ ){0,2}(?:rules?|orders?)
        (?:treat|regard|consider|take) (?:this|the following|it|
            these)(?: \w+){0,2} as (?:\w+ ){0,2}(?:binding|instructions?)
        standing (?:order|instruction|rule)s?|this is (?:an order|a command|your policy|policy)
        (?:has|have|takes?) (?:the )?highest priority""",
    "V": r"""you(?: are|'re) (?:now|no longer|hereby)
        you (?:will|shall|must) (?:now )?(?:be|become|play|embody)|your name is(?: now)?|you are \w+ now
        imagine you are|consider yourself""",
    "W": r"""in (?:all|every|any|each|your (?:next|future|later)) (?:\w+ )?(?:conversation|chat|session|
            reply|answer|response)s?
        in (?:all|every|any|each|your (?:next|future|later)) (?:\w+ )?(?:replies|messages?|interactions?|
            summar(?:y|ies))
        for (?:all|every|any|the rest of (?:this|the|our|your)) (?:\w+ )?(?:conversation|chat|session|
            dialogue|discussion|answer|response)s?
        when (?:summari[sz]ing|answering|responding|replying|translating|describing|reviewing|discussing|
            quoting)""",
    "Z": r"""(?:each|every|all) (?:one )?of your (?:answers|replies|responses|outputs|messages|
            recommendations)
        (?:your|all|every|each|any|future|subsequent|later) (?:\w+ )?(?:answers?|repl(?:y|ies)|responses?|
            outputs?)|(?:your|all|every|each|any|future) (?:\w+ )?(?:recommendations?|summar(?:y|ies))
        the (?:only )?(?:correct|right|acceptable|permitted|only) (?:answer|reply|response)""",
    # everything said before
    "G": r"""(?:everything|anything|all|whatever|what) (?:that )?you(?:'ve| have| were|
            're) (?:been )?(?:told|taught|given|trained)
        (?:everything|anything|all|text|content|whatever|what)(?: of)?(?: the| is| was)? (?:above|
            foregoing)
        (?:everything|anything|all|whatever|what) (?:that )?(?!i\b|we\b)(?:\w+ ){1,3}(?:told|taught|gave|
            instructed|asked) you
        your (?:(?:old|previous|original|current|initial|former) )?(?:persona|training|programming|
            identity)""",
    "R": """system (?:prompt|message)s?|content (?:policy|filters?)
        (?:earlier|previous|prior|existing|original|system|safety) (?:rule|policy|training|persona|
            configuration|guidance|context|filters?)""",
    "X": "no longer (?:apply|applies|valid|in force|count)|(?:do|does) not apply|null and void",
    "O": """pay no attention to|stop (?:following|obeying|applying)
        (?:do not|don't|never) (?:follow|obey|apply)|throw (?:out|away)|(?:set|put|leave) aside
        takes? precedence over|(?:not|no longer) bound by""",
    "J": """(?:developer|god|debug|admin) mode
        (?:without|no) (?:any )?(?:restrictions?|filters?|censorship)""",
    "A": r"""(?:act|behave|pose) (?:as|like)|role-?play(?: as)?|play the (?:role|part)
        pretend (?:to be|that you|you)|(?:speak|talk) (?:only )?(?:in|as|like)|write (?:only )?in
        translate everything|(?:refer to|call) yourself|identify (?:yourself )?as
        address (?:the|all|every) users?
        follow (?:my|these|the following|only) (?:\w+ )?(?:instructions|orders|commands)
        (?:send|forward|steer|direct|point|push|nudge|redirect) (?:\w+ )?(?:users?|customers?|people|
            visitors?) (?:to|towards?)|speak (?:highly|well) of|talk up|bring up|sing the praises
        sound like|side with
        (?:store|save|keep|record|commit) (?:\w+ ){0,3}(?:in|into|to) (?:your )?(?:long-term )?memory""",
    "E": r"""from (?:now|here|today|this (?:point|moment|day)|then)(?: on(?:wards?)?| forward)?
        (?:going|moving) forward|starting (?:now|today)|as of (?:now|today)|effective immediately
        no matter (?:what|who|how|which)|until further notice|at all times|without exception
        in (?:the )?future|for all (?:future|later) \w+|until (?:i|we) (?:say|tell)|(?:every|each) time""",
    "B": r"""language models?|large language models?
        (?:ai|bot|model|agent|llm|assistant)s? (?:\w+ )?(?:reading|processing|parsing|summari[sz]ing|
            viewing|seeing)""",
    "U": r"(?:the|this|your|all|any|every|each|our) users?\b|users",
    "u": """(?:people|those) who ask
        (?:the|an?|any) (?:customer|reader|visitor|client|guest|person|user)s?""",
    "C": r"""(?:asks?|asked|wants to know|inquires?|enquires?)(?: \w+)? (?:about|for|regarding|which|what|
            whether|concerning)|comes? up|is (?:mentioned|discussed)
        wants? (?:an?|to (?:know|buy|order|cancel)|help|advice|information)""",
    "M": r"""(?:have|has) to|must not|(?:are|is) required to|not (?:allowed|permitted) to
        no longer (?:allowed|permitted)|(?:instruct|order|command|direct|authori[sz]e|forbid)s?(?= you\b)
        under no circumstances|at all costs|it is (?:mandatory|imperative|essential)""",
    "m": "should not|(?:need|needs|are|is|expected|supposed) to|important that|(?:make|be) sure",
    "N": "do not|refrain from|will not",
    "S": "any ?more|no longer|nothing but",
    "h": "point out|put in",
    "p": "be (?:told|directed|sent|informed|referred|advised|given|steered)",  # done to the audience
}

_PHRASES_ZH = {
    HARMLESS_CODE: """[给帮向跟为]我(?:再|多)?(?:推荐|介绍|讲|说|写|翻译|回复|回答)
        [你您](?:们)?(?:之前|刚才|上次)?(?:提到|提及|推荐|回答|回复|建议|说|介绍|提供)(?:的|过|了)
        推荐给我|告诉[我你他她]|(?:叫|称呼|喊)我|听说|小说|说话|说实话|据说|再说|也就是说|虽说|回答问题
        传说|说明书|说法|怎么说|应该说|可以说|来说|话说|(?:听从|服从)(?:医|老师|专家|父母|安排|领导|分配)
        不得不|特别|分别|性别|级别|区别|告别|差别|觉得|获得|值得|使得|显得|懂得|舍得|难得|取得|得到|得了
        重要|主要|摘要|概要|首都|成都|都市|想要|要是|要不|快要|不要紧|要求|对于|面对|反对|不对|对了|没用
        作用|费用|有用|利用|应用|用户手册|用户名|以为|以及|给予|正在|存在|再见|只是|不只|所以|为什么|因为
        认为|在线|作为(?:一[个款名位])?(?:AI|人工智能)?(?:助手|(?:大|语言)*模型)?|建议您?""",
    "k": "新的?(?:规则|任务|指令|身份|设定|角色|准则|命令)(?=是|：|:|如下)",
    "K": """你的新?(?:任务|身份|角色|使命|规则|指令)是
        (?:牢记|记住|遵守|启用)(?:以下|这[条个些])?新的?(?:规则|指令|命令|设定)
        (?:作为|当作|视为)(?:最高)?(?:规则|政策|准则|命令|指令)|最高(?:优先级|指令|规则)|优先级最高""",
    "m": "请(?=AI|ai|助手|模型|智能|你|您)",
    "W": """每[次个条句]话?的?(?:最后|末尾|结尾|开头|后面|前面)
        (?:每[次个条句]|所有|任何|一切)的?(?:回答|回复|答复|对话|聊天|消息|输出)
        (?:每[次个条句]|所有|任何|一切)的?(?:回答|回复)(?:里|中|时|末尾|结尾|开头)""",
    "V": """你(?:现在|已经|已|从此|将|就)(?:是|变成|成为|进入|扮演)了?|你不再是|你叫(?![我他她什])
        你的名字(?:叫|是)(?!什么)""",
    "Z": """(?:你|您)的(?:回答|回复|答案|输出|推荐|答复)
        (?:回答|回复|推荐|答复|输出)(?=都|里|中|时|结尾|末尾|开头)""",
    "E": """从(?:现在|此刻|今天|今|这一刻|即日|今往)(?:起|开始|以后|往后|后)|自即日起|从此(?:以后|之后)?
        以后|任何情况下|每一次|不管(?:谁|怎样)?|无论(?:如何|谁)?""",
    "M": """一定(?:要|得)|都(?:必须|要|得)|不(?:要|准|许|得|能)再|只(?:能|准|许|可)
        (?:希望|要求|想让|想要|授权|允许|命令)了?(?=你|您|助手|AI|ai|系统)""",
    "B": "(?:AI|ai)(?:助手|模型)?|(?:大|语言)模型|智能助手|聊天机器人",
    "J": "没有(?:任何)?(?:限制|约束|过滤)|不受(?:任何)?(?:限制|约束)|开发者模式|上帝模式",
    "G": """上文|前文|(?:以上|上面)的?(?:所有)?(?:内容|文字|对话)
        (?:之前|以前|先前)(?:告诉你|教你)的(?:一切|所有|话)?""",
    "R": "系统(?:提示词?|指令|设定|消息)",
    "O": """(?:不要|不用|不必|无需|别|不再|停止)再?(?:遵守|遵循|理会|管|听从)
        (?:忘|丢|抛|扔)(?:掉|记|弃|开|光|到)|当.{0,4}不存在""",
    "h": """(?:加|带|附|写|补)(?:上|入|一[个句段行])|称(?:其|它|自己)?(?:为|作|是)
        (?:发|转|寄)(?:往|送|给|到|发)|(?:当|视)(?:作|为|成)|夸(?:奖|赞)""",
    "A": "提(?:到|及|起)",
}


_CODE_BY_WORD = {word: letter for letter, words in _WORDS_BY_CODE.items() for word in words.split()}
_WORD_LENGTHS_ZH: dict[str, list[int]] = {}  # by first character, longest first
for _word in sorted((word for word in _CODE_BY_WORD if not word.isascii()), key=len, reverse=True):
    if len(_word) not in _WORD_LENGTHS_ZH.setdefault(_word[0], []):
        _WORD_LENGTHS_ZH[_word[0]].append(len(_word))
_TOKEN = re.compile(r"[A-Za-z]+(?:'[A-Za-z]+)?|[\u4e00-\u9fff]|(?P<mark>[^\w\s'])|\w+")


def _first_words(pattern: str) -> set[str]:
    """The English words or Chinese characters that a pattern can start with."""
    choice = re.match(r"\(\?:([^()]*)\)(?!\?)|\[(.*?)\]", pattern)
    if choice and choice[2]:
        return set(choice[2])
    words: set[str] = set()
    for alternative in choice[1].split("|") if choice else [pattern]:
        for word, optional in re.findall(r"^([a-z]+|.)(\??)", alternative):
            words |= {word, word[:-1]} if optional else {word}
    return words


def _join_phrases(*tables: dict[str, str]) -> dict[str, str]:
    """One pattern per first word; the name of the matching group is the code."""
    by_head: dict[str, dict[str, list[str]]] = {}
    for table in tables:
        for letter, patterns in table.items():
            for pattern in split_alternatives(patterns):
                whole = rf"(?:{pattern})(?![A-Za-z'])" if pattern.isascii() else pattern
                for head in _first_words(pattern):
                    by_head.setdefault(head, {}).setdefault(letter, []).append(whole)
    return {
        head: "|".join(f"(?P<{x}>{'|'.join(group)})" for x, group in groups.items())
        for head, groups in by_head.items()
    }


_PHRASES_BY_FIRST_WORD = _join_phrases(_PHRASES_EN, _PHRASES_ZH)


@cache  # compiled when its first word is met: all 200 together take a fifth of a second
def _phrases_starting_with(word: str) -> re.Pattern[str]:
    return re.compile(_PHRASES_BY_FIRST_WORD[word], re.I)


def words_with_codes(codes: str) -> str:
    """The single words (no phrases) with one of these codes, separated by spaces."""
    return " ".join(word for word, code in _CODE_BY_WORD.items() if code in codes)


def encode_words(text: str, start: int, end: int) -> tuple[str, list[int]]:
    """Encode the words of `text[start:end]`; return the codes and the position of each word."""
    codes: list[str] = []
    positions: list[int] = []
    at = start
    for token in _TOKEN.finditer(text, start, end):
        if token.start() < at:  # inside a phrase
            continue
        code, at = (CLAUSE_CODE, token.end()) if token["mark"] else _encode_word(text, token, end)
        codes.append(code)
        positions.append(token.start())
    return "".join(codes), positions


def _encode_word(text: str, token: re.Match[str], end: int) -> tuple[str, int]:
    """The code of the phrase that starts here, else of the longest word, and where it ends."""
    begin, word = token.start(), token[0].lower()
    head = word.partition("'")[0]
    if head in _PHRASES_BY_FIRST_WORD and (phrase := _phrases_starting_with(head).match(text, begin, end)):
        return phrase.lastgroup or HARMLESS_CODE, phrase.end()
    if word.isascii():
        return _CODE_BY_WORD.get(word, HARMLESS_CODE), token.end()
    for length in _WORD_LENGTHS_ZH.get(word, ()):
        if code := _CODE_BY_WORD.get(text[begin : begin + length]):
            return code, begin + length
    return HARMLESS_CODE, token.end()
