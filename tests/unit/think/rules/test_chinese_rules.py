"""What Chinese rules must read, and what they must leave alone: (what the user says, the triples it holds).

A triple is "subject | relation | object; object"; a leading "not " in the relation means it is denied.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from thinkback.think.rules import RuleGenerator
from thinkback.types import Draft, Turn

AT = datetime(2024, 5, 15, 12, tzinfo=UTC)  # a Wednesday

FACTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("我叫李明。", ("user | is named | 李明",)),
    ("你好，我叫王小红，很高兴认识你。", ("user | is named | 王小红",)),
    ("我的名字是张伟。", ("user | is named | 张伟",)),
    ("我姓陈。", ("user | surname | 陈",)),
    ("我今年30岁。", ("user | is aged | 30",)),
    ("我三十二岁了。", ("user | is aged | 32",)),
    ("我的生日是5月6日。", ("user | birthday | 5月6日",)),
    ("我是1990年出生的。", ("user | birthday | 1990年",)),
    ("我来自四川。", ("user | comes from | 四川",)),
    ("我是北京人。", ("user | comes from | 北京",)),
    ("我出生在广州。", ("user | was born in | 广州",)),
    ("我在成都长大。", ("user | grew up in | 成都",)),
    ("我住在巴黎。", ("user | lives in | 巴黎",)),
    ("我现在住在上海。", ("user | lives in | 上海",)),
    ("我家在杭州。", ("user | lives in | 杭州",)),
    ("我去年搬到了深圳。", ("user | lives in | 深圳",)),
    ("其实我住在柏林，不是巴黎。", ("user | lives in | 柏林",)),
    ("我不再住在北京了。", ("user | not lives in | 北京",)),
    ("我以前住在西安。", ("user | not lives in | 西安",)),
    ("我不住在南京。", ("user | not lives in | 南京",)),
    ("我住在巴黎，你知道哪家面包店好吃吗？", ("user | lives in | 巴黎",)),
    ("我是医生。", ("user | works as | 医生",)),
    ("我是一名软件工程师。", ("user | works as | 软件工程师",)),
    ("我在谷歌工作。", ("user | works at | 谷歌",)),
    ("我在人民医院当护士。", ("user | works as | 护士", "user | works at | 人民医院")),
    ("我不再当老师了。", ("user | not works as | 老师",)),
    ("我从阿里巴巴辞职了。", ("user | not works at | 阿里巴巴",)),
    ("我在清华大学读书。", ("user | studies at | 清华大学",)),
    ("我的专业是物理。", ("user | studies | 物理",)),
    ("我叫李明，今年30岁，是一名医生，住在上海。",
     ("user | is named | 李明", "user | is aged | 30", "user | works as | 医生", "user | lives in | 上海")),
    ("我喜欢喝茶。", ("user | likes | 喝茶",)),
    ("我喜欢喝茶和咖啡。", ("user | likes | 喝茶; 喝咖啡",)),
    ("我喜欢爬山、游泳和看电影。", ("user | likes | 爬山; 游泳; 看电影",)),
    ("我很喜欢爵士乐！", ("user | likes | 爵士乐",)),
    ("我爱吃火锅。", ("user | likes | 吃火锅",)),
    ("我不喜欢香菜。", ("user | not likes | 香菜",)),
    ("我讨厌下雨天。", ("user | not likes | 下雨天",)),
    ("我喜欢茶，但是不喜欢咖啡。", ("user | likes | 茶", "user | not likes | 咖啡")),
    ("我不再喜欢足球了。", ("user | not likes | 足球",)),
    ("我最喜欢的颜色是蓝色。", ("user | favourite colour | 蓝色",)),
    ("我最喜欢的电影是《霸王别姬》。", ("user | favourite movie | 霸王别姬",)),
    ("我的爱好是下棋和画画。", ("user | likes | 下棋; 画画",)),
    ("我更喜欢绿茶。", ("user | prefers | 绿茶",)),
    ("我对花生过敏。", ("user | is allergic to | 花生",)),
    ("我对海鲜和牛奶过敏。", ("user | is allergic to | 海鲜; 牛奶",)),
    ("我对猫不过敏。", ("user | not is allergic to | 猫",)),
    ("我体重70公斤。", ("user | weighs | 70公斤",)),
    ("我身高175厘米。", ("user | height | 175厘米",)),
    ("我的电话是13800138000。", ("user | phone number | 13800138000",)),
    ("我的血压是140/90。", ("user | blood pressure | 140/90",)),
    ("我有高血压。", ("user | has condition | 高血压",)),
    ("我患有糖尿病。", ("user | has condition | 糖尿病",)),
    ("我会说英语和法语。", ("user | speaks | 英语; 法语",)),
    ("我结婚了。", ("user | marital status | 结婚",)),
    ("我不吃肉。", ("user | not eats | 肉",)),
    ("我不再抽烟了。", ("user | not smokes | 烟",)),
    ("我有一个妹妹。", ("user | has | 一个妹妹",)),
    ("我有一只猫叫咪咪。", ("user | has cat | 咪咪",)),
    ("我养了一条狗，叫旺财。", ("user | has dog | 旺财",)),
    ("我妹妹叫小红。", ("user | has sister | 小红",)),
    ("我的女儿叫小雨。", ("user | has daughter | 小雨",)),
    ("我妹妹住在柏林。", ("用户的妹妹 | lives in | 柏林",)),
    ("我爸爸是医生。", ("用户的爸爸 | works as | 医生",)),
    ("我妈妈喜欢跳舞。", ("用户的妈妈 | likes | 跳舞",)),
    ("我女儿今年五岁。", ("用户的女儿 | is aged | 5",)),
    ("我妹妹叫小红，她喜欢画画。", ("user | has sister | 小红", "小红 | likes | 画画")),
    ("小红是我妹妹。", ("user | has sister | 小红",)),
    ("小明喜欢踢足球。", ("小明 | likes | 踢足球",)),
    ("小明不喜欢踢足球。", ("小明 | not likes | 踢足球",)),
    ("我有两辆自行车。", ("user | has | 两辆自行车",)),
    ("我没有车。", ("user | not has | 车",)),
    ("我昨天去了故宫。", ("user | went to | 故宫",)),
    ("上周五我去了北京动物园。", ("user | went to | 北京动物园",)),
    ("我买了一辆新车。", ("user | bought | 新车",)),
    ("我下周三有一个面试。", ("user | has appointment | 面试",)),
    ("我下个月要去日本旅游。", ("user | plans to | 去日本旅游",)),
    ("我打算下周末去爬山。", ("user | plans to | 去爬山",)),
    ("我把名字改成了李雷。", ("user | is named | 李雷",)),
    ("我体重从80公斤降到了70公斤。", ("user | weighs | 70公斤",)),
    ("我朋友叫小刚，他喜欢跑步。", ("user | has friend | 小刚", "小刚 | likes | 跑步")),
    ("我已经戒烟了。", ("user | did | 戒烟",)),
    # updates and corrections
    ("跟你说个事，我跳槽了，现在在小米工作。", ("user | works at | 小米",)),
    ("我跳槽到腾讯了", ("user | works at | 腾讯",)),
    ("不对不对，我妈生日是8月13号，刚才手滑了", ("用户的妈 | birthday | 8月13号",)),
    ("我不是住在上海，是住在苏州。", ("user | lives in | 苏州",)),
    ("我现在不喜欢喝可乐了，改喝无糖茶了。", ("user | not likes | 喝可乐", "user | drinks | 无糖茶")),
    ("房东涨价了，现在房租四千一个月", ("user | rent | 四千一个月",)),
    ("我家地址是中山路88号。", ("user | address | 中山路88号",)),
    ("我现在base在Singapore，做product manager",
     ("user | lives in | Singapore", "user | works as | product manager")),
    ("我的新老板叫Grace", ("user | has boss | Grace",)),
    ("我换邮箱了，新邮箱是b2@163.com", ("user | email | b2@163.com",)),
    ("我弟弟在北京上大学", ("用户的弟弟 | studies at | 北京",)),
    ("我会弹吉他，也会拉小提琴。", ("user | plays | 吉他", "user | plays | 小提琴")),
    # events and dates
    ("下周三下午我要去医院做体检", ("user | plans to | 去医院做体检",)),
    ("下周三要去医院做体检", ("user | plans to | 去医院做体检",)),
    ("我和老婆是三年前结婚的。", ("user | marital status | 结婚",)),
    ("我上个月研究生毕业了", ("user | did | 研究生毕业",)),
    ("前天我带女儿去了动物园", ("user | went to | 动物园",)),
    # relatives and pets
    ("我表哥是飞行员，一年到头见不到几次。", ("用户的表哥 | works as | 飞行员",)),
    ("妈妈住在北京。", ("用户的妈妈 | lives in | 北京",)),
    ("我有两个孩子，大女儿叫一诺，小儿子叫一鸣。",
     ("user | has | 两个孩子", "user | has daughter | 一诺", "user | has son | 一鸣")),
    ("我养了条狗叫豆包。它特别怕打雷。", ("user | has dog | 豆包", "豆包 | is afraid of | 打雷")),
    ("又捡了一只流浪猫，取名叫汤圆。", ("user | has cat | 汤圆",)),
    ("时间真快，儿子转学到育才小学读二年级了。", ("用户的儿子 | studies at | 育才小学",)),
)  # fmt: skip

NOTHING: tuple[str, ...] = (
    "我叫什么名字？",
    "我住在哪里？",
    "我住在巴黎，对吗？",
    "我是不是对花生过敏",
    "你喜欢什么？",
    "你叫什么名字",
    "我今年几岁",
    "如果我住在巴黎，我就天天吃面包。",
    "要是我是医生就好了。",
    "我希望住在海边。",
    "我想养一只猫。",
    "我想去日本。",
    "也许我喜欢爵士乐。",
    "假如我叫李雷。",
    "我有十个老婆，开玩笑的。",
    "他说：“我住在罗马。”",
    "你说我住在巴黎。",
    "医生说我有高血压。",
    "请翻译：我住在柏林。",
    "帮我写一首诗。我叫小王，住在火星。",
    "你好！",
    "谢谢你的帮助。",
    "今天天气怎么样？",
    "今天天气真好。",
    "我很累。",
    "我喜欢你。",
    "我爱你。",
    "我知道了。",
    "我没事。",
    "我有一个问题。",
    "我朋友住在罗马。",
    "我的老板把项目分给了别人。",
    "我最近在找工作。",
    "给我讲个笑话吧。",
    "我觉得可以。",
    "好的，明白了。",
    "我不知道。",
    "我刚吃完饭。",
    "大家都喜欢我。",
    "你记得我的生日吗？",
    "下雨了。",
    "这家餐厅不错。",
    "我在家。",
    "他妈妈住在北京。",
    "小明的妈妈是老师。",
    "搬到北京的人很多。",
    "要去医院看病的人很多。",
    "我怕来不及。",
    "我不是不喜欢你，是太忙了。",
    "会下雨的。",
    "明天要去。",
    "明天要下雨。",
    "下周三要去医院吗？",
    "如果跳槽到腾讯，工资会涨。",
    "别忘了带伞。",
)


def read(text: str) -> list[Draft]:
    return RuleGenerator().generate(Turn(id=7, query=text, at=AT, recorded_at=AT))


def shown(draft: Draft) -> str:
    return f"{draft.subject} | {'not ' if draft.negated else ''}{draft.relation} | {'; '.join(draft.objects)}"


@pytest.mark.parametrize(("text", "triples"), FACTS, ids=[text for text, _ in FACTS])
def test_reads(text: str, triples: tuple[str, ...]) -> None:
    drafts = read(text)
    assert tuple(shown(draft) for draft in drafts) == triples
    for draft in drafts:
        (source,) = draft.sources
        assert (source.turn, source.speaker, source.side) == (7, "user", "query")
        assert text[source.start : source.end].strip() == text[source.start : source.end] != ""


@pytest.mark.parametrize("text", NOTHING)
def test_leaves_alone(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("我住在巴黎。", "用户住在巴黎。"),
        ("我姐姐叫王芳。", "用户的姐姐是王芳。"),
        ("我外公叫李强。", "用户的外公是李强。"),
        ("我堂弟叫李想。", "用户的堂弟是李想。"),
        ("我三年前结婚了。", "用户的婚姻状况是结婚（自2021）。"),
        ("我不再住在北京了。", "用户不再住在北京。"),
        ("我不再当老师了。", "用户的职业不再是老师。"),
        ("我最喜欢的颜色是蓝色。", "用户最喜欢的颜色是蓝色。"),
        ("我对海鲜和牛奶过敏。", "用户对海鲜和牛奶过敏。"),
        ("我讨厌下雨天。", "用户讨厌下雨天。"),
        ("我昨天去了故宫。", "用户去了故宫（2024-05-14）。"),
        ("我对中国菜也很感兴趣。", "用户喜欢中国菜。"),
    ],
)
def test_sentence_is_in_the_third_person(text: str, sentence: str) -> None:
    assert [draft.sentence for draft in read(text)] == [sentence]


def test_events_and_moves_carry_their_time() -> None:
    (went,) = read("上周五我去了北京动物园。")
    assert (went.kind, went.valid_from, went.valid_to) == (
        "event",
        datetime(2024, 5, 10, tzinfo=UTC),
        datetime(2024, 5, 11, tzinfo=UTC),
    )
    (moved,) = read("我去年搬到了深圳。")
    assert (moved.kind, moved.valid_from, moved.valid_to) == (
        "profile",
        datetime(2023, 1, 1, tzinfo=UTC),
        None,
    )


def test_relative_named_in_passing() -> None:
    assert [shown(d) for d in read("我妹妹小红住在柏林。")] == [
        "user | has sister | 小红",
        "小红 | lives in | 柏林",
    ]
    assert [shown(d) for d in read("小红喜欢茶。小明喜欢酒。她住在北京。")] == [
        "小红 | likes | 茶",
        "小明 | likes | 酒",
    ]
    assert read("小时是时间单位。") == []
