"""Sentences that the Chinese rules must read, with their triples, and sentences that they must ignore.

A triple is written "subject | relation | value; value"; "not " before the relation means that it is negated.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from thinkback.think.rule_generator import RuleGenerator
from thinkback.types import ThoughtDraft, Turn

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
    ("我已经戒烟了。", ("user | not smokes | 烟",)),
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
    # dialect and omitted subjects
    ("俺家住在村东头。", ("user | lives in | 村东头",)),
    ("俺娘今年六十八了，身体还硬朗。", ("用户的娘 | is aged | 68",)),
    ("咱闺女在县一中念高二。", ("用户的闺女 | studies at | 县一中",)),
    ("孩儿他爸在工地干活。", ("用户的孩儿他爸 | works at | 工地",)),
    ("前天刚搬到苏州，还在收拾东西。", ("user | lives in | 苏州",)),
    ("跟你唠唠，俺跳槽啦，如今在恒丰仓储上班。", ("user | works at | 恒丰仓储",)),
    ("昨儿跟老公去了趟西湖看荷花。", ("user | went to | 西湖",)),
    ("最近又迷上了陶艺。", ("user | likes | 陶艺",)),
    ("早就不在腾讯干了，现在在字节上班。", ("user | works at | 字节",)),
    ("下周二上午九点有个牙医预约。", ("user | has appointment | 牙医预约",)),
    # fronted objects
    ("电话换了，现在是13912345678。", ("user | phone number | 13912345678",)),
    ("邮箱改了，新的是lily@abc.com。", ("user | email | lily@abc.com",)),
    ("房租涨了，现在是四千五。", ("user | rent | 四千五",)),
    ("在大阪待过四年，所以日语也会说。", ("user | speaks | 日语",)),
    ("现在奶茶一口不喝，改喝乌龙茶了。", ("user | not drinks | 奶茶", "user | drinks | 乌龙茶")),
    ("我把烟戒了。", ("user | not smokes | 烟",)),
    ("我把工作辞了，准备休息半年。", ("user | did | 辞了工作",)),
    # roles
    ("我们公司的领导姓周。", ("用户的领导 | surname | 周",)),
    ("我领导叫周建国，管得特别细。", ("user | has boss | 周建国",)),
    ("我室友是湖南人，特别爱吃辣。", ("用户的室友 | comes from | 湖南", "用户的室友 | likes | 吃辣")),
    ("我高中同学张伟在哈尔滨开店。", ("user | has classmate | 张伟",)),
    ("同事张伟今天又请假，他是我们组的运维。", ("user | has colleague | 张伟", "张伟 | works as | 运维")),
    ("咱楼下邻居马大爷糖尿病。", ("user | has neighbour | 马大爷", "马大爷 | has condition | 糖尿病")),
    ("我导师是张教授，研究人工智能。", ("user | has teacher | 张教授",)),
    ("我邻居老王养了一条金毛。", ("user | has neighbour | 老王", "老王 | has | 一条金毛")),
    ("我前任叫李雷。", ("user | has ex | 李雷",)),
    ("我男朋友叫陈子昂，在银行上班。", ("user | has boyfriend | 陈子昂", "陈子昂 | works at | 银行")),
    ("我养了两只猫，一只叫花花，一只叫黑黑。",
     ("user | has | 两只猫", "user | has cat | 花花", "user | has cat | 黑黑")),
    ("又领养了一只小狗，取名年糕。", ("user | has dog | 年糕",)),
    # work and study
    ("我做外贸的，主要跑非洲市场。", ("user | works in | 外贸",)),
    ("我是开出租车的。", ("user | works as | 开出租车",)),
    ("我爷爷以前是木匠。", ("用户的爷爷 | not works as | 木匠",)),
    ("我正在学游泳。", ("user | learns | 游泳",)),
    ("我在学做木工。", ("user | learns | 木工",)),
    ("我本科是在兰州大学念的，学的草业科学。", ("user | studied at | 兰州大学", "user | studies | 草业科学")),
    ("我本科毕业于武汉大学。", ("user | graduated from | 武汉大学",)),
    # numbers
    ("顺带一提我身高一米七八，体重69公斤。", ("user | height | 一米七八", "user | weighs | 69公斤")),
    ("我瘦到了一百一十斤。", ("user | weighs | 一百一十斤",)),
    ("我一个月挣八千块。", ("user | salary | 八千块",)),
    ("大夫让我氨氯地平加到每天10毫克。", ("user | takes | 氨氯地平10毫克",)),
    ("医生给我开了阿莫西林，一天三次。", ("user | takes | 阿莫西林",)),
    # tastes and negations
    ("我最喜欢喝的就是珍珠奶茶。", ("user | favourite drink | 珍珠奶茶",)),
    ("比起咖啡我更喜欢茶。", ("user | prefers | 茶",)),
    ("我从来不吃香菜。", ("user | not eats | 香菜",)),
    ("我再也不喝可乐了。", ("user | not drinks | 可乐",)),
    ("我不吃肉也不喝牛奶。", ("user | not eats | 肉", "user | not drinks | 牛奶")),
    ("我从小跟外婆讲闽南话。", ("user | speaks | 闽南话",)),
    # "not A but B"
    ("我生日不是3月2号，是3月12号。", ("user | birthday | 3月12号",)),
    ("更正一下哈，娃的生日不是6月18号，是6月28号。", ("用户的娃 | birthday | 6月28号",)),
    # plans
    ("我刚从美团离职，下个月入职京东。", ("user | not works at | 美团", "user | plans to | 入职京东")),
    ("我明年六月毕业。", ("user | plans to | 毕业",)),
    ("我闺蜜小雅下个月结婚。", ("user | has friend | 小雅", "小雅 | plans to | 结婚")),
    # statements before a wish or a condition
    ("我在深圳上班，如果有空就去爬山。", ("user | works at | 深圳",)),
    ("我是老师，想去北京玩。", ("user | works as | 老师",)),
    # more updates
    ("我们全家搬到青岛去了。", ("user | lives in | 青岛",)),
    ("前两天搬到合肥了，房子比以前大。", ("user | lives in | 合肥",)),
    ("换了份工作，现在在滴滴做产品经理。", ("user | works as | 产品经理", "user | works at | 滴滴")),
    ("我从华为跳到小米了。", ("user | works at | 小米",)),
    ("我现在68公斤，比上个月轻了三斤。", ("user | weighs | 68公斤",)),
    ("我新交了个女朋友叫小鹿。", ("user | has girlfriend | 小鹿",)),
    ("我换了新老板，叫赵刚。", ("user | has boss | 赵刚",)),
    ("我现在的室友是小胖。", ("user | has roommate | 小胖",)),
    ("以前喜欢摇滚，现在只听民谣。", ("user | not likes | 摇滚",)),
    ("我对跑步没兴趣了。", ("user | not likes | 跑步",)),
    ("我不抽烟不喝酒。", ("user | not smokes | 烟", "user | not drinks | 酒")),
    ("我吃不了辣。", ("user | not eats | 辣",)),
    ("医生让我停了阿司匹林。", ("user | not takes | 阿司匹林",)),
    ("我查出高血压了。", ("user | has condition | 高血压",)),
    ("我有过敏性鼻炎和哮喘。", ("user | has condition | 过敏性鼻炎; 哮喘",)),
    ("我有一个哥哥和两个妹妹。", ("user | has | 一个哥哥; 两个妹妹",)),
    ("我最讨厌的菜是苦瓜。", ("user | not likes | 苦瓜",)),
    ("我最怕蛇。", ("user | is afraid of | 蛇",)),
    ("大家都叫我阿强。", ("user | goes by | 阿强",)),
    ("现在不敢看恐怖片了，改看喜剧。", ("user | not likes | 看恐怖片", "user | likes | 看喜剧")),
    ("我已经不玩王者荣耀了。", ("user | not likes | 玩王者荣耀",)),
    # mixed scripts and languages
    ("我養了一隻貓，叫咪咪。", ("user | has cat | 咪咪",)),
    ("我媽媽是護士。", ("用户的妈妈 | works as | 護士",)),
    ("my 妈妈是医生。", ("用户的妈妈 | works as | 医生",)),
    ("My roommate Kevin 是 vegan，冰箱里全是豆腐。", ("user | has roommate | Kevin", "Kevin | is | vegan")),
    ("I live in 上海，my wife 是日本人。", ("user | lives in | 上海", "user's wife | comes from | 日本")),
    ("我 work as a UX designer，天天画原型。", ("user | works as | UX designer",)),
    ("我的manager叫Lisa。", ("user | has boss | Lisa",)),
    ("另一个 Amy 是我房东。", ("user | has landlord | Amy",)),
)  # fmt: skip

NO_FACTS: tuple[str, ...] = (
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
    "我吃饱了。",
    "我对你过敏。",
    "我住院了。",
    "我住了三天酒店。",
    "我是好人。",
    "我是说真的。",
    "我说实话。",
    "我讲笑话给你听。",
    "我会说服他的。",
    "我叫了外卖。",
    "我在开会，晚点说。",
    "我在家做饭。",
    "我爹爬到一半非说腿软。",
    "我同事今天请假了。",
    "我妈做饭特别好吃。",
    "我做梦都想去西藏。",
    "我学会了。",
    "哈哈，我是你爸爸。",
    "她住在广州。",
    "它最喜欢吃鸡胸肉。",
    "我妈说我小时候特别爱哭。",
    "讲个笑话，我是个冰箱。",
    "假设我是一名律师，该怎么回答？",
    "有空的话我就住在海边，天天钓鱼。",
    "要是中了五百万，我就去马尔代夫买个岛。",
    "下辈子我要当一只猫。",
    "刚买了把二手的，弦有点生锈。",
    "叫我起床。",
    "小时候打针出过疹子。",
    "我不看电视。",
    "你叫我干嘛。",
    "我老公是高个子。",
    "我妈是马大哈。",
    "我弟是白痴。",
    "我妈有毛病。",
    "我的猫病了。",
    "我家在装修。",
    "我家住不下那么多人。",
    "我读了一本书。",
    "我五公斤的哑铃丢了。",
    "我在星巴克喝咖啡。",
    "我差点结婚了。",
    "我假装喜欢他。",
    "我帮同事搬到了三楼。",
    "我没说我喜欢他。",
    "我告诉他我是老师。",
    "对花生过敏的人不能吃这个。",
    "在华为上班的朋友告诉我的。",
    "现在的年轻人都喜欢喝奶茶。",
    "今年流行戒糖。",
    "昨天看了个电影，主角叫李雷，他是医生。",
    "我朋友的妈妈是医生。",
)


def read(text: str) -> list[ThoughtDraft]:
    return RuleGenerator().generate(Turn(id=7, query=text, at=AT, recorded_at=AT))


def format_triple(draft: ThoughtDraft) -> str:
    return f"{draft.subject} | {'not ' if draft.negated else ''}{draft.relation} | {'; '.join(draft.objects)}"


@pytest.mark.parametrize(("text", "triples"), FACTS, ids=[text for text, _ in FACTS])
def test_fact_is_read(text: str, triples: tuple[str, ...]) -> None:
    drafts = read(text)
    assert tuple(format_triple(draft) for draft in drafts) == triples
    for draft in drafts:
        (source,) = draft.sources
        assert (source.turn, source.speaker, source.side) == (7, "user", "query")
        assert text[source.start : source.end].strip() == text[source.start : source.end] != ""


@pytest.mark.parametrize("text", NO_FACTS)
def test_sentence_without_fact_is_ignored(text: str) -> None:
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


def test_events_and_moves_have_validity_periods() -> None:
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


def test_relative_named_in_passing_is_read() -> None:
    assert [format_triple(d) for d in read("我妹妹小红住在柏林。")] == [
        "user | has sister | 小红",
        "小红 | lives in | 柏林",
    ]
    assert [format_triple(d) for d in read("小红喜欢茶。小明喜欢酒。她住在北京。")] == [
        "小红 | likes | 茶",
        "小明 | likes | 酒",
    ]
    assert read("小时是时间单位。") == []
