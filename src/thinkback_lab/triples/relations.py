"""KdConv's attribute names, and the relations of ours (or of a model) that say the same.

The table is for matching only. An attribute that is not in it is matched by its own name.
"""

from __future__ import annotations

from thinkback_lab.triples.fold import fold

_TABLE = {
    "birthday, was born on, born on, date of birth, birth date, 生日, 出生日期, 出生于": "出生日期",
    "was born in, birthplace, born in, comes from, is from, 出生地, 出生在, 出生于, 来自": "出生地 祖籍",
    "nationality, comes from, is from, country, 国籍, 来自": "国籍",
    "works as, occupation, profession, job, is, 职业, 是": "职业",
    "graduated from, studies at, alma mater, studied at, 毕业于, 毕业院校, 就读于": "毕业院校",
    "is named, goes by, english name, also known as, is called, alias, name, 别名, 又名, 叫": (
        "别名 其它译名 外文名称 中文名 中文名称 本名"
    ),
    "height, is tall, 身高": "身高",
    "likes, hobby, 爱好, 喜欢": "爱好 特长",
    "directed by, is directed by, director, 导演, 执导": "导演 MV导演",
    "starring, stars, actor, lead actor, cast, 主演, 出演": "主演 特别客串",
    "writer, written by, screenwriter, 编剧": "编剧",
    "produced by, producer, 制片人, 制作人": "制片人 制作人",
    "released, was released on, release date, released on, released in, 上映, 上映时间, 发行时间, 发行": (
        "上映时间 发行时间 出品时间"
    ),
    "released in, region, produced in, country, 制片地区, 发行地区": "制片地区 发行地区",
    "genre, type, is, style, 类型, 风格, 是": "类型 音乐风格",
    "duration, length, runtime, 片长, 时长": "片长 歌曲时长 专辑时长",
    "language, in language, 语言": "对白语言 专辑语言 歌曲语言 语言",
    "box office, grossed, 票房": "票房 全球票房 全美累计票房",
    "budget, cost, 成本": "制片成本 制作成本",
    "representative work, notable work, known for, works, work, 代表作, 代表作品, 作品": (
        "代表作品 代表作 主要作品"
    ),
    "won, award, awards, received, achievement, was awarded, 获得, 获奖, 奖项, 成就": (
        "主要成就 主要奖项 获得奖项"
    ),
    "singer, sung by, artist, performed by, original singer, 演唱, 原唱, 歌手": (
        "专辑歌手 歌曲原唱 演唱者 主唱 翻唱"
    ),
    "composer, composed by, 作曲, 谱曲": "谱曲",
    "lyricist, lyrics by, 作词, 填词": "填词",
    "arranger, arranged by, 编曲": "编曲",
    "album, is on album, belongs to, 专辑": "所属专辑",
    "number of tracks, tracks, has tracks, 曲目, 收录": "曲目数量",
    "label, record label, published by, company, agency, works at, 公司, 唱片公司": (
        "唱片公司 经纪公司 出品公司 发行公司"
    ),
    "founded, was founded in, established, 成立, 成立时间": "成立时间",
    "address, is located in, located in, is located at, location, is in, 地址, 位于, 在": "地址 总部地点",
    "phone number, phone, telephone, 电话, 电话号码": "电话",
    "ticket, ticket price, tickets, price, admission, costs, 门票, 票价": "门票",
    "opening hours, open, is open, open from, opens, 开放时间, 开放": "开放时间",
    "suggested duration, visit duration, recommended duration, takes, 游玩时间, 建议游玩时间": "建议游玩时间",
    "nearby, is near, near, nearby attraction, next to, recommended, 附近, 周边, 周边景点, 附近景点": (
        "周边景点"
    ),
}
_SAID_AS: dict[str, set[str]] = {}
for _ours, _theirs in _TABLE.items():
    for _attribute in _theirs.split():
        _SAID_AS.setdefault(fold(_attribute), set()).update(fold(word) for word in _ours.split(","))


def same_relation(attribute: str, relation: str) -> bool:
    """Whether a relation says what a KdConv attribute says: by the table, or one name holds the other."""
    gold, drawn = fold(attribute), fold(relation)
    if gold == drawn or drawn in _SAID_AS.get(gold, ()):
        return True
    return min(len(gold), len(drawn)) >= 2 and (gold in drawn or drawn in gold)
