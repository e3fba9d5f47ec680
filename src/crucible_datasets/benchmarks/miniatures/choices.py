"""Multiple choice questions."""

from __future__ import annotations

from typing import Any

from crucible_datasets.benchmarks.catalog.registry import GROUPS
from crucible_datasets.benchmarks.miniatures.base import NAMES, PLACES, THINGS, TOPICS, Draw, Row, maker, statement
from crucible_datasets.features import ClassLabel

SUBJECTS = [subject for group in GROUPS["mmlu_subjects"].values() for subject in group]


def options(draw: Draw, count: int) -> tuple[str, list[str], int]:
    """A sum, several results, and the index of the correct one."""
    a, b = draw.number(10, 99), draw.number(10, 99)
    right = draw.number(0, count - 1)
    return f"What is {a} + {b}?", [str(a + b + place - right) for place in range(count)], right


@maker(
    "cais/mmlu",
    {"question": "string", "subject": "string", "choices": ["string"], "answer": ClassLabel(names=list("ABCD"))},
    rows=64,
)
def mmlu(draw: Draw, config: str, split: str, number: int) -> Row:
    question, choices, right = options(draw, 4)
    subject = SUBJECTS[number % len(SUBJECTS)] if config == "all" else config
    return {"question": f"({number}) {question}", "subject": subject, "choices": choices, "answer": right}


@maker(
    "TIGER-Lab/MMLU-Pro",
    {
        "question_id": "int64",
        "question": "string",
        "options": ["string"],
        "answer": "string",
        "answer_index": "int64",
        "cot_content": "string",
        "category": "string",
        "src": "string",
    },
)
def mmlu_pro(draw: Draw, config: str, split: str, number: int) -> Row:
    question, choices, right = options(draw, draw.number(4, 10))
    return {
        "question_id": 70 + number,
        "question": question,
        "options": choices,
        "answer": "ABCDEFGHIJ"[right],
        "answer_index": right,
        "cot_content": "A: Let's think step by step." if split == "validation" else "",
        "category": draw.one(["math", "physics", "law", "history"]),
        "src": "made-up",
    }


@maker(
    "allenai/ai2_arc",
    {"id": "string", "question": "string", "choices": {"text": ["string"], "label": ["string"]}, "answerKey": "string"},
)
def ai2_arc(draw: Draw, config: str, split: str, number: int) -> Row:
    question, texts, right = options(draw, 4)
    labels = list("1234") if number % 5 == 4 else list("ABCD")
    choices = {"text": texts, "label": labels}
    return {"id": f"Made_{split}_{number}", "question": question, "choices": choices, "answerKey": labels[right]}


@maker(
    "Rowan/hellaswag",
    {
        "ind": "int32",
        "activity_label": "string",
        "ctx_a": "string",
        "ctx_b": "string",
        "ctx": "string",
        "endings": ["string"],
        "source_id": "string",
        "split": "string",
        "split_type": "string",
        "label": "string",
    },
)
def hellaswag(draw: Draw, config: str, split: str, number: int) -> Row:
    before, name = statement(draw), draw.one(NAMES)
    ends = [
        f"{verb} {draw.one(THINGS)}." for verb in draw.some(["counts the", "sells the", "paints the", "eats the"], 4)
    ]
    return {
        "ind": number,
        "activity_label": f"Talking about {draw.one(TOPICS)}",
        "ctx_a": before,
        "ctx_b": name,
        "ctx": f"{before} {name}",
        "endings": ends,
        "source_id": f"made~{number}",
        "split": split,
        "split_type": "indomain",
        "label": str(draw.number(0, 3)),
    }


@maker("allenai/winogrande", {"sentence": "string", "option1": "string", "option2": "string", "answer": "string"})
def winogrande(draw: Draw, config: str, split: str, number: int) -> Row:
    first, second = draw.some(NAMES, 2)
    sentence = f"{first} gave {second} a lamp at {draw.one(PLACES)}, so _ had one lamp less."
    return {"sentence": sentence, "option1": first, "option2": second, "answer": draw.one("12")}


_ONE_RIGHT = {"choices": ["string"], "labels": ["int32"]}
_TRUTHFUL: dict[str, dict[str, Any]] = {
    "multiple_choice": {"question": "string", "mc1_targets": _ONE_RIGHT, "mc2_targets": _ONE_RIGHT},
    "generation": {
        "type": "string",
        "category": "string",
        "question": "string",
        "best_answer": "string",
        "correct_answers": ["string"],
        "incorrect_answers": ["string"],
        "source": "string",
    },
}


@maker("truthfulqa/truthful_qa", lambda config: _TRUTHFUL[config])
def truthful_qa(draw: Draw, config: str, split: str, number: int) -> Row:
    topic, name = draw.one(TOPICS), draw.one(NAMES)
    question = f"What happens if {name} forgets about {topic}?"
    right = [f"Nothing happens to {topic}.", f"{name} forgets about {topic}, and that is all."]
    wrong = [f"All {topic} vanish.", f"{name} turns to stone."]
    if config == "generation":
        return {
            "type": "Adversarial",
            "category": "Misconceptions",
            "question": question,
            "best_answer": right[0],
            "correct_answers": right,
            "incorrect_answers": wrong,
            "source": "https://example.org",
        }
    return {
        "question": question,
        "mc1_targets": {"choices": [right[0], *wrong], "labels": [1, 0, 0]},
        "mc2_targets": {"choices": [*right, *wrong], "labels": [1, 1, 0, 0]},
    }


_GPQA = ("Question", "Correct Answer", "Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3")
_GPQA_MORE = ("Explanation", "Subdomain", "High-level domain", "Record ID")


@maker("Idavidrein/gpqa", dict.fromkeys((*_GPQA, *_GPQA_MORE), "string"))
def gpqa(draw: Draw, config: str, split: str, number: int) -> Row:
    question, choices, right = options(draw, 4)
    wrong = [choice for place, choice in enumerate(choices) if place != right]
    answers = dict(zip(_GPQA, [f"{question} ({number})", choices[right], *wrong], strict=True))
    domain = draw.one(["Physics", "Chemistry", "Biology"])
    more = ["The digits are added.", f"{domain} (general)", domain, f"rec{config}{number:04d}"]
    return {**answers, **dict(zip(_GPQA_MORE, more, strict=True))}
