"""Things of which one has one at a time, in English and Chinese: "my usual order is ..." replaces the last.

Each is a relation of its own (`think.vocabulary`), said as an attribute: {s}'s usual order is {o}.
"""

from __future__ import annotations

BELONGINGS: dict[str, str] = {
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
}

FORMS: dict[str, str] = {
    "usual order": "usual, coffee order, go-to order, regular order",
    "hba1c": "a1c",
    "personal best": "pb",
    "anniversary": "wedding anniversary",
    "postcode": "postal code",
}
"""Other words that mean the same."""
