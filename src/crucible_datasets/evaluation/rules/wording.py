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

_ANSWER = phrases(
    r"""answers?\b(?! (?:the|this|that|these|your|a|questions?|it|in|with)\b) | ans\b | best guess\b | verdict\b
    (?:correct|right|best|final) (?:option|choice|one|letter|statement|alternative|result)\b
    (?:my|final|the) (?:choice|option|pick|selection)\b"""
)
_IN_OTHER_LANGUAGES = phrases(
    """respuesta|réponse|reponse|antwort|lösung|richtig|вариант|resposta|risposta|ответ|antwoord|svaret?|odpowied[źz]
    odpověď|cevap|yanıt|đáp án|câu trả lời|jawaban|jawapan|vastaus|válasz|răspunsul|răspuns|απάντηση|відповідь
    (?:opción|opcion|alternativa|réponse) correct[ae]|opção correta|opzione corretta
    الإجابة|الجواب|إجابة|جواب|תשובה|उत्तर|উত্তর|คำตอบ"""
)
_IN_HAN_AND_KANA = (
    r"(?:答案|正解|答え|解答|选项|選項|选择|故选|正答|정답|답|选)\s?(?:应该?|應該?)?\s?(?:[:=]|是|为|為|は|은|는)?"
)
_COMPLETE = phrases(
    "odpowied[źz] to|odpověď je|svar är|vastaus on|उत्तर|απάντηση είναι το|răspunsul corect este|răspunsul este"
)
_IS = phrases(
    r"""is|are|was|be|equals?|becomes|remains|comes to|comes out to|es|est|ist|lautet|é|è|är|er|jest|هي|هو|là|adalah
    ialah|είναι|является|це|это|dır"""
)
_COLON = r"""[*_`"'\])\s]{0,6}(?:[:=]+>?|->|→|⇒|➜|[-–—](?=\s)|\||(?<=ans)\.)"""
_LINK = rf"""(?:{_COLON}|[\s*_)\]"']{{1,4}}{_IS}\b[*_]{{0,3}}:?|(?<=r)'s\b)"""
#: "The answer to this question is", "**Answer:**", "Die Antwort lautet", "答案是".
MARKER: Final = _pattern(
    rf"\b(?:{_ANSWER}|{_IN_OTHER_LANGUAGES}\b)(?P<between>[^\n.;:?!=→{CLAIM}]{{0,60}}?){_LINK}|{_IN_HAN_AND_KANA}|\b{_COMPLETE}"
)
#: A line that announces the answer.
HEADING: Final = _pattern(r"[\W_]*(?:(?:the|my)\s)?(?:final\s|correct\s)?(?:answer|ans)[\W_]*\Z")
_NO_ANSWER = phrases(
    """the|this|that|to|is|was|can|cannot|can't|could|couldn't|might|may|should|must|would|will|won't|isn't|has|depends
    remains|seems|lies|follows|of|for|in|on|and|or|key|we|i"""
)
#: "Answer B", "A: B".
BARE: Final = (
    _pattern(rf"\W*(?:(?:the|my)\s)?(?:final\s|correct\s)?answer[\s*_]+(?!{_NO_ANSWER}\b)(.+)"),
    re.compile(r"\W*A\W{0,3}:\s*(.+)"),
)
_BEST = phrases("answer|option|choice|one|solution|best|most (?:accurate|appropriate|likely|suitable|plausible)")
_IS_OR_SEEMS = phrases("is|was|are|seems|looks|appears|would be|must be|should be|has to be|seems to be|appears to be")
_AFFIRMING = phrases(
    rf"""{_IS_OR_SEEMS} (?:(?!not\b|never\b)\w{{1,12}}\s){{0,2}}?"""
    rf"""(?:(?:the|my|our) (?:\w{{1,12}}\s){{0,2}}?{_BEST}|correct|right|most likely)\b"""
    r"""(?! (?:if|unless|about|in that|to say|order|way|hand|side|away|here|triangle|angle))
    ist (?:die )?(?:richtig|korrekt) | es (?:la )?(?:respuesta )?correct[ao] | est (?:la )?(?:bonne réponse|correcte?)
    (?:选项|選項)?是?(?:正确|正確)"""
)
#: "… is the answer", "… is correct".
AFFIRMED: Final = _pattern(rf"[\s*_\"'`,]{{1,4}}{_AFFIRMING}|(?:选项|選項)?是?(?:正确|正確)")
UNAFFIRMED: Final = _pattern(
    r"\b(?:not|wrong|if|whether|why|hope|nor|neither|cannot|some|many|people|students|what|which|how|one)\b|n't\b"
)

# ── denials

