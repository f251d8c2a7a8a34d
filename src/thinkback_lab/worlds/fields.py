"""The names of PerLTQA's fields: its English files' spelling, and what other versions of them write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from thinkback_lab.worlds.world import FIELDS, Lang

# Each of ours, and what else it is called. The Chinese files could not be seen: the names are those that the
# repository's own reader asks for, and the words that a translation of the English ones would take.
_OTHER_NAMES: dict[str, tuple[str, ...]] = {
    "Protagonist": ("主角", "主人公", "姓名", "名字", "name"),
    "Gender": ("性别",),
    "Nickname": ("昵称", "绰号"),
    "Title": ("头衔", "称谓", "称号"),
    "Age": ("年龄",),
    "Occupation": ("职业",),
    "Nationality": ("国籍",),
    "Physical Characteristics": ("体貌特征", "外貌特征", "身体特征", "外貌"),
    "Hobbies": ("爱好", "兴趣爱好"),
    "Achievements": ("成就",),
    "Ethnic Background": ("种族背景", "民族背景", "民族"),
    "Education Background": ("教育背景", "学历", "Educational Background"),
    "Employer": ("雇主", "工作单位"),
    "Awards and Role Models": ("奖项和榜样", "奖项与榜样", "获奖和榜样", "获奖与榜样"),
    "profile": ("简介", "个人简介", "人物简介"),
    "profile_description": ("profile description", "人物描述", "简介描述"),
    "social_relationship": ("social relationship", "social_relationships", "社会关系", "社交关系"),
    "events": ("event", "事件"),
    "dialogues": ("dialogue", "对话", "历史对话"),
    "Supporting Characters": ("Supporting Character", "配角", "支持人物", "姓名"),
    "Description": ("描述", "关系描述"),
    "Relationship": ("关系",),
    "content": ("内容", "事件内容"),
    "summary": ("概要", "摘要", "事件概要"),
    "Characters": ("人物", "角色", "相关人物"),
    "Creation Time": ("创建时间", "时间"),
    "Theme": ("主题",),
    "contents": ("对话内容", "内容"),
    "Question": ("问题", "Q"),
    "Answer": ("回答", "答案", "A"),
    "Reference Memory": ("参考记忆", "Reference Memories"),
    "Memory Anchors": ("记忆锚点", "Memory Anchor"),
}
_CANONICAL = {_: field for field in FIELDS for _ in (field, field.lower(), *_OTHER_NAMES[field])}

# How a field of the profile is said: singular or plural in English; the word in Chinese.
LABELS: dict[Lang, dict[str, str]] = {
    "en": {
        **{field: f"{field.lower()} is" for field in FIELDS},
        "Protagonist": "name is",
        "Physical Characteristics": "physical characteristics are",
        "Hobbies": "hobbies are",
        "Achievements": "achievements are",
        "Awards and Role Models": "awards and role models are",
    },
    "zh": {
        **{field: _OTHER_NAMES[field][0] for field in FIELDS},
        "Protagonist": "名字",
    },
}


def field_name(name: str) -> str:
    """A profile field as `FIELDS` spells it; one that is not known stays as it is."""
    return _CANONICAL.get(name) or _CANONICAL.get(name.strip().lower(), name)


def take(record: Mapping[str, Any], name: str) -> Any:
    """A field by any of its names; None if the record has none of them."""
    return next((record[key] for key in (name, *_OTHER_NAMES.get(name, ())) if key in record), None)
