"""Traits and habits: fears, languages, milestones, what one eats and gave up."""

from __future__ import annotations

from thinkback.think.rules.chinese_parts import rule
from thinkback.think.rules.chinese_words import is_feared, is_instrument, is_language, is_thing
from thinkback.think.rules.rule import Rule

RULES: tuple[Rule, ...] = (
    rule("afraid", "(?:害怕|最怕|怕)(?P<o>.+)", "is afraid of", split=True, accept=is_feared),
    rule("instrument some", "会(?:一?点儿?|打|弹点)(?P<o>.{2,5})", "plays", split=True, say="{s}会演奏{o}",
        accept=is_instrument),
    rule("instrument", "会(?:弹|拉|吹)(?P<o>.{1,6})", "plays", split=True, say="{s}会演奏{o}",
        accept=is_thing),
    rule("speaks", "(?:会|能|(?:(?:跟|和).{1,6}?)?(?=[讲说]))(?:说|讲|一点儿?|一口|些|点|流利的?|的是?"
        "|地道的?)+(?P<o>.+)", "speaks", split=True, accept=is_language),
    rule("speaks it", "(?P<o>[^会能]{2,5}?)(?:也|都|还)?(?:会|能)(?:说|讲"
        "|一点儿?)", "speaks", accept=is_language),
    rule("milestone", "(?:(?:和|跟|与).{1,8}?)?(?P<o>(?:研究生|本科|大学|硕士|博士|高中|初中|大专)?毕业"
        "|退休|搬家|入职|辞职|离职"
        "|分手|怀孕|买房|买车|出院|住院|做(?:了)?手术|创业|领证|当爸爸"
        "|当妈妈)", "did", dated=True, kind="event", say="{s}{o}了"),
    rule("marital", "(?:(?:和|跟|与).{1,8}?)?(?:已经|有)?(?P<o>结婚|离婚|订婚|单身|离异|丧偶|已婚"
        "|未婚)(?:.{1,4}年)?", "marital status"),
    rule("trait",
        "(?:是 ?)?(?:一[个名位])?(?P<o>vegan|vegetarian|introvert|extrovert|社恐|社牛|吃货|夜猫子|素食主义者"
        "|素食者|左撇子|独生子女|独生子|独生女|佛教徒|党员|双胞胎|[汉满回藏蒙壮苗彝侗瑶傣]族|基督徒|穆斯林"
        "|糖尿病患者|退休人员)", "is"),
    rule("sign", "是(?P<o>(?:白羊|金牛|双子|巨蟹|狮子|处女|天秤|天蝎|射手|摩羯|水瓶|双鱼)座)", "is"),
    rule("zodiac", "(?P<o>属[鼠牛虎兔龙蛇马羊猴鸡狗猪])", "is", say="{s}{o}"),
    rule("blood", "是(?P<o>(?:A|B|O|AB)型)血", "blood type"),
    rule("drives", "开的(?:车)?是(?P<o>.{2,10})", "drives", accept=is_thing),
    rule("retired", "(?P<o>退休)", "is", say="{s}已退休"),
    rule("quit smoking", "戒(?:了"
        "|掉了?)?(?P<o>烟).{0,8}", "smokes", negated=True, ended=True, say="{s}已戒烟"),
    rule("quit drinking", "戒(?:了|掉了?)?(?P<o>酒|咖啡|奶茶|可乐"
        "|饮料).{0,8}", "drinks", negated=True, ended=True,
        say="{s}已戒{o}"),
    rule("gave up", "(?P<o>咖啡|奶茶|可乐|酒|饮料|糖水|白酒|啤酒)(?:也|都|已经"
        "|早就)*戒", "drinks", negated=True, ended=True,
        say="{s}已戒{o}"),
    rule("gave up smoking", "(?P<o>烟)(?:也|都|已经"
        "|早就)*戒", "smokes", negated=True, ended=True, say="{s}已戒烟"),
    rule("gone off", "(?:敢|想|爱)?(?P<o>(?:看|听|玩|打|踢|逛"
        "|追)[^过了得针]{1,8})", "likes", accept=is_thing),
    rule("changed to", "改(?P<o>(?:看|听|玩|打|踢).{1,8})", "likes", accept=is_thing),
    rule("smokes", "(?:得|要|能)?抽.{0,3}[包根支条]?(?P<o>烟)", "smokes"),
    rule("cannot take", "(?P<verb>吃|喝)不(?:了|惯|得)(?P<o>.{1,8})", "{verb}", split=True, negated=True,
        accept=is_thing),
    rule("quit eating", "戒(?:了|掉了?)?(?P<o>糖|甜食|肉|碳水|夜宵|零食|辣"
        "|主食).{0,8}", "eats", negated=True,
        ended=True, say="{s}已戒{o}"),
    rule("takes none", "(?P<o>[^我你他她，一]{1,6}?)(?:一[口根点杯支瓶滴丁]点?儿?|[也都])+(?:不|没)(?:再"
        "|敢)?(?P<verb>吃|喝)", "{verb}",
        split=True, negated=True, accept=is_thing),
    rule("takes only", "(?:咖啡|茶|奶茶|酒|饮料)(?:一般|只|都|基本|从来)*(?P<verb>喝)(?P<o>.{1,6})", "{verb}",
        accept=is_thing),
    rule("eats", "(?:改|只|戒糖后)?(?P<verb>吃|喝)(?P<o>(?!东西|饭|完|过|了|饱|撑|惯|腻|亏|惊|力|苦|醋|得"
        "|到|上"
        "|着|醉|多|点|什么"
        "|不).{1,8})", "{verb}", split=True, accept=is_thing),
)  # fmt: skip
