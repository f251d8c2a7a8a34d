"""What a profile tells of a person, in English and Chinese: nationality, education, looks, character.

Each line is one relation and the nouns that mean it; `think.vocabulary` takes those that it has not yet, and
the rules read any of them (`rules.profile`): "Eva's citizenship is Swiss", 王芳的长相是圆脸.
"""

from __future__ import annotations

from typing import NamedTuple


class Attribute(NamedTuple):
    """`relation` is said as `zh` in Chinese; `english` and `chinese` are the nouns that mean it.

    `listed`: its values are several things. `free`: its value is told in as many words as it takes.
    """

    relation: str
    zh: str
    english: tuple[str, ...]
    chinese: tuple[str, ...]
    listed: bool = False
    free: bool = False
    single: bool = True


def _of(relation: str, zh: str, english: str, chinese: str = "", **how: bool) -> Attribute:
    nouns = tuple(each.strip() for each in english.split(",") if each.strip())
    return Attribute(relation, zh, nouns, (zh, *chinese.split()), **how)


NEW: tuple[Attribute, ...] = (
    _of("gender", "性别", "gender, sex"),
    _of("ethnicity", "民族", "ethnicity, ethnic group, ethnic background", "族裔 族别 种族"),
    _of("education", "学历", "education, educational background, education level, level of education"
        ", educational level, academic background, academic qualifications, highest qualification"
        ", highest degree, schooling",
        "教育背景 教育程度 文化程度 受教育程度 最高学历 学历背景 教育经历", free=True),
    _of("personality", "性格", "personality, character, temperament, disposition, personality traits"
        ", character traits, personality type", "个性 脾气 性情 性格特点 性格特征 为人", free=True,
        single=False),
    _of("appearance", "外貌", "appearance, looks, physical appearance, physical features"
        ", physical characteristics, physical description, outward appearance, features, build",
        "体貌特征 外貌特征 外表 长相 相貌 样貌 容貌 外形 模样 样子 体型 身材 外貌特点 外形特征", free=True,
        single=False),
    _of("contact", "联系方式", "contact, contact information, contact info, contact details",
        "联系方法 联络方式 通讯方式", free=True),
    _of("skills", "特长", "skills, skill, talents, talent, strengths, special skills, speciality, specialty"
        ", expertise", "专长 技能 才艺 本领 强项", listed=True, single=False),
    _of("ambition", "理想", "ambition, ambitions, life goal, life goals, goal in life, biggest dream"
        ", lifelong dream", "梦想 志向 抱负 人生目标 人生理想 愿望", free=True, single=False),
    _of("motto", "座右铭", "motto, life motto, catchphrase", "口头禅 人生格言 人生信条", free=True),
    _of("health", "健康状况", "health condition, health status, state of health, physical condition",
        "身体状况 健康情况 身体情况", free=True),
    _of("family background", "家庭背景", "family background, family situation, family circumstances",
        "家庭情况 家庭状况 出身", free=True),
    _of("experience", "工作经历", "work experience, work history, professional experience"
        ", career history, professional background", "工作经验 职业经历 从业经历 职业背景", free=True,
        single=False),
    _of("achievements", "成就", "achievement, achievements, accomplishment, accomplishments"
        ", greatest achievement, biggest achievement", "功绩 主要成就", free=True, single=False),
    _of("awards", "荣誉", "award, awards, honours, honors, prizes, awards and honours, awards and honors",
        "奖项 获奖情况 获奖经历 所获荣誉 荣誉奖项", free=True, single=False),
    _of("role model", "榜样", "role model, role models, idol, idols, hero, heroes", "偶像 崇拜的人",
        free=True, single=False),
    _of("reputation", "声誉", "reputation", "口碑 名声 名誉", free=True, single=False),
    _of("title", "头衔", "title, honorific", "称谓 称号", single=False),
    _of("chinese zodiac", "生肖", "chinese zodiac, chinese zodiac sign, zodiac animal", "属相"),
    _of("hair", "发型", "hair colour, hair color, hairstyle, hair style", "发色 头发颜色"),
    _of("eye colour", "眼睛颜色", "eye colour, eye color, colour of eyes", "瞳色"),
    _of("political affiliation", "政治面貌", "political affiliation, political party, political views",
        "政治倾向 党派"),
    _of("weakness", "缺点", "weakness, weaknesses, shortcomings, flaws", "弱点 短处", free=True,
        single=False),
)  # fmt: skip
"""Relations of their own."""

