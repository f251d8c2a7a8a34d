"""Attributes of a person (nationality, car, gym): their relations and English and Chinese nouns."""

from __future__ import annotations

from typing import NamedTuple


class Attribute(NamedTuple):
    """A profile attribute: the relation it belongs to, and the nouns that name it.

    Examples: "Eva's citizenship is Swiss", 王芳的长相是圆脸.
    """

    relation: str
    zh_noun: str
    """Noun in the Chinese sentence template."""
    english_nouns: tuple[str, ...]
    chinese_nouns: tuple[str, ...]
    is_list: bool = False
    """The value is a list ("hobbies: chess and rowing")."""
    is_free_text: bool = False
    """The value may be of any length ("education: ...")."""
    single_valued: bool = True
    """A newer value replaces the older one."""


def _attribute(relation: str, zh: str, english: str, chinese: str = "", **options: bool) -> Attribute:
    """Create an attribute; English nouns are separated by commas, Chinese nouns by spaces."""
    nouns = tuple(each.strip() for each in english.split(",") if each.strip())
    return Attribute(relation, zh, nouns, (zh, *chinese.split()), **options)


ATTRIBUTE_RELATIONS: tuple[Attribute, ...] = (
    _attribute("gender", "性别", "gender, sex"),
    _attribute("ethnicity", "民族", "ethnicity, ethnic group, ethnic background", "族裔 族别 种族"),
    _attribute("education", "学历", "education, educational background, education level, level of education"
        ", educational level, academic background, academic qualifications, highest qualification"
        ", highest degree, schooling",
        "教育背景 教育程度 文化程度 受教育程度 最高学历 学历背景 教育经历", is_free_text=True),
    _attribute("personality", "性格", "personality, character, temperament, disposition, personality traits"
        ", character traits, personality type", "个性 脾气 性情 性格特点 性格特征 为人", is_free_text=True,
        single_valued=False),
    _attribute("appearance", "外貌", "appearance, looks, physical appearance, physical features"
        ", physical characteristics, physical description, outward appearance, features, build",
        "体貌特征 外貌特征 外表 长相 相貌 样貌 容貌 外形 模样 样子 体型 身材 外貌特点 外形特征",
        is_free_text=True, single_valued=False),
    _attribute("contact", "联系方式", "contact, contact information, contact info, contact details",
        "联系方法 联络方式 通讯方式", is_free_text=True),
    _attribute("skills", "特长",
        "skills, skill, talents, talent, strengths, special skills, speciality, specialty"
        ", expertise", "专长 技能 才艺 本领 强项", is_list=True, single_valued=False),
    _attribute("ambition", "理想", "ambition, ambitions, life goal, life goals, goal in life, biggest dream"
        ", lifelong dream", "梦想 志向 抱负 人生目标 人生理想 愿望", is_free_text=True, single_valued=False),
    _attribute("motto", "座右铭", "motto, life motto, catchphrase", "口头禅 人生格言 人生信条",
        is_free_text=True),
    _attribute("health", "健康状况", "health condition, health status, state of health, physical condition",
        "身体状况 健康情况 身体情况", is_free_text=True),
    _attribute("family background", "家庭背景", "family background, family situation, family circumstances",
        "家庭情况 家庭状况 出身", is_free_text=True),
    _attribute("experience", "工作经历", "work experience, work history, professional experience"
        ", career history, professional background", "工作经验 职业经历 从业经历 职业背景", is_free_text=True,
        single_valued=False),
    _attribute("achievements", "成就", "achievement, achievements, accomplishment, accomplishments"
        ", greatest achievement, biggest achievement", "功绩 主要成就", is_free_text=True,
        single_valued=False),
    _attribute("awards", "荣誉",
        "award, awards, honours, honors, prizes, awards and honours, awards and honors",
        "奖项 获奖情况 获奖经历 所获荣誉 荣誉奖项", is_free_text=True, single_valued=False),
    _attribute("role model", "榜样", "role model, role models, idol, idols, hero, heroes", "偶像 崇拜的人",
        is_free_text=True, single_valued=False),
    _attribute("reputation", "声誉", "reputation", "口碑 名声 名誉", is_free_text=True, single_valued=False),
    _attribute("title", "头衔", "title, honorific", "称谓 称号", single_valued=False),
    _attribute("chinese zodiac", "生肖", "chinese zodiac, chinese zodiac sign, zodiac animal", "属相"),
    _attribute("hair", "发型", "hair colour, hair color, hairstyle, hair style", "发色 头发颜色"),
    _attribute("eye colour", "眼睛颜色", "eye colour, eye color, colour of eyes", "瞳色"),
    _attribute("political affiliation", "政治面貌", "political affiliation, political party, political views",
        "政治倾向 党派"),
    _attribute("weakness", "缺点", "weakness, weaknesses, shortcomings, flaws", "弱点 短处",
        is_free_text=True, single_valued=False),
)  # fmt: skip
"""Attributes that are relations of their own."""

