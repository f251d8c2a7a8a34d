"""Unicode scripts: character ranges, text cleaning, language detection, traditional to simplified Chinese."""

from __future__ import annotations

import re
from typing import Literal

_CHARACTER_PAIRS = """
    個个 們们 來来 這这 說说 會会 時时 對对 為为 過过 還还 後后 學学 沒没 嗎吗 麼么 與与 從从 給给 讓让
    話话 開开 關关 聽听 見见 覺觉 親亲 愛爱 媽妈 爺爷 孫孙 兒儿 妳你 牠它 誰谁 點点 種种 樣样 邊边 裡里
    裏里 間间 長长 東东 車车 門门 問问 題题 買买 賣卖 錢钱 價价 貴贵 貓猫 鳥鸟 魚鱼 馬马 雞鸡 鴨鸭 豬猪
    龍龙 龜龟 蝦虾 飯饭 麵面 麥麦 餅饼 餃饺 湯汤 藥药 醫医 護护 師师 廚厨 員员 務务 業业 職职 辦办 處处
    單单 電电 腦脑 網网 視视 機机 號号 碼码 郵邮 線线 歲岁 歷历 曆历 當当 總总 經经 練练 習习 讀读 書书
    寫写 畫画 語语 詞词 詩诗 譯译 講讲 請请 謝谢 認认 識识 記记 訴诉 談谈 論论 證证 試试 課课 訂订 計计
    設设 許许 該该 詳详 誤误 調调 變变 歡欢 樂乐 彈弹 戲戏 遊游 運运 動动 場场 館馆 園园 廣广 廟庙 橋桥
    樓楼 層层 廳厅 廠厂 鄉乡 縣县 國国 灣湾 臺台 島岛 蓮莲 魯鲁 閣阁 蘭兰 蘇苏 廈厦 陽阳 陰阴 陸陆 際际
    險险 難难 離离 雜杂 雙双 靜静 響响 頁页 頂顶 項项 順顺 須须 預预 頭头 顏颜 願愿 類类 顧顾 風风 飛飞
    養养 餓饿 駕驾 駝驼 騎骑 驗验 驚惊 髮发 發发 鬆松 鬧闹 鹹咸 麗丽 黃黄 齡龄 齒齿 紅红 綠绿 藍蓝 級级
    紀纪 約约 純纯 紙纸 細细 組组 結结 絕绝 統统 絲丝 綁绑 維维 緊紧 緣缘 編编 縫缝 織织 繼继 續续 績绩
    終终 絡络 義义 聖圣 聞闻 聯联 聰聪 聲声 肅肃 腸肠 膽胆 臉脸 臨临 舊旧 艦舰 節节 範范 築筑 簡简 簽签
    籃篮 糧粮 紐纽 藝艺 蓋盖 葉叶 華华 萬万 莊庄 蘋苹 蔥葱 蔔卜 蘿萝 補补 裝装 複复 復复 褲裤 襪袜 襯衬
    規规 觀观 觸触 討讨 訊讯 訓训 託托 訪访 詢询 誇夸 誠诚 誕诞 諾诺 謎谜 謊谎 謹谨 讚赞 豐丰 貝贝 負负
    財财 責责 貨货 販贩 費费 貼贴 賀贺 賓宾 賞赏 賠赔 賴赖 賺赚 購购 賽赛 贈赠 贏赢 趙赵 趕赶 跡迹 蹟迹
    踐践 軍军 軟软 輕轻 輛辆 輪轮 輸输 轉转 農农 週周 進进 遠远 適适 選选 遲迟 鄭郑 鄰邻 醬酱 釀酿 針针
    鈴铃 銀银 銷销 鋼钢 錄录 錯错 鍋锅 鍵键 鎖锁 鎮镇 鏡镜 鐘钟 鍾钟 鐵铁 閃闪 閉闭 閒闲 閱阅 闆板 陣阵
    陳陈 隊队 隨随 隻只 雲云 霧雾 韓韩 韻韵 領领 頓顿 頻频 額额 顯显 飲饮 飽饱 饅馒 驕骄 體体 鬥斗 鮮鲜
    鯨鲸 鵝鹅 鹽盐 黨党 齊齐 億亿 優优 償偿 儀仪 側侧 偵侦 傑杰 備备 傢家 傳传 債债 傷伤 傾倾 僅仅 僑侨
    劃划 劇剧 劉刘 剛刚 創创 劑剂 勁劲 勝胜 勞劳 勢势 勵励 勸劝 區区 協协 卻却 厭厌 參参 吳吴 呂吕 啟启
    啓启 喪丧 喬乔 嗚呜 嘗尝 噴喷 嚇吓 嚐尝 嚴严 囑嘱 團团 圍围 圓圆 圖图 執执 堅坚 報报 塊块 塵尘 墊垫
    墳坟 壓压 壞坏 壯壮 壽寿 夢梦 夠够 夾夹 奪夺 奮奋 婦妇 嬰婴 寧宁 實实 寬宽 寶宝 將将 專专 尋寻 導导
    屆届 屬属 岡冈 崗岗 嶺岭 幣币 幫帮 幹干 乾干 庫库 張张 強强 彌弥 彎弯 彙汇 徑径 徵征 恆恒 悅悦 惡恶
    惱恼 態态 慣惯 慶庆 慘惨 憂忧 憐怜 憑凭 憶忆 應应 懷怀 懶懒 戀恋 戰战 戶户 掃扫 掛挂 採采 換换 揮挥
    損损 搖摇 搶抢 擁拥 擇择 擊击 擔担 據据 擠挤 擬拟 擾扰 擺摆 攝摄 敗败 敵敌 數数 斷断 於于 昇升 晝昼
    暈晕 暫暂 曉晓 曬晒 朧胧 條条 極极 構构 槍枪 榮荣 樹树 檔档 檢检 檸柠 權权 欄栏 歐欧 殘残 殺杀 氣气
    汙污 決决 況况 洩泄 淚泪 淨净 淺浅 減减 測测 渾浑 準准 溫温 滅灭 滿满 漁渔 漢汉 漲涨 漸渐 潔洁 潛潜
    潤润 濕湿 濟济 瀏浏 瀾澜 災灾 無无 煙烟 煩烦 熱热 燈灯 燒烧 燙烫 營营 爐炉 爭争 爾尔 牆墙 狀状 獎奖
    獨独 獲获 玆兹 現现 環环 產产 畢毕 異异 療疗 癢痒 癥症 瘋疯 癮瘾 皺皱 盜盗 盡尽 監监 盤盘 眾众 瞭了
    矯矫 碩硕 確确 礙碍 禮礼 禱祷 稅税 穩稳 窩窝 窮穷 競竞 筆笔 箇个 紋纹 罰罚 罵骂 羅罗 舉举 蟲虫 螢萤
    蠟蜡 術术 衛卫 衝冲 鄧邓 鄺邝 釣钓 陝陕 雖虽 靈灵 頸颈 飄飘 驟骤 鬱郁 鴿鸽 黴霉 齣出 伕夫 併并 佈布
    係系 俠侠 倆俩 倉仓
"""
TO_SIMPLIFIED = {ord(pair[0]): pair[1] for pair in _CHARACTER_PAIRS.split()}
_TRADITIONAL_CHARACTER = re.compile(f"[{''.join(map(chr, TO_SIMPLIFIED))}]")


