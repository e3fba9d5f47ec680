"""The words by which texts state, deny, doubt and take back answers: patterns by meaning, in many languages."""

from __future__ import annotations

import re
from typing import Final


def phrases(text: str) -> str:
    """A pattern of the phrases that bars and line ends separate; a space is any white space."""
    parts = (part.strip() for part in re.split(r"[|\n](?![^(]*\))", text))
    return "(?:" + "|".join(part.replace(" ", r"\s") for part in parts if part) + ")"


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


CLAIM: Final = "\ue000-\uf8ff"  # characters that stand for the content of a box, a tag or a field

# ── words for the answer, and what links them to it

_NO_COMPLEMENT = r" (?:the|this|that|these|your|a|questions?|it|in|with|include|includes|including)\b"  # "answer the"
_ANSWER = phrases(
    rf"""(?<!to )answers?\b(?!{_NO_COMPLEMENT}) | ans\b | best guess\b | verdict\b
    answers? that (?:best )?(?:fits|matches|works|applies|remains)(?: best)?\b
    one that (?:best )?(?:fits|matches|works|applies|remains)(?: best)?\b
    (?:correct|right|best|final|most \w{{1,14}}) (?:option|choice|one|letter|statement|alternative|result)\b
    (?:my|final|the) (?:choice|option|pick|selection)\b"""
)
_IN_OTHER_LANGUAGES = phrases(
    """respuesta|réponse|reponse|antwort|lösung|richtig|вариант|resposta|risposta|ответ(?:ом)?|antwoord|svaret?|odpowied[źz]
    odpověď|cevap|yanıt|đáp án|câu trả lời|jawaban(?:nya)?|jawapan|vastaus|válasz|răspunsul|răspuns|απάντηση|відповідь
    (?:opción|opcion|alternativa|réponse) correct[ae]|opção correta|opzione corretta
    (?:richtige|korrekte|beste) (?:option|aussage|wahl|alternative)
    (?:alternativa|opción|opcion|opzione|opção) (?:correct[ao]|corrett?a)
    الإجابة|الجواب|إجابة|جواب|پاسخ|ה?תשובה|उत्तर|উত্তর|సమాధానం|பதில்|jibu"""
)
_IN_HAN_AND_KANA = (
    r"(?:คำตอบ(?:ที่ถูกต้อง)?\s?(?:คือ|:|=)"
    r"|(?:答案|正解|(?<!お)答え|解答|选项|選項|选择|故选|正答|정답|回答(?=[:是])|(?<![解回正提])答(?=:)"
    r"|답변(?![할드])|답(?![변할])|选)\s?(?:应该?|應該?)?\s?(?:[:=]|是|为|為|は|은|는)?)"
)
_COMPLETE = phrases(
    r"""odpowied[źz] to|odpověď je|svar är|är svaret|er svaret|ist die (?:richtige )?antwort|is het (?:juiste )?antwoord
    vastaus on|उत्तर|απάντηση είναι το|răspunsul corect este
    răspunsul este|jibu ni
    (?:somit|also|daher|damit|folglich|deshalb|demnach|dann) (?:lautet|ist|wäre) die (?:\w{1,12} )?antwort:?
    (?:giv(?:es?|ing)|yield(?:s|ing)?|gets?|reach|have|to|with) (?:us )?(?:an?|the|our|my) (?:final )?answer (?:of|as)
    to answer (?:your|the|this) question[:,]"""
)
_IS = phrases(
    r"""is|isn't|are|was|wasn't|be|equals?|becomes|remains|comes to
    (?:comes|works) out (?:to(?: be)?|as|at)|(?:comes|boils) down to|amounts to|es|est|ist|lautet|é
    è|är|er|jest|هي|هو|là|adalah
    ialah|είναι|является|это|dır|sería|serait|seria|sarebbe|wäre|будет|er|היא|הוא|है|است"""
)
# "The answer you are looking for is", "The answer is found to be".
_PASSIVE = (
    r"(?:\s(?:(?:looking|searching|asking|asked)\sfor\sis|(?:then\s|thus\s)?(?:found|seen|determined|calculated|computed|known|said|shown|estimated"
    r"|taken)\sto\sbe|(?:given|represented|expressed)\sby)\b)?"
)
_COLON = r"""[*_`"'\])\s]{0,6}(?:[:=]+>?|->|>{1,3}|»|→|⇒|➜|[-–—](?=\s)|\||(?<=ans)\.)"""
_THEREFORE = phrases(
    """then|thus|therefore|hence|donc|also|somit|damit|folglich|quindi|dunque|pertanto|portanto|então|entonces
    por (?:lo )?tanto|dus|alltså|altså|således"""
)
_LINK = rf"""(?:{_COLON}|[\s*_)\]"']{{1,4}}{_IS}\b{_PASSIVE}(?:\s{_THEREFORE}\b)?[*_]{{0,3}}:?|(?<=r)'s\b)"""
#: "The answer to this question is", "**Answer:**", "Die Antwort lautet", "答案是".
MARKER: Final = _pattern(
    rf"\b(?:{_ANSWER}|{_IN_OTHER_LANGUAGES}\b)(?P<between>[^\n.;:?!=→$\\{CLAIM}]{{0,60}}?){_LINK}|{_IN_HAN_AND_KANA}|\b{_COMPLETE}|\[(?:final\s|correct\s)?answer\](?=\s)"
)
#: A line that announces the answer.
HEADING: Final = _pattern(r"[\W_]*(?:(?:and|so)\s)?(?:(?:the|my)\s)?(?:final\s|correct\s)?(?:answer|ans)[\W_]*\Z")
_NO_ANSWER = phrases(
    """the|this|that|to|is|was|can|cannot|can't|could|couldn't|might|may|should|must|would|will|won't|isn't|has|depends
    remains|seems|lies|follows|of|for|in|on|and|or|key|we|i"""
)
#: "Answer B", "A: B".
BARE: Final = (
    # A verb behind "the answer B" says something about it.
    _pattern(
        r"\W*(?:(?:the|my)\s(?!(?:final\s|correct\s)?answer\s(?:\S+\s){1,4}?[a-z]+s\s[a-z]))?(?:final\s|correct\s)?"
        rf"answer[\s*_]+(?!{_NO_ANSWER}\b)(.+)"
    ),
    _pattern(
        r"[^\n]{0,80}?\b(?:makes?|making)\s([^\n]{1,100}?)\s(?:the|our|my)\s(?:(?:final|only|correct|right|best|most|likely)\s){0,3}"
        r"(?:answer|choice|option|one)\b\W*\Z"
    ),
    _pattern(r"[^\n]{0,40}?\bcevap\s(?!yok|bili|veri|deği)(.+)"),
    re.compile(r"\W*A\W{0,3}:\s*(.+)"),
    _pattern(
        r"[^\n]{0,80}?\b(?:arrive\sat|reach|get|obtain|gives?(?:\sus)?|leaves?(?:\s(?:us|me))?\swith)\s(?:the|our|my|an?)\s(?:final\s|correct\s)?"
        rf"answer[\s*_:]+(?!{_NO_ANSWER}\b)(.+)"
    ),
    _pattern(
        r"[^\n]{0,80}?\b(?:with|on|take|choose|pick|select|gives?|giving|yields?|submit|have|get|state)\s([^\n]{1,100}?)\sas\s(?:my|the|our)\s"
        r"(?:final\s|correct\s)?answer\b"
    ),
)
_BEST = phrases("answer|option|choice|one|solution|best|most (?:accurate|appropriate|likely|suitable|plausible)")
_IS_OR_SEEMS = phrases("is|was|are|seems|looks|appears|would be|must be|should be|has to be|seems to be|appears to be")
_FITTING = phrases("likely|plausible|appropriate|accurate|suitable|reasonable|sensible")
_OTHER = phrases("second|third|last|next|worst|least|other|alternative|backup")
_AFFIRMING = phrases(
    rf"""{_IS_OR_SEEMS} (?:(?!not\b|never\b|half\b|part|almost\b)\w{{1,12}}\s){{0,2}}?"""
    rf"""(?:(?:the|my|our) (?:(?!{_OTHER})\w{{1,12}}\s){{0,2}}?{_BEST}|correct|right|best|most {_FITTING})\b"""
    r"""(?! (?:if|unless|about|in that|to say|order|way|hand|side|away|here|triangle|angle))
    fits best | makes the most sense | it is(?=\W*\Z) | ist (?:die )?(?:richtig|korrekt)
    es (?:la )?(?:respuesta )?correct[ao] | est (?:la )?(?:bonne réponse|correcte?)
    (?:选项|選項)?是?(?:正确|正確)"""
)
#: "… is the answer", "… is correct".
AFFIRMED: Final = _pattern(rf"[\s*_\"'`,]{{1,4}}{_AFFIRMING}|(?:选项|選項)?是?(?:正确|正確)")
UNAFFIRMED: Final = _pattern(r"\b(?:not|wrong|incorrect|nor|neither|cannot|which|one)\b|n't\b|没有|沒有|[不无無非]")
SUPPOSED: Final = _pattern(
    r"\b(?:if|whether|why|hope|some|many|people|students|what|how)\b|\b(?:not|n't)\s(?:\w{1,12}\s){0,3}that\b"
)

