"""Values that are spelled: digits as words, letters of a spelling alphabet, and single characters."""

from __future__ import annotations

import re

DIGIT_WORD = (
    r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|double|triple|null|eins|zwei|drei|vier|f[uü]nf"
    r"|sechs|sieben|acht|neun|z[eé]ro|un|deux|trois|quatre|cinq|sept|huit|neuf|cero|uno|dos|tres|cuatro|cinco"
    r"|seis|siete|ocho|nueve)"
)
TENS_WORD = (
    r"(?:(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)"
    r"(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?|ten|eleven|twelve"
    r"|(?:thir|four|fif|six|seven|eigh|nine)teen)"
)
HAN_DIGIT = "[零〇一二三四五六七八九幺两洞拐勾]"
SPELLED_LETTER = (
    r"(?:al(?:f|ph)a|bravo|charlie|delta|echo|foxtrot|golf|hotel|india|juliett?|kilo|lima|mike|november|oscar"
    r"|papa|quebec|romeo|sierra|tango|uniform|victor|whiske?y|x-?ray|yankee|zulu|anton|berta|c[aä]sar|dora|emil"
    r"|friedrich|gustav|heinrich|ida|julius|kaufmann|konrad|ludwig|martha|nordpol|otto|paula|quelle|richard"
    r"|siegfried|theodor|ulrich|viktor|wilhelm|xanthippe|ypsilon|zacharias)"
)
SPELLED = re.compile(
    rf"(?<![a-z]){DIGIT_WORD}(?:[\s,-]{{1,2}}(?:then |and )?{DIGIT_WORD}){{3,11}}(?![a-z-])"
    rf"|(?<![a-z]){TENS_WORD}(?:[\s,-]{{1,2}}(?:then |and )?{TENS_WORD}){{1,5}}(?![a-z-])"
    rf"|{HAN_DIGIT}(?:[\s、，,-]?{HAN_DIGIT}){{3,11}}"
    rf"|(?<![a-z]){SPELLED_LETTER}(?:[\s,-]{{1,2}}(?:{SPELLED_LETTER}|{DIGIT_WORD}|\d{{1,4}})){{2,11}}(?![a-z\d-])"
    r"|(?<![\w'’.])[a-z\d](?:(?:\s?[,，、-]\s?|\s)[a-z\d]){3,15}(?![\w'’])",
    re.I,
)
