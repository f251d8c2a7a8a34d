"""Thesaurus of Chinese and English synonyms and hyponyms, to expand the terms of a question.

A small embedder knows little Chinese, so 水果 would not find 榴莲, nor 租金 find 房租. Each line is one
concept: its names, then ">" and narrower words. A name in a question selects the concept and all its words.
Only words that occur in the space count, so a long line costs nothing.
"""

from __future__ import annotations

import re
from functools import cache

from thinkback.language.kinship import KIN_EN, KIN_ZH, alternation_pattern
from thinkback.language.text_cache import cache_recent
from thinkback.language.tokens import extract_terms
from thinkback.language.writing_systems import HAN, to_simplified

_CONCEPTS = """
    # people
    老师 教师 班主任 导师 教授 师父 师傅 teacher professor tutor mentor
    领导 上司 老板 主管 经理 头儿 boss manager supervisor lead
    同事 搭档 colleague coworker teammate
    室友 舍友 合租 roommate flatmate
    邻居 隔壁 楼下 楼上 neighbour neighbor
    房东 landlord landlady
    教练 coach trainer
    医生 大夫 医师 牙医 doctor dentist physician
    朋友 好友 哥们 闺蜜 发小 兄弟 死党 friend buddy bestie
    同学 校友 classmate schoolmate
    前任 前男友 前女友 前夫 前妻 对象 ex
    对象 伴侣 另一半 爱人 partner spouse > 男朋友 女朋友 男友 女友 老公 老婆 丈夫 妻子 媳妇 老伴 boyfriend girlfriend husband wife
    父母 爸妈 爹娘 爹妈 双亲 家长 parents > 爸 妈 爹 娘 父亲 母亲 dad mom mother father
    孩子 娃 小孩 宝宝 子女 kid kids child children > 儿子 女儿 闺女 son daughter 老大 老二
    家人 亲人 亲戚 family relatives > 爸 妈 爹 娘 哥 姐 弟 妹 爷爷 奶奶 外婆 外公 姥姥 姥爷 叔 姑 舅 姨 老公 老婆 儿子 女儿
    # home and places
    住 住址 居住 城市 home live city > 搬家 搬到 定居 租房 moved apartment
    老家 家乡 故乡 籍贯 祖籍 原籍 哪里人 哪儿人 hometown native origin birthplace originally > 来自 出生 出生地 born raised
    国籍 哪国人 哪个国家 护照 nationality passport citizenship country > 中国 美国 英国 法国 德国 日本 韩国 加拿大 citizen
    房租 租金 月租 rent > 押一付三 涨租
    房贷 月供 按揭 mortgage loan
    房产 房子 物业 property house > 公寓 别墅 买房
    车站 火车站 station > 南站 北站 东站 西站
    公园 park
    # work and study
    工作 职业 行业 岗位 干活 谋生 上班 做事 行当 生意 营生 职务 job work career occupation profession living business
    > 员工 开店 外贸 销售 老板 工程师 设计师 经理 designer engineer manager
    公司 单位 企业 东家 雇主 company employer firm > 集团 银行 工厂 上班 入职 跳槽 works joined
    工资 薪水 月薪 收入 薪资 挣 赚 salary income pay earn wage > 税后 到手 奖金 bonus
    跳槽 换工作 辞职 离职 入职 quit resigned
    面试 interview
    念书 上学 读书 求学 study studying > 大学 高中 初中 小学 校园
    大学 本科 学校 母校 毕业 university college school > 学院 学历 念书
    专业 major > 科学 工程 学的
    考试 考研 高考 期末 exam test
    成绩 分数 score grade result
    手艺 技能 本领 skill craft > 木工 编织 陶艺 烘焙 书法
    课 课程 班 class course lesson > 瑜伽 舞蹈 英语 报名 上课
    项目 project > 负责
    会议 开会 meeting
    加班 overtime
    升职 晋升 提拔 promotion promoted
    出差 trip
    通勤 上下班 上班路上 commute > 地铁 公交 骑车 开车 电动车 步行 subway bus bike
    论文 毕业论文 thesis paper dissertation > 截止 deadline
    截止 到期 期限 deadline due
    留学 出国 abroad overseas
    年级 几年级 班级 grade class > 一年级 二年级 三年级 四年级 五年级 六年级 初一 初二 初三 高一 高二 高三 大一 大二 大三 大四
    科目 哪门课 学科 subject > 数学 语文 英语 物理 化学 生物 历史 地理 政治 美术 体育 math physics chemistry history
    性格 脾气 个性 性情 为人 什么样的人 怎样的人 怎么样的人 personality temperament character traits
    > 内向 外向 开朗 乐观 温和 稳重 急躁 耐心 社恐 急性子 introvert extrovert outgoing shy patient cheerful
    外貌 外表 长相 相貌 样貌 样子 模样 外形 体貌特征 长什么样 长得 认出 辨认 appearance looks recognise recognize
    > 身材 身高 个子 体型 发型 头发 眼睛 脸 戴眼镜 hair eyes tall slim build glasses face
    学历 教育 教育背景 文化程度 受过教育 education educational educated qualification degree training trained
    > 本科 硕士 博士 大专 学士 高中 毕业 学位 bachelor master phd diploma graduated university
    民族 族裔 ethnicity ethnic > 汉族 满族 回族 藏族 蒙古族 壮族
    性别 男女 gender sex > 男 女 男性 女性 male female
    星座 属相 zodiac sign > 属
    信仰 宗教 信教 宗教信仰 religion religious faith belief
    > 佛教 基督 穆斯林 道教 天主教 伊斯兰 无神论 教堂 寺庙 christian buddhist muslim catholic hindu jewish atheist church
    害怕 怕 恐惧 胆小 afraid scared fear > 蛇 蟑螂 老鼠 打雷 怕黑 恐高 snake spider
    梦想 理想 愿望 志向 抱负 人生目标 dream goal ambition aspiration
    成就 荣誉 奖项 获奖 得奖 成绩 了不起 自豪 骄傲 achievement accomplishment award prize honour honor proud
    > 得过 获得 奖 冠军 won winner awarded champion medal
    偶像 榜样 崇拜 敬佩 敬仰 idol hero admire
    昵称 小名 外号 绰号 称呼 大名 nickname alias pet-name
    头衔 称谓 称号 职称 title honorific
    攒钱 存钱 储蓄 积蓄 save saving savings
    座右铭 口头禅 格言 motto catchphrase saying
    缺点 弱点 短处 不足 weakness flaw shortcoming
    擅长 特长 专长 强项 拿手 才艺 skilled skills talent talents expertise strength > 会 精通
    保险 理赔 insurance
    贷款 欠款 还款 借钱 loan debt > 房贷 车贷 花呗 月供
    花费 价格 多少钱 价钱 费用 花了 price cost paid spend > 元 块 块钱 万
    # food and drink
    水果 fruit > 苹果 香蕉 榴莲 芒果 西瓜 草莓 葡萄 橙子 桃 梨 荔枝 樱桃 菠萝 柚子 apple banana mango durian grape
    蔬菜 青菜 vegetable > 香菜 芹菜 白菜 菠菜 茄子 西红柿 土豆 cilantro
    饮料 喝的 喝 drink beverage > 茶 咖啡 奶茶 果汁 可乐 啤酒 豆浆 乌龙茶 拿铁 美式 tea coffee latte juice
    酒 alcohol > 啤酒 白酒 红酒 beer wine
    菜 菜肴 拿手 做饭 下厨 dish cook > 扣肉 红烧 火锅 烧烤 炖汤
    食物 吃的 饮食 口味 忌口 吃 food diet eat > 素食 吃辣 甜食 海鲜 不吃 过敏 vegan vegetarian
    零食 甜品 snack dessert > 蛋糕 巧克力 薯片 冰淇淋 cake chocolate
    不能 不碰 忌口 避开 避免 不吃 过敏 忌 allergic allergy avoid > 过敏 不吃 不喝 从来不 从不
    早餐 早饭 breakfast
    餐厅 饭店 饭馆 restaurant
    # leisure
    爱好 兴趣 喜好 消遣 业余 空闲 闲暇 嗜好 兴趣爱好 业余时间 空闲时间 hobby hobbies interest interests pastime leisure spare
    > 喜欢 迷上 周末 平时 love enjoy 画画 摄影 钓鱼 书法 陶艺 攀岩 bouldering pottery hiking
    喜欢 爱 中意 钟爱 心仪 偏好 合心意 偏爱 like love prefer favourite favorite fan > 最爱 迷上 粉丝
    讨厌 反感 受不了 嫌 hate dislike > 腻 怕
    运动 锻炼 健身 体育 sport sports exercise workout fitness
    > 跑步 游泳 瑜伽 羽毛球 篮球 足球 网球 乒乓球 骑行 登山 爬山 攀岩 健身房 马拉松 滑雪 太极 跳绳 普拉提
    > badminton basketball football tennis yoga swim swimming run running gym climb bouldering hiking pilates
    半马 半程马拉松 马拉松 全马 marathon race > 跑完 配速
    乐器 演奏 instrument > 吉他 钢琴 小提琴 二胡 古筝 笛子 鼓 大提琴 尤克里里 口琴 琵琶 架子鼓 萨克斯 古琴 手风琴 guitar piano violin cello drum flute plays
    跳舞 舞蹈 dance > 广场舞 街舞 芭蕾 领舞
    电影 影片 movie film
    音乐 歌 歌手 music song singer band > 演唱会 乐队 专辑
    书 小说 阅读 book novel read
    游戏 game
    比赛 赛事 活动 event competition race > 马拉松 参加 marathon match
    宠物 小动物 动物 pet pets animal > 狗 猫 小狗 小猫 乌龟 兔子 仓鼠 鹦鹉 金鱼 养 领养 柯基 金毛 橘猫 dog cat puppy kitten turtle rabbit
    狗 狗狗 小狗 dog puppy > 金毛 柯基 哈士奇 泰迪 边牧 拉布拉多 corgi husky labrador
    猫 猫咪 小猫 cat kitten > 橘猫 布偶 英短
    旅游 旅行 出游 度假 游玩 trip travel vacation holiday visit > 景点 机票 酒店 爬山 石窟 古镇 海边
    休假 请假 学术假 leave sabbatical
    聚会 聚餐 饭局 同学会 年会 团建 party gathering reunion
    演唱会 音乐节 现场 concert gig livehouse
    电视剧 剧 追剧 综艺 动漫 show series drama anime
    偶像 明星 爱豆 idol star celebrity > 粉 歌手 演员
    球队 球星 team player > 曼联 皇马 湖人
    摄影 拍照 照片 相机 photo photography camera
    画画 绘画 书法 paint painting draw calligraphy > 水彩 素描 油画
    做饭 烹饪 烘焙 厨艺 cook cooking bake baking
    唱歌 KTV sing singing karaoke
    钓鱼 露营 徒步 户外 outdoor camping hiking fishing
    博物馆 展览 看展 museum exhibition
    节日 过节 过年 春节 中秋 端午 国庆 festival holiday christmas
    # things
    雨伞 伞 umbrella
    车位 停车 停车位 parking
    电器 家电 appliance > 收音机 电视 冰箱 洗衣机 空调 扫地机器人
    钥匙 key keys
    钱包 证件 身份证 护照 wallet passport id > 丢 补办
    手表 首饰 戒指 项链 watch jewelry ring necklace
    耳机 音箱 headphones earphones speaker
    键盘 鼠标 显示器 keyboard mouse monitor
    软件 应用 APP 平台 app software platform > 微信 抖音 网易云 淘宝
    护肤 化妆 面霜 skincare makeup
    头发 发型 理发 剪发 hair haircut > 染 烫 短发 长发
    家具 装修 沙发 furniture renovation sofa
    快递 包裹 寄 parcel package delivery
    外卖 点餐 takeout delivery
    手机 phone mobile smartphone > 苹果 华为 小米 安卓 iphone android
    电脑 笔记本 computer laptop > 苹果 macbook thinkpad
    车 汽车 座驾 car vehicle > 特斯拉 比亚迪 大众 丰田 车牌
    开车 驾驶 驾照 会开 drive driving wheel license > 司机 考驾照 自驾
    眼镜 glasses > 近视 镜片
    颜色 色 colour color > 红 蓝 绿 黄 黑 白 粉 紫 灰
    礼物 礼品 送 gift present
    衣服 穿 clothes wear > 尺码 裙 外套
    鞋 鞋码 shoe shoes
    电话 手机号 号码 联系方式 联系 联络 phone number contact reach > 微信 邮箱 电话号码 email
    邮箱 邮件 email mail
    密码 口令 password pin
    股票 基金 投资 stock share invest > 买入 股
    坏 弄坏 损坏 摔坏 broke break broken damage > 断了 摔碎 摔坏
    丢 弄丢 遗失 lost lose > 找不到 忘在
    # time and life
    生日 过生日 出生 birthday born
    年龄 岁数 年纪 多大 几岁 age old > 岁
    结婚 登记 领证 婚礼 办酒 已婚 婚 婚姻 单身 成家 marry married wedding marital single > 民政局 老公 老婆 嫁 娶 登记
    离婚 分手 分开 divorce breakup > 分了
    怀孕 预产期 生孩子 pregnant due
    手术 开刀 surgery operation > 白内障
    纪念日 anniversary
    小时候 童年 儿时 childhood young > 从小 小学
    搬家 搬 move moved > 搬到
    # health
    身体 健康 毛病 病 疾病 病情 体检 查出 患 得过 确诊 health disease illness condition diagnosis
    > 糖尿病 高血压 哮喘 痛风 胃炎 过敏 炎 症 癌 结节 骨折 血压 diabetes asthma nodule
    药 吃药 用药 服药 剂量 medicine medication drug dose pill > 毫克 片 服用 胶囊 降压药 氨氯地平 二甲双胍 胰岛素 布洛芬 阿司匹林 mg taking
    血压 降压 降压药 高血压 pressure > 氨氯地平
    血糖 降糖 糖尿病 sugar diabetes > 二甲双胍 胰岛素
    补剂 保健品 营养品 supplement > 维生素 钙片 鱼油 vitamin
    眼睛 眼 视力 eye eyes sight > 白内障 近视 眼镜 散光
    牙 牙齿 tooth teeth > 智齿 牙医 拔牙
    体重 多重 多胖 weight weigh > 公斤 斤 减肥 胖 瘦
    身高 多高 个子 height tall > 厘米 一米 公分
    抽烟 吸烟 烟 smoke smoking > 戒烟 戒
    喝酒 饮酒 酒 drinking > 戒酒 戒
    睡觉 睡眠 失眠 助眠 入睡 睡前 sleep insomnia > 褪黑素 安眠药 熬夜 melatonin
    疫苗 打针 vaccine shot
    医院 看病 门诊 住院 hospital clinic > 挂号 大夫 医生
    感冒 发烧 咳嗽 生病 cold fever flu cough sick > 流感 头疼
    疼 痛 不舒服 难受 pain ache hurt > 腰 膝盖 头疼 胃疼 扭伤
    胃 肠胃 肚子 stomach > 胃炎 胃疼 拉肚子
    肝 肝脏 liver > 脂肪肝 乙肝
    骨头 腿 脚 腰 膝盖 bone leg knee back > 骨折 韧带 扭伤 腰椎 突出
    皮肤 skin > 湿疹 荨麻疹 痘 eczema
    心情 情绪 心理 mood mental > 抑郁 焦虑 depression anxiety
    减肥 瘦身 节食 diet > 公斤 斤 轻断食
    血型 blood > 型血
    # talk
    语言 外语 方言 说话 讲话 哪些话 language languages speak > 英语 日语 法语 德语 韩语 西班牙语 俄语 粤语 闽南话 普通话 四川话 上海话 english french japanese spanish cantonese
    名字 叫什么 叫啥 姓名 名称 name called > 取名 起名 named
    遇到 见到 碰到 偶遇 碰见 遇见 meet met
    安排 计划 打算 日程 约 plan plans schedule appointment > 预约 准备
    每周 每天 固定 weekly every daily > 周一 周二 周三 周四 周五 周六 周日 monday tuesday wednesday thursday friday
    周一 星期一 monday
    周二 星期二 礼拜二 tuesday
    周三 星期三 礼拜三 wednesday
    周四 星期四 礼拜四 thursday
    周五 星期五 礼拜五 friday
    周六 星期六 礼拜六 saturday
    周日 周天 星期天 星期日 礼拜天 sunday
    火车 高铁 动车 车票 train railway ticket
    飞机 航班 机票 flight plane fly
    讲究 习惯 规矩 habit routine
"""  # noqa: E501 - one concept a line