# ── denials

_FILLER = phrases(
    "that|the|my|our|an?|final|correct|right|best|most|likely|common|possible|only|say|think|believe|be|is|it"
)
_DENIALS = phrases(
    r"""wrong|incorrect|false|mistaken|tempting|erroneous|naive|not|never|cannot|doubt|unlikely|deny|if|whether|suppose
    assume|assuming|unless|unsure|imagine|let's say|says|said|claims|claimed|argues|thinks|thought|believes
    guessed|mistakes?|errors?|traps?|pitfall|misconception|several|multiple|various|long|longer
    (?:not|n't) (?:\w{1,12} ){0,2}(?:sure|certain|convinced|confident)
    (?:(?<!\bi )(?:might|may|would|could)|people|many|some|students|others) (?:\w{1,10} )?(?:think|say|guess|answer)"""
)
#: Words before "the answer is" that deny it, or only suppose it.
DENYING: Final = _pattern(
    rf"(?:\b{_DENIALS}\b|n't|\b(?:is|was|could|can|would|should)(?=\s+the\s))[\s*_]+(?:{_FILLER}[\s*_]+)*\Z"
)
SURE: Final = _pattern(
    r"\b(?:(?:no|without(?:\sa)?|beyond(?:\sa)?)\sdoubt|doubtless|not\sonly|(?:text|passage|article|context|paragraph|document|code)\s(?:clearly\s)?(?:says|said|claims))[\s*_,]"
)
#: "I doubt that the answer is".
EMBEDDED: Final = _pattern(r"\b(?:that|whether)\s(?:the\s|my\s|our\s)?(?:\w{1,12}\s){0,2}\Z")
DOUBTED: Final = _pattern(
    r"n't\b|\b(?:not(?!\s(?:only|hard|difficult|surprising))|cannot|doubt|doubtful|unlikely|unclear|false|wrong|claim|idea|assumption|hypothesis"
    r"|possible|possibility)\b"
)
CALLED_FALSE: Final = _pattern(
    r"\S\W{0,3}\s(?:is|was)\s(?:clearly\s)?(?:false|wrong|incorrect|not\s(?:true|correct|right))\W*\Z"
)
NO: Final = _pattern(r"\b(?:no|without\s(?:an?|any))\s(?:\w{1,12}\s){0,2}\Z")
#: "The answer may be 5 or 6".
PERHAPS: Final = _pattern(r"\b(?:may|might|could)\b")
OR: Final = _pattern(r"\s(?:or|oder|ou)\s")
SUPPOSING: Final = _pattern(r"\W*(?:if|had|were|without)\b")
IF: Final = _pattern(r"\s(?:if|had)\b")
HESITANT: Final = _pattern(
    r"\bor\b.{1,80}\b(?:not|un)\s?(?:sure|certain)\b|\bbut\b(?:\s\w{1,10}){0,3}\s(?:could|might|may)\s(?:\w{1,10}\s)?be\b"
)
NOT: Final = _pattern(
    r"[\s*_:]*(?:(?:definitely|certainly|clearly|therefore|thus)\s)?(?:not|\w{0,8}n't|cannot|never|different\sfrom"
    r"|other\sthan|unequal|(?:very\s)?unlikely|nicht|niet|ikke|inte|pas|не|değil)\b(?!\s(?:enough|known|clear|sure))|[\s*_:]*(?:不是|并非|並非)"
)
#: What denies a claim from behind.
NOT_BEHIND: Final = _pattern(
    r"\A[^\n]{0,200}?(?:で(?:は|も)(?:ない|ありません|なく)|じゃない|[이가] 아(?:닙|니)|不对|不對|是错|\bdeğil|\bनहीं)"
)
NEGATED: Final = _pattern(
    r"\b(?:not|depends|whether|cannot|never|no|não|non|n'est|nie|не|nicht|ne|niet|ikke|inte|ला|لیست|ليست|ليس|לא"
    r"|אינה|không phải|bukan)\b|n't\b"
)
#: "The answer is not 5", after which "It's 6" states another.
DENIED_ANSWER: Final = _pattern(
    r"\b(?:answer|it|that)\s?(?:is\s|'s\s)?(?:not|n't|isn't|cannot\sbe|can't\sbe)\b|\A\W*not\b"
)
_HESITATION = (
    r"(?P<hesitating>(?:(?:wait|no|actually|sorry|hmm+|oops|correction|rather|scratch\sthat|or|well|oh|but|so)"
    r"\b\W*){1,5})?"
)
#: "No, it's B": the words behind it.
INSTEAD: Final = _pattern(
    rf"\W*{_HESITATION}(?:it's|it\sis|it\sshould\sbe|it\smust\sbe|(?P<meaning>i\smeant?)|make\s(?:that|it)|(?<=correction)\b[\s:,]*|(?<=rather)\b[\s:,]*"
    r"|(?<=no)\b[\s,:—–]+(?:-\s)?|(?<=no,)\s+|(?<=no\s)(?=\S))\s*(?!not\b|wait\b|that\b|this\b|actually\b|is\b)(?P<words>\S.*)"
)
#: "Result: 5": what nothing but an answer may follow.
LABEL: Final = _pattern(
    r"\W*(?:(?:the|my|our|final|overall)\s){0,2}"
    + phrases(
        """result|solution|output|response|conclusion|label|prediction|category|classification|verdict|tl;dr
        short answer|so(?=:)|therefore(?=:)|thus(?=:)|hence(?=:)|final(?=:)|in short|in summary|in conclusion
        to conclude|endergebnis|ergebnis|fazit|résultat|conclusion
        resultado|conclusión|conclusão|risultato|conclusione|результат|итого|итог|вывод|wynik|resultaat|sonuç
        结果|结论|結果|結論|결과|결론|kết quả|hasil|النتيجة"""
    )
    + r"(?:(?:\s?[*_]{0,3}\s?(?:[:=]+>?|->|→)|,(?=\s)|\sis\b(?!\s(?:that|to)\b))\s*)(\S.*)"
)
#: A word in place of an answer, as in instructions: "\boxed{answer}".
PLACEHOLDER: Final = _pattern(
    r"""[\s\[\]<>(){}_*.'"]*(?:\\text\s?\{)?(?:(?:your|the|my|our|insert|put|write|final|correct|numerical|single)\s){0,4}"""
    r"""(?:answer|result|solution|letter|number|option|choice|value|expression)(?:\s(?:here|only|letter|choice|goes\shere))?[\s\[\]<>(){}_*.'"]*"""
    r"""|[\s$]*\\[lcvd]?dots[cbmio]?[\s$]*"""
)
BUT: Final = _pattern(r"\b(?:but|rather|instead|it\sis|it's)\b[\s,:]*(.+)")
#: Words behind a box that deny it.
DENIED: Final = _pattern(
    r"""[\s*_"'`),$]*(?:\b(?:is|was|are|would\sbe|ist|es|est|looks|seems)\s(?:\w{1,12}\s){0,2}?(?:not\b|wrong|incorrect|false"""
    r"""|impossible|a\s(?:common\s)?(?:mistake|error|distractor|trap)|falsch)|isn't|wasn't|cannot|can't|不)"""
)
_WRONG = phrases(
    r"""(?:that|this|it)(?:'s| is| was| looks| seems) (?:\w{1,10}\s)?(?:wrong|incorrect|a mistake)
    (?:that|this|it)(?:'s| is| was) (?:\w{1,10}\s)?not (?:right|correct|true|it)
    (?:that|this|it) (?:doesn't|does not|can't|cannot|won't) (?:seem|look|be|add up|fit|match|work|make sense|hold)\b
    (?:that|this|it) (?:contradicts|fails|conflicts)\b
    (?:that|this|it) (?:isn't|wasn't) (?:right|correct|true|it)
    I (?:made|have made|see) (?:an?|my|the) (?:\w{1,12}\s)?(?:mistake|error)
    I (?:miscounted|miscalculated|misread|misunderstood|forgot|overlooked)\b
    scratch that | my mistake | on second thought | I take that back | (?:the|my) (?:\w{1,12}\s){1,3}is wrong"""
)
#: A sentence that takes back what was stated before.
TAKEN_BACK: Final = _pattern(
    rf"\W*(?:(?:but|oh|no|wait|hmm+|actually|hold\son|sorry|oops|so|and|then|therefore|hence|thus|clearly)\W+){{0,4}}{_WRONG}"
    r"|\W*(?:oh\W+)?(?:wait|no|actually)\W+(?:no|wait|actually)\b|\W*correction\b"
)
CORRECTING: Final = _pattern(
    rf"\W*{phrases('wait|actually|hmm+|no|correction|sorry|oops|rather|on second thought|hold on')}\b"
)
#: A sentence that says that something is not so, is doubtful, or is only tried.
DOUBTFUL: Final = _pattern(
    r"\A\W*(?:first|note|had)\b|\b"
    + phrases(
        r"""wrong|incorrect|mistakes?|mistaken|false|not|cannot|unable|unsure|unclear|unknown|sorry|maybe|perhaps|might
        could|if|whether|suppose|assum\w{1,4}|let (?:\$?[a-z]|the|there|us)|consider|considered|check|test|doubt|can't
        don't|doesn't|isn't|won't|aren't|couldn't|need|compare|versus|vs
        (?:looks?|seems?|is|are|both|equally) plausible|either|or
        disagree|unlike|try|неизвест\w*|misconceptions?|distractors?|traps?|rul(?:e|es|ed|ing) out
        exclud(?:e|es|ed)|eliminate[sd]?|never|avoid
        anything but|except|\w{3,6}n't|(?:we|i) (?:want|wish|try|aim)|vary|varies
        nicht|niet|ikke|inte|pas|не|não|değil|không phải|bukan|ليس|לא|नहीं"""
    )
    + r"\b|[❌✗✘]|で(?:は|も)(?:ない|ありません)|じゃない|아(?:닙|니)|不是|不对|\?\W*\Z"
)