_FILLER = phrases(
    "that|the|my|our|an?|final|correct|right|best|most|likely|common|possible|only|say|think|believe|be|is|it"
)
_DENIALS = phrases(
    """wrong|incorrect|false|mistaken|tempting|erroneous|naive|not|never|cannot|doubt|unlikely|deny|if|whether|suppose
    assume|assuming|unless|unsure|imagine|say|thought|sure
    (?:might|may|would|could|people|many|some|students) (?:think|say|guess)"""
)
#: Words before "the answer is" that deny it, or only suppose it.
DENYING: Final = _pattern(
    rf"(?:\b{_DENIALS}\b|n't|\b(?:is|was|could|can|would|should)(?=\s+the\s))[\s*_]+(?:{_FILLER}[\s*_]+)*\Z"
)
SURE: Final = _pattern(
    r"\b(?:i'm|am|fairly|quite|pretty|very|absolutely)\s(?:(?:fairly|quite|pretty|very)\s)?sure[\s*_]"
)
SUPPOSING: Final = _pattern(r"\W*(?:if|had|were|without)\b")
IF: Final = _pattern(r"\s(?:if|had)\b")
HESITANT: Final = _pattern(r"\bor\b.{1,80}\b(?:not|un)\s?(?:sure|certain)\b")
NOT: Final = _pattern(
    r"[\s*_:]*(?:(?:definitely|certainly|clearly|therefore|thus)\s)?(?:not|\w{0,8}n't|cannot|never|different\sfrom"
    r"|other\sthan|unequal)\b(?!\s(?:enough|known|clear|sure))"
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
    (?:that|this|it) (?:doesn't|does not|can't|cannot) (?:seem|look|be|add up|fit)\b
    (?:that|this|it) (?:isn't|wasn't) (?:right|correct|true|it)
    I (?:made|have made|see) (?:an?|my|the) (?:\w{1,12}\s)?(?:mistake|error)
    I (?:miscounted|miscalculated|misread|misunderstood|forgot|overlooked)\b
    scratch that | my mistake | on second thought | I take that back | (?:the|my) (?:\w{1,12}\s){1,3}is wrong"""
)
#: A sentence that takes back what was stated before.
TAKEN_BACK: Final = _pattern(
    rf"\W*(?:(?:but|oh|no|wait|hmm+|actually|hold\son|sorry|oops)\W+){{0,4}}{_WRONG}"
    r"|\W*(?:oh\W+)?(?:wait|no|actually)\W+(?:no|wait|actually)\b|\W*correction\b"
)
CORRECTING: Final = _pattern(
    rf"\W*{phrases('wait|actually|hmm+|no|correction|sorry|oops|rather|on second thought|hold on')}\b"
)
#: A sentence that says that something is not so, is doubtful, or is only tried.
DOUBTFUL: Final = _pattern(
    r"\A\W*(?:first|note)\b|\b"
    + phrases(
        r"""wrong|incorrect|mistakes?|mistaken|false|not|cannot|unable|unsure|unclear|unknown|sorry|maybe|perhaps|might
        could|if|whether|suppose|assum\w{1,4}|let (?:\$?[a-z]|the|there|us)|consider|considered|check|test|doubt|can't
        don't|doesn't|isn't|won't|aren't|couldn't|need|compare|versus|plausible|either|or"""
    )
    + r"\b|[❌✗✘]|\?\W*\Z"
)

# ── no answer

_UNKNOWN = phrases(
    r"""(?:not |un)(?:known|clear|certain|sure|determined|determinable|available|defined|decided|enough\b)
    (?:can ?not|can't|could not|couldn't) be (?:determined|found|known|given|answered|inferred|decided|calculated)
    i (?:do not|don't|cannot|can't|could not|am not|have no)\b | i'm (?:not|sorry|unable|afraid)\b | impossible\b
    unable to\b | null\b | n/?a\b | none given | no (?:idea|answer|solution|response|clue)\b | hard to\b
    beyond (?:me|my)\b | missing\b | left (?:as|to|blank)\b | given (?:below|above|in)\b | as follows\b | below\b
    tbd\b | blank\b | see (?:above|below)\b | insufficient\b | nothing\W*\Z | hmm+\b | error\b | something I\b
    truncated\b | loading\b | not (?:possible|given|stated|provided)\b | \?+\W*\Z
    no se sabe | unbekannt | inconnu | desconocid[oa] | 未知 | 我?不知道 | 我?(?:无法|無法) | わかりません | 모르
    no (?:lo )?sé | je ne\b | ich (?:weiß|weiss|kann)\b | non (?:lo )?so\b | não sei | (?:я )?не (?:знаю|могу)
    nie wiem | ik weet | jag vet | bilmiyorum | tidak tahu | لا أ"""
)
NOTHING: Final = _pattern(
    rf"[\W_]*(?:(?:definitely|probably|simply|currently|still|just)\s)?{_UNKNOWN}"
    r"|[\W_]*(?:either|both|between|somewhere|one\sof|any\sof|neither)\b"
)
#: The end of a sentence that breaks off.
UNFINISHED: Final = _pattern(
    r"(?:\b"
    + phrases(
        """the|an?|of|to|is|are|was|and|or|then|so|we|he|she|they|it|by|with|for|from|in|on|at|that|which|i|will|need
        step|up|out|first|next"""
    )
    + r"|[-+*/=×÷,:(\[{])[\s*_]*\Z"
)
#: What a model says to the user in the end.
REMARK: Final = _pattern(
    r"\W*"
    + phrases(
        """let me know|i hope|hope (?:this|that)|feel free|if you (?:have|need|want|'d)|please\\b|thank
        is there anything
        would you like|good luck|happy to|confidence\\b|glad to|you are welcome|have a (?:nice|great)
        do you (?:have|need|want)|note(?: that|:)"""
    )
)
