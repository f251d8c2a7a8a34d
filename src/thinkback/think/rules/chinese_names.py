"""Bare Chinese names: what tells 王芳 and 小雅 from 周末 and 小区, when no word says who somebody is."""

from __future__ import annotations

import re

from thinkback.text.people.names import SURNAMES

_GIVEN = (
    "[^\\W\\da-zA-Z_我你他她它的了是在有不没也都就这那们和跟与会要去来说吧吗呢啊天年月日人个最很还"
    "把被让对给又才]"
)
BARE_NAME = f"(?:[{SURNAMES}]{_GIVEN}{{1,2}}|[小老阿]{_GIVEN}|(?P<twice>{_GIVEN})(?P=twice))"
"""A name with its surname, 小雅, or a name said twice (佳佳); `is_bare_name` says whether it is one."""

_WORDS = """马大 周一 周二 周三 周四 周五 周六 周末 周日 周围 周岁 周边 周期 许多 许久 于是 曾经 曾几 何时
 何况 何必 何处 韩国 韩语 韩剧 韩文 韩餐 唐朝 宋朝
 唐诗 宋词 郑州 苏州 唐山 夏天 夏季 夏令 程序 程度 林业 林地 叶子 叶酸 余下 余额 范围 顾客 孙子 孙女 胡同
 胡子 胡椒 谢谢
 钟头 钟表 熊猫 陆续 陆地 王者 王子 王府 李子 杜绝 罗马 杨梅 杨树 刘海 田园 田里 孔雀 秦朝 丁香 汪汪 苏打
 苏联 吴语 张口
 黄色 黄金 黄瓜 黄牛 黄山 黄河 高中 高考 高铁 高管 高层 高手 高级 高血 高兴 高数 高速 马上 马路 马虎 马拉
 马桶 金融 金牛 金属 金鱼
 江苏 江西 江湖 江南 江边 钱包 严重 严格 牛奶 牛肉 牛仔 温州 温泉 温度 章鱼 鲁迅 毕业 毕竟 焦虑 向来 欧洲
 齐全 尚未 施工 季节
 老师 老板 老公 老婆 老家 老人 老年 老妈 老爸 老爹 老娘 老伴 老头 老乡 老友 老外 老大 老二 老三 老鼠 老虎
 老是 老实 老早 老汉 老歌
 小孩 小学 小时 小心 小说 小区 小吃 小狗 小猫 小事 小米 小众 小伙 小姨 小舅 小姑 小叔 小名 小型 小组 小妹
 小弟 小哥 小姐 小朋
 小鸟 小鱼 小兔 小提 小雨 小雪 小麦 小酒 小菜 小店 小镇 小县 小城 小公 小女 小儿 小宝 小娃 小孙 小外 小侄
 小龙 小腿 小费 小票 小班 小升
 阿姨 阿拉 阿胶 妈妈 爸爸 爷爷 奶奶 哥哥 姐姐 弟弟 妹妹 叔叔 舅舅 姑姑 婶婶 伯伯 宝宝 猫猫 狗狗 太太 公公
 婆婆 姥姥 常常 刚刚
 天天 人人 偷偷 渐渐 慢慢 处处 多多 好好 早早 轻轻 默默 悄悄 往往 仅仅 明明 偏偏 恰恰 哈哈 嘻嘻 呵呵 嘿嘿
 嗯嗯 呜呜 啊啊 看看 听听
 试试 想想 说说 聊聊 谈谈 玩玩 走走 星星 饱饱 饺饺 娃娃 蛋蛋 家家 事事 样样 年年 月月 日日 夜夜"""
_NO_NAME = frozenset(_WORDS.split())
_ENDS_NO_NAME = re.compile(
    "[座师员工手族病型岁迷店馆院厂县市省区镇村路街州山河湖语文话病症炎鱼肉菜茶酒饭面色]\\Z"
)
_WHOLE = re.compile(BARE_NAME)
_DOUBLE = "欧阳|司马|上官|诸葛|慕容|夏侯|司徒|端木|皇甫|尉迟|令狐|东方|南宫|公孙"
FULL_NAME = (
    f"(?:(?:{_DOUBLE}|[{SURNAMES}方石任龙白文武康史毛万雷段殷裴阮游童翁巫申关安包左樊骆祁])"
    "[^\\W\\da-zA-Z_的是了我你他她它们]{1,2}|[\u4e00-\u9fff]{1,5}·[\u4e00-\u9fff]{1,6})"
)
"""A name before what only a person has (的职业, 的妻子): there more characters may stand in it."""
_FULL = re.compile(FULL_NAME)


def is_bare_name(words: str) -> bool:
    """Whether two or three characters are somebody's name, and no common word."""
    if not _WHOLE.fullmatch(words) or words[:2] in _NO_NAME or words[:1] == words[1:2] == words[2:3]:
        return False
    return not (len(words) == 3 and _ENDS_NO_NAME.search(words))


def is_full_name(words: str) -> bool:
    """Whether characters that stand where a person must are a name, and no common word."""
    return bool(_FULL.fullmatch(words)) and words[:2] not in _NO_NAME