# ── no answer

_UNKNOWN = phrases(
    r"""(?:not |un)(?:known|clear|certain|sure|determined|determinable|available|defined|decided|enough\b)
    (?:can ?not|can't|could not|couldn't) be (?:determined|found|known|given|answered|inferred|decided|calculated)
    i (?:do not|don't|cannot|can't|could not|am not|have no)\b | i'm (?:not|sorry|unable|afraid)\b | impossible\b
    unable to\b | null\b | n/?a\b | none given | no (?:idea|answer|solution|response|clue)\b | hard to\b
    beyond (?:me|my)\b | missing\b | left (?:as|to|blank)\b | given (?:below|above|in)\b | as follows\b | below\b
    tbd\b | blank\b | see (?:above|below)\b | insufficient\b | nothing(?:\W*\Z| (?:was|is|has))
    hmm+\b | error\b | something I\b
    truncated\b | loading\b | not (?:possible|given|stated|provided)\b | \?+\W*\Z
    no se sabe | unbekannt | inconnu | desconocid[oa] | 未知 | 我?不知道 | 我?(?:无法|無法)
    (?:分か|わか)ら(?:ない|ず|ん) | 모르
    no (?:lo )?sé | je ne\b | ich (?:weiß|weiss|kann)\b | non (?:lo )?so\b | não sei | (?:я )?не (?:знаю|могу)
    nie (?:wiem|mogę) | ik weet | jag vet | bilmiyorum | tidak tahu | لا أ | no se puede
    (?:很)?抱歉 | 对不起 | 對不起 | 很?遗憾 | 申し訳 | すみません | できません | 죄송 | извините | к сожалению
    простите
    (?:no|insufficient|not enough|lack of|(?:needs? )?more)(?: \w+)? (?:information|data|context|details?|evidence)\b
    none of (?:this|these|them|it) (?:can|is|are)\b
    (?:不|没有?|沒有?|未)(?:清楚|知道?|明|详|能|可|会|提供|提及|说明|給出|给出|回?答)
    不明 | 知りません | 불명
    (?:keine|aucune|ninguna|nessuna) (?:angabe|antwort|ahnung|réponse|información?|information|informazione)
    nicht (?:bekannt|angegeben|bestimmbar|genannt|klar)\b
    sin (?:datos|información|respuesta|especificar)\b | no (?:se )?(?:especific|mencion|sabe|indic)\w*
    não (?:especific|mencion|inform)\w*
    non (?:specific|précisé|indiqué|disponible|noto|dato)\w* | pas (?:de|d') | не (?:указан|извест|определ)\w*
    нет (?:ответа|данных) | [^ ]{1,8}ありません | far from\b | declined\W*\Z | \w+ unavailable\W*\Z
    lo siento
    (?:je suis )?désolé | es tut mir leid | leider\b | mi dispiace | desculpe | sinto muito | przepraszam | niestety
    عذرا | آسف | maaf\b | xin lỗi | üzgünüm | 答案?未知 | (?:无法|無法|不能)确定 | inconnue | desconocid[oa]
    (?:found|stated|mentioned|explained|described|hidden|contained|located) (?:in|by|above|below|on)\b
    in (?:the|its|this|a) (?:text|passage|form|format|paragraph|question|table|figure|picture|first|second|third|last)\b
    (?:too |very |a (?:bit|little) |quite |rather )?(?:complicated|complex|difficult|tricky|subjective|ambiguous)\W*\Z
    different (?:from|than)\b | a matter of\b | up to you\b | open to\b | subject to\b
    (?:response|output|text|message|content|answer) (?:was |is )?(?:truncated|cut|omitted|filtered|blocked|removed)
    (?:wrong|incorrect|mistaken|allowed|needed|required|obvious|clear|straightforward)\W*\Z
    (?:be )?(?:given|found|determined|computed|calculated|provided|known)\W*\Z | неизвест\w* | 분명 | 을? ?알 수 없
    分かり(?:ません|ない) | わかり(?:ません|ない) | to be (?:determined|decided|announced|found|computed)\b
    max(?:imum)? (?:tokens?|length)\b | redacted\b | insert\b | (?:할 )?수 없"""
)
_KNOWING = (
    "(?:determin|know|giv|stat|provid|specif|mention|resolv|answer|confirm|settl|decid|disclos|reveal|report|record|infer|deduc"
    "|deriv|tell|told|say|said|found|find|shown|publish|document|suppl|avail|clear|certain|conclu|verif|establish|pin|identif|solv)"
)
# "not mentioned", "yet to be found", "unspecified", "tricky to find": what is said is that the answer is not known.
_UNTOLD = (
    rf"(?:(?:not|never|nowhere|yet|cannot|can't|couldn't|unable|left)\s(?:[a-z]+\s){{0,3}}?(?:un)?{_KNOWING}\w*"
    rf"|(?:un{_KNOWING}|undis\w|incon(?=clusi)|in(?=determin))\w*(?=\W*\Z|\s(?:in|from|by|at|to|for|here|without|due|because|until)\b)"
    rf"|[a-z]+\sto\s(?:be\s)?{_KNOWING}\w*\b"
    r"|(?:beyond|outside|out\sof|up\sfor|open\s(?:to|for)|under|in|lost\s(?:to|in))\s(?:the\s|this\s|its\s)?"
    r"(?:scope|reach|range|debate|dispute|discussion|doubt|question|history|time|investigation|review)\b"
    r"|(?:\w+-)?dependent\b|contingent\son\b|a\smystery\b|any(?:one|body)'s\sguess"
    r"|(?:simple|easy|pending|debatable|contested|disputed|elusive|withheld|undecidable|moot)\W*\Z)"
)
NOTHING: Final = _pattern(
    rf"[\W_]*(?:(?:definitely|probably|simply|currently|still|just|not|never)\s)?(?:{_UNKNOWN}|{_UNTOLD})"
    r"|[\W_]*(?:either|both|between|somewhere|one\sof|any\sof|neither)\b"
)
#: A short text that speaks of the exchange itself does not answer.
OF_THE_EXCHANGE: Final = _pattern(
    r"\b"
    + phrases(
        r"""answers?|responses?|request|requests|comment|question|reply|clarify|clarification|respuesta|réponse|antwort
        risposta|resposta|ответа?|antwoord|svar|odpowiedzi|jawaban|cevap|angabe|timed out
        limit (?:exceeded|reached)
        (?:internal|server|network|api|unknown) (?:\w+ )?error|violat(?:ion|es|ed)
        (?:no|more|further|additional|insufficient|enough|needs?) (?:\w+ )?(?:information|context|data|details?|input)
        (?:information|context|data|details?|input) (?:\w+ )?(?:needed|required|missing|insufficient)"""
    )
    + r"\b|答案|回答|해당 없음|答え"
)
#: The end of a sentence that breaks off.
UNFINISHED: Final = _pattern(
    r"(?:\b"
    + phrases(
        """the|an?|of|to|is|are|was|and|or|then|so|we|he|she|they|it|by|with|for|from|in|on|at|that|which|i|will|need
        step|up|out|first|next|get|gives|equals|has|have|be|into|per|than|about|this|these|because|since|if|when|our|my"""
    )
    + r"|[-+*/=×÷,:(\[{]|\s[$€£])[\s*_]{0,8}\Z"
)
#: What a model says to the user in the end.
REMARK: Final = _pattern(
    r"\W*"
    + phrases(
        """let me know|i hope|hope (?:this|that)|feel free|if you(?:'d|'re| have| need| want| would)|please\\b|thank
        is there anything
        would you like|good luck|happy to|confidence\\b|glad to|you are welcome|have a (?:nice|great)
        do you (?:have|need|want)|note(?: that|:)"""
    )
)
