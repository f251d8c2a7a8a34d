/** Relations of thoughts in Chinese; a relation that is not listed is shown as it is stored. */
export const zhRelations: Readonly<Record<string, string>> = {
  "is named": "名叫", "goes by": "别名", "is aged": "年龄", "lives in": "住在", "comes from": "来自", "was born in": "出生于",
  birthday: "生日", "works as": "职业", "works at": "就职于", studies: "学习", learns: "在学", "works in": "从事", "studied at": "曾就读于",
  "studies at": "就读于", likes: "喜欢", prefers: "偏爱", "is allergic to": "过敏于", speaks: "会说", weighs: "体重", height: "身高",
  "phone number": "电话", email: "邮箱", surname: "姓", address: "地址", "blood type": "血型", "blood pressure": "血压",
  "shoe size": "鞋码", salary: "工资", rent: "房租", budget: "预算", "heart rate": "心率", "blood sugar": "血糖", "is afraid of": "害怕",
  "marital status": "婚姻状况", "grew up in": "成长于", eats: "吃", drinks: "喝", plays: "玩", drives: "开", takes: "服用", smokes: "吸烟",
  "has condition": "患有", "had condition": "曾患", refuses: "拒绝", is: "是", has: "有", runs: "经营", uses: "使用", does: "做",
  teaches: "教", "volunteers at": "志愿服务于", collects: "收集", keeps: "养", supports: "支持", "lived in": "曾住在",
  "worked at": "曾就职于", "went to": "去过", met: "认识", bought: "买了", attended: "参加", "graduated from": "毕业于", did: "做了",
  quit: "离开", "plans to": "打算", "has appointment": "预约", recommended: "推荐", car: "汽车", nationality: "国籍", religion: "宗教",
  gender: "性别", education: "学历", diet: "饮食", experience: "经历", health: "健康", skills: "技能", anniversary: "纪念日",
  "has mother": "母亲", "has father": "父亲", "has sister": "姐妹", "has brother": "兄弟", "has wife": "妻子", "has husband": "丈夫",
  "has girlfriend": "女朋友", "has boyfriend": "男朋友", "has partner": "伴侣", "has son": "儿子", "has daughter": "女儿",
  "has child": "孩子", "has aunt": "姑姨", "has uncle": "叔舅", "has cousin": "表亲", "has grandmother": "奶奶／外婆",
  "has grandfather": "爷爷／外公", "has friend": "朋友", "has boss": "上司", "has colleague": "同事", "has classmate": "同学",
  "has roommate": "室友", "has neighbour": "邻居", "has teacher": "老师", "has doctor": "医生", "has dog": "狗", "has cat": "猫",
};