ATTRIBUTE_ALIASES: tuple[Attribute, ...] = (
    _attribute("nationality", "国籍", "nationality, citizenship"),
    _attribute("religion", "宗教",
        "religion, faith, religious belief, religious beliefs, religious affiliation"
        ", religious faith", "宗教信仰 信仰", single_valued=False),
    _attribute("works as", "职业",
        "occupation, profession, job title, line of work, current position, vocation",
        "职位 职务 岗位 现职 职称"),
    _attribute("works at", "工作单位", "workplace, place of work, employer",
        "任职单位 就职单位 工作地点 所在单位 单位"),
    _attribute("comes from", "籍贯",
        "hometown, home town, native place, place of origin, ancestral home, origin",
        "家乡 老家 祖籍 故乡 原籍"),
    _attribute("was born in", "出生地", "birthplace, place of birth", "出生地点"),
    _attribute("birthday", "出生日期", "birthday, date of birth, birth date, birthdate, dob",
        "生日 出生年月 出生时间"),
    _attribute("is aged", "年龄", "age", "岁数 年纪"),
    _attribute("height", "身高", "height", "个头 个子"),
    _attribute("weighs", "体重", "weight, body weight"),
    _attribute("blood type", "血型", "blood type, blood group"),
    _attribute("lives in", "居住地", "place of residence, residence, current residence, current city"
        ", city of residence", "现居地 居住地址 常住地 住处 住所 现住址 居住城市"),
    _attribute("likes", "爱好",
        "hobby, hobbies, interest, interests, hobbies and interests, pastime, pastimes"
        ", leisure activities, favourite pastime, favorite pastime, passions",
        "兴趣 兴趣爱好 业余爱好 喜好 嗜好 消遣", is_list=True, single_valued=False),
    _attribute("speaks", "母语",
        "native language, mother tongue, first language, languages, spoken languages",
        "语言能力 会的语言 掌握的语言", is_list=True, single_valued=False),
    _attribute("marital status", "婚姻状况", "marital status, relationship status",
        "婚姻状态 婚姻情况 婚否 感情状况"),
    _attribute("studies", "专业", "major, field of study, course of study", "所学专业 主修专业"),
    _attribute("graduated from", "毕业院校", "alma mater, graduate school", "母校 毕业学校 毕业大学",
        single_valued=False),
    _attribute("phone number", "电话号码",
        "phone number, phone, telephone, telephone number, mobile number, mobile",
        "电话 手机号 手机号码 联系电话"),
    _attribute("email", "邮箱", "email, e-mail, email address", "电子邮箱 邮箱地址 电子邮件"),
    _attribute("address", "地址", "address, home address, postal address", "家庭住址 住址 家庭地址"),
    _attribute("salary", "工资",
        "salary, income, annual income, monthly income, annual salary, monthly salary",
        "收入 月收入 年收入 月薪 年薪 薪水 薪资"),
    _attribute("goes by", "昵称", "nickname, nicknames, pet name, alias", "小名 外号 绰号 乳名 别名",
        single_valued=False),
    _attribute("star sign", "星座", "star sign, zodiac sign, zodiac, horoscope"),
    _attribute("has condition", "病史", "medical history, chronic illness, chronic condition",
        "既往病史 慢性病", single_valued=False),
    _attribute("is allergic to", "过敏原", "allergies, allergy, allergens", "过敏史", is_list=True,
        single_valued=False),
)  # fmt: skip
"""Attributes that name a relation of `relation_templates`."""

ATTRIBUTES_BY_NOUN: dict[str, Attribute] = {
    noun: attribute
    for attribute in (*ATTRIBUTE_ALIASES, *ATTRIBUTE_RELATIONS)
    for noun in (*attribute.english_nouns, *attribute.chinese_nouns)
}
"""English and Chinese noun -> attribute."""

POSSESSIONS: dict[str, str] = {
    "usual order": "常点的",
    "car": "车",
    "bike": "自行车",
    "motorbike": "摩托车",
    "laptop": "笔记本电脑",
    "gym": "健身房",
    "postcode": "邮编",
    "zip code": "邮政编码",
    "star sign": "星座",
    "pronouns": "代词",
    "time zone": "时区",
    "timezone": "所在时区",
    "bedtime": "就寝时间",
    "team": "球队",
    "degree": "学位",
    "nationality": "国籍",
    "religion": "宗教",
    "editor": "编辑器",
    "operating system": "操作系统",
    "energy provider": "能源公司",
    "internet provider": "宽带公司",
    "insurer": "保险公司",
    "airline": "航空公司",
    "username": "用户名",
    "handle": "账号",
    "terminal": "航站楼",
    "gate": "登机口",
    "ring size": "戒指尺寸",
    "shirt size": "衬衫尺码",
    "dress size": "裙子尺码",
    "hba1c": "糖化血红蛋白",
    "personal best": "个人最好成绩",
    "step count": "步数",
    "daily step goal": "每日步数目标",
    "reading goal": "阅读目标",
    "savings goal": "存款目标",
    "target weight": "目标体重",
    "goal weight": "目标重量",
    "electricity bill": "电费",
    "phone bill": "话费",
    "pension": "养老金",
    "anniversary": "纪念日",
    "license plate": "车牌号",
    "student id": "学号",
    "employee id": "工号",
    "membership number": "会员号",
    "bench press": "卧推",
    "squat": "深蹲",
    "deadlift": "硬拉",
}
"""Things of which a person has one at a time: relation name -> Chinese noun."""

POSSESSION_ALIASES: dict[str, str] = {
    "usual order": "usual, coffee order, go-to order, regular order",
    "hba1c": "a1c",
    "personal best": "pb",
    "anniversary": "wedding anniversary",
    "postcode": "postal code",
    "license plate": "plate, number plate, licence plate, registration, 车牌",
    "student id": "student number",
    "employee id": "employee number, staff number",
    "membership number": "member number",
}
"""Other nouns for the same possession, separated by commas."""