OLD: tuple[Attribute, ...] = (
    _of("nationality", "国籍", "nationality, citizenship"),
    _of("religion", "宗教", "religion, faith, religious belief, religious beliefs, religious affiliation"
        ", religious faith", "宗教信仰 信仰", single=False),
    _of("works as", "职业", "occupation, profession, job title, line of work, current position, vocation",
        "职位 职务 岗位 现职 职称"),
    _of("works at", "工作单位", "workplace, place of work, employer",
        "任职单位 就职单位 工作地点 所在单位 单位"),
    _of("comes from", "籍贯", "hometown, home town, native place, place of origin, ancestral home, origin",
        "家乡 老家 祖籍 故乡 原籍"),
    _of("was born in", "出生地", "birthplace, place of birth", "出生地点"),
    _of("birthday", "出生日期", "birthday, date of birth, birth date, birthdate, dob",
        "生日 出生年月 出生时间"),
    _of("is aged", "年龄", "age", "岁数 年纪"),
    _of("height", "身高", "height", "个头 个子"),
    _of("weighs", "体重", "weight, body weight"),
    _of("blood type", "血型", "blood type, blood group"),
    _of("lives in", "居住地", "place of residence, residence, current residence, current city"
        ", city of residence", "现居地 居住地址 常住地 住处 住所 现住址 居住城市"),
    _of("likes", "爱好", "hobby, hobbies, interest, interests, hobbies and interests, pastime, pastimes"
        ", leisure activities, favourite pastime, favorite pastime, passions",
        "兴趣 兴趣爱好 业余爱好 喜好 嗜好 消遣", listed=True, single=False),
    _of("speaks", "母语", "native language, mother tongue, first language, languages, spoken languages",
        "语言能力 会的语言 掌握的语言", listed=True, single=False),
    _of("marital status", "婚姻状况", "marital status, relationship status",
        "婚姻状态 婚姻情况 婚否 感情状况"),
    _of("studies", "专业", "major, field of study, course of study", "所学专业 主修专业"),
    _of("graduated from", "毕业院校", "alma mater, graduate school", "母校 毕业学校 毕业大学", single=False),
    _of("phone number", "电话号码", "phone number, phone, telephone, telephone number, mobile number, mobile",
        "电话 手机号 手机号码 联系电话"),
    _of("email", "邮箱", "email, e-mail, email address", "电子邮箱 邮箱地址 电子邮件"),
    _of("address", "地址", "address, home address, postal address", "家庭住址 住址 家庭地址"),
    _of("salary", "工资", "salary, income, annual income, monthly income, annual salary, monthly salary",
        "收入 月收入 年收入 月薪 年薪 薪水 薪资"),
    _of("goes by", "昵称", "nickname, nicknames, pet name, alias", "小名 外号 绰号 乳名 别名", single=False),
    _of("star sign", "星座", "star sign, zodiac sign, zodiac, horoscope"),
    _of("has condition", "病史", "medical history, chronic illness, chronic condition", "既往病史 慢性病",
        single=False),
    _of("is allergic to", "过敏原", "allergies, allergy, allergens", "过敏史", listed=True, single=False),
)  # fmt: skip
"""What the vocabulary of relations has already."""

BY_NOUN: dict[str, Attribute] = {
    noun: attribute for attribute in (*OLD, *NEW) for noun in (*attribute.english, *attribute.chinese)
}
"""A noun -> what it tells."""
