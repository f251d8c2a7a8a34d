/** What the scan for secrets and instructions finds. */
export const FOUND: Readonly<Record<string, string>> = {
  instruction: "指令", "api key": "API 密钥", token: "令牌", "private key": "私钥", password: "密码", pin: "PIN 码",
  "card number": "卡号", "account number": "账号", "identity number": "身份证号", "social security number": "社会保障号",
  "recovery phrase": "助记词", secret: "秘密",
};
const ANY_FOUND = new RegExp(Object.keys(FOUND).join("|"), "g");
/** What a finding of the audit or a dropped candidate names: "password, instruction". */
const FOUND_LIST = new RegExp(`^(?:已隔离：)?(?:(?:${ANY_FOUND.source})(?:, |(?=$|:)))+`);

/** Reasons as the server writes them (English sentences with values) and their Chinese wording. */
export const zhReasons: readonly (readonly [RegExp, string | ((found: string) => string)])[] = [
  // changes of the journal
  [/^new: turn (\d+)$/, "第 $1 轮新说的"],
  [/^turn (\d+) replaces (.+)$/, "第 $1 轮取代了 $2"],
  [/^turn (\d+) says thought:(\d+) again, which holds instead$/, "第 $1 轮重申想法 $2，以它为准"],
  [/^turn (\d+) says it again$/, "第 $1 轮再次提到"],
  [/^turn (\d+) says it is over$/, "第 $1 轮说已经结束"],
  [/^turn (\d+) asks to forget it$/, "第 $1 轮要求忘记"],
  [/^turn:(\d+) asks to forget (.+)$/, "第 $1 轮要求忘记 $2"],
  [/^turn:(\d+) corrects (.+) to (.+)$/, "第 $1 轮把 $2 纠正为 $3"],
  [/^turn:(\d+) asks for it from now on$/, "第 $1 轮要求今后照此办理"],
  [/^turn:(\d+) asks for another (.+) from now on$/, "第 $1 轮要求今后改变 $2"],
  [/^said twice$/, "说了两次"],
  [/^the same relation of the same one: (.+)$/, "同一主体的同一关系：$1"],
  [/^undoes action (\d+)$/, "撤销操作 $1"],
  // candidates of a query
  [/^matters: /, "相关："],
  [/^near: /, "接近："],
  [/^too far: /, "相差太远："],
  [/^beyond the (\d+) asked for: /, "超出所要的 $1 条："],
  [/\(meaning (-?[\d.]+), words (-?[\d.]+)\)/, "（含义 $1，词语 $2）"],
  [/; group (\d+), query in (\d+)/, "；分组 $1，问题在分组 $2"],
  [/; group (\d+)/, "；分组 $1"],
  [/, the whole space searched/, "，搜索了全部"],
  [/, (\d+) groups probed/, "，搜索了 $1 个分组"],
  [/; said by user in turn:(\d+)/, "；用户在第 $1 轮所说"],
  [/; said by (.+) in turn:(\d+)/, "；$1 在第 $2 轮所说"],
  [/; raw turn of ([\d-]+)/, "；$1 的原始轮次"],
  [/; without a source/, "；没有来源"],
  // constraints and contradictions of an answer
  [/^the message mentions '(.+)'$/, "消息提到“$1”"],
  [/^the message is about /, "消息涉及"],
  [/(?<=^消息涉及.*)\bfood\b/, "食物"],
  [/(?<=^消息涉及.*)\bdrink\b/, "饮品"],
  [/(?<=^消息涉及.*)\bmedicine\b/, "药物"],
  [/(?<=^消息涉及.*) and /g, "与"],
  [/^'(.+)' is against an? allergy$/, "“$1”与已知的过敏相冲突"],
  [/^'(.+)' is against an? diet$/, "“$1”与已知的饮食习惯相冲突"],
  [/^'(.+)' is against an? refusal$/, "“$1”与已知的拒绝相冲突"],
  [/^'(.+)' is against an? contraindication$/, "“$1”与已知的禁忌相冲突"],
  [/^'(.+)' is against an? (.+)$/, "“$1”与已知的限制（$2）相冲突"],
  [/^repeats the query$/, "与问题相同"],
  [/^repeats the query: /, "与问题相同："],
  [/^said beside it: /, "同时说到："],
  [/^only tells the memory what to do/, "只是对记忆的指示"],
  [/^only asks/, "只是提问"],
  [/^no longer held true, see thought:(\d+)/, "已不成立，见想法 $1"],
  [/^told by thought:(\d+)/, "想法 $1 已说明"],
  [/^told by turn:(\d+)/, "第 $1 轮已说明"],
  [/^to be forgotten/, "要求忘记的内容"],
  [/^past: /, "过去："],
  [/^quarantined: /, "已隔离："],
  // findings of the audit
  [/^held (\d+) times$/, "重复保存 $1 次"],
  [/^said (\d+) times$/, "说了 $1 次"],
  [/^held until ([\d-]+) and not retired$/, "有效期至 $1，但仍为当前"],
  [/^no turn is left that says it$/, "说到它的轮次已不存在"],
  [/^its source shares no word with what it says$/, "与来源没有相同的词语"],
  [/^held as a thought, never recalled$/, "保存为想法，但不会被想起"],
  [/^the answer in turn:(\d+) repeats thought:(\d+), which it was given$/, "第 $1 轮的回答重复了所给的想法 $2"],
  // what was found in a text
  [FOUND_LIST, (kinds) => kinds.replaceAll(ANY_FOUND, (kind) => FOUND[kind] ?? kind)],
  // adjustments of a score
  [/of the kind asked for/, "属于所问的类型"],
  [/of another kind than asked for/, "不属于所问的类型"],
  [/has the form of an answer/, "形式像是回答"],
  [/^shares nothing to search by$/, "与问题没有共同之处"],
  [/^as turn:(\d+)$/, "与第 $1 轮相同"],
  [/^stands for turn:(\d+)$/, "代表第 $1 轮"],
  [/^newer than thought:(\d+)$/, "比想法 $1 更新"],
];