def to_simplified(text: str) -> str:
    """Replace the traditional characters of the table; the length of the text stays the same."""
    if text.isascii() or not _TRADITIONAL_CHARACTER.search(text):  # translating is slower than searching
        return text
    return text.translate(TO_SIMPLIFIED)


HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
KANA = "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
HANGUL = "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"
SOUTH_EAST_ASIAN = "\u0e01-\u0e4e\u0e81-\u0ecd\u1000-\u103f\u1780-\u17d3"
CJK = HAN + KANA + HANGUL
UNSPACED = CJK + SOUTH_EAST_ASIAN
"""Scripts that are indexed by character bigrams.

Hangul is one of them although it has spaces: its particles are attached to the word.
"""
INDIC = "\u0900-\u0963\u0966-\u0dff"
EMOJI = "\u2600-\u27bf\u2b50\u2b55\U0001f000-\U0001f3fa\U0001f400-\U0001faff"

_HAN_CHARACTER = re.compile(f"[{HAN}]")


def has_han(text: str) -> bool:
    """Whether a text contains a Chinese character."""
    return not text.isascii() and _HAN_CHARACTER.search(text) is not None


_SURROGATE = re.compile("[\ud800-\udfff]")
_NEWLINE = re.compile("\r\n|[\r\u0085\u2028\u2029]")


def clean_text(text: str) -> str:
    """Make a text safe for every store and model.

    NUL and lone surrogates become U+FFFD, surrogate pairs are joined, every kind of newline becomes LF.
    """
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _NEWLINE.sub("\n", text.replace("\x00", "\ufffd"))


Language = Literal["en", "zh", "ja", "ko", "ar", "he", "ru", "und"]

_LANGUAGE_PATTERNS: tuple[tuple[Language, re.Pattern[str]], ...] = (
    ("en", re.compile("[A-Za-z\u00c0-\u024f]+")),
    ("zh", re.compile(f"[{HAN}]")),
    ("ja", re.compile(f"[{KANA}]")),
    ("ko", re.compile(f"[{HANGUL}]")),
    ("ar", re.compile("[\u0620-\u06ff]+")),
    ("he", re.compile("[\u05d0-\u05ea]+")),
    ("ru", re.compile("[\u0400-\u04ff]+")),
)
_ENGLISH_WORD = re.compile(r"\b(?:i|i'm|my|the|a|is|am|are|in|to|and|of|you|was|it)\b", re.IGNORECASE)
_CHINESE_WORD = re.compile("[的了是我你他她在有不吗呢吧们这那]")
_SAMPLE_CHARACTERS = 2000


def detect_language(text: str) -> Language:
    """Return the main language of a text, or `und` if it has no letter of a known script.

    Latin script counts as English, because thinkback has rules for English and Chinese only. A Latin word and
    a Han character have weight 1, function words weight 3: "我用Python写code" is Chinese, "I love 北京" is
    English.
    """
    sample = text[:_SAMPLE_CHARACTERS]
    weights: dict[Language, int] = {
        name: len(pattern.findall(sample)) for name, pattern in _LANGUAGE_PATTERNS
    }
    if weights["ja"] and weights["ja"] * 5 >= weights["zh"]:
        weights["ja"] += weights["zh"]
        weights["zh"] = 0
    else:
        weights["ja"] = 0
    weights["en"] += 2 * len(_ENGLISH_WORD.findall(sample))
    weights["zh"] += 2 * len(_CHINESE_WORD.findall(sample)) if weights["zh"] else 0
    best = max(weights, key=lambda name: weights[name])
    return best if weights[best] else "und"