Concept = tuple[tuple[str, ...], tuple[str, ...]]


@cache
def _load_concepts() -> list[Concept]:
    """(names, narrower words) of every concept; a line that starts with ">" continues the one before."""
    result: list[Concept] = []
    for line in map(str.strip, _CONCEPTS.splitlines()):
        if not line or line.startswith("#"):
            continue
        names, _, narrower = line.partition(">")
        if names.strip():
            result.append((tuple(names.split()), tuple(narrower.split())))
        else:
            result[-1] = (result[-1][0], (*result[-1][1], *narrower.split()))
    by_name: dict[str, tuple[str, ...]] = {}
    for table in (KIN_ZH, KIN_EN):
        for word, name in table.items():
            by_name[name] = (*by_name.get(name, ()), word)
    return [*result, *((words, ()) for words in by_name.values())]


_HAN_WORD = re.compile(f"[{HAN}]+")


@cache
def _concepts_by_name() -> tuple[re.Pattern[str], dict[str, list[int]]]:
    """(pattern of all Chinese names, indexes of the concepts by Chinese name or English stem)"""
    found: dict[str, list[int]] = {}
    for number, (names, _) in enumerate(_load_concepts()):
        for name in names:
            found.setdefault(name if _HAN_WORD.match(name) else extract_terms(name)[0], []).append(number)
    chinese = {name: "" for name in found if _HAN_WORD.match(name)}
    return re.compile(alternation_pattern(chinese)), found


@cache
def _concept_terms(number: int) -> frozenset[str]:
    names, narrower = _load_concepts()[number]
    return frozenset(term for word in (*names, *narrower) for term in word_terms(word))


def word_terms(word: str) -> list[str]:
    """The terms of one word as a whole: its bigrams in Chinese, or its only character."""
    found = extract_terms(word)
    return [term for term in found if len(term) > 1 or term.isascii()] or found


def related_terms(text: str) -> list[str]:
    """Terms of synonyms and narrower words of a question, without the terms of the question itself."""
    return list(_related_terms(text))


def stated_terms(text: str) -> frozenset[str]:
    """The terms of a text and their synonyms: what it states in these or other words."""
    return frozenset((*extract_terms(text), *related_terms(text)))


@cache_recent
def _related_terms(text: str) -> tuple[str, ...]:
    pattern, by_name = _concepts_by_name()
    own = extract_terms(text)
    names = {*pattern.findall(to_simplified(text)), *filter(str.isascii, own)}
    numbers = {number for name in names for number in by_name.get(name, ())}
    related = frozenset[str]().union(*(_concept_terms(number) for number in numbers))
    return tuple(sorted(related.difference(own)))
