"""Conversations, and responses with scores or rubrics."""

from __future__ import annotations

from crucible_datasets.benchmarks.miniatures.base import Draw, Row, maker
from crucible_datasets.benchmarks.miniatures.words import KINDS, TOPICS, chat, reply, request, statement

MESSAGES = [{"content": "string", "role": "string"}]


def messages(draw: Draw, turns: int) -> list[dict[str, str]]:
    """A conversation with `role` and `content`."""
    return [{"content": text, "role": role} for role, text in chat(draw, turns)]


@maker("allenai/tulu-3-sft-mixture", {"id": "string", "messages": MESSAGES, "source": "string"})
def tulu3_sft(draw: Draw, config: str, split: str, number: int) -> Row:
    said = messages(draw, draw.number(1, 3))
    if number % 4 == 0:
        said.insert(0, {"content": f"Be {draw.one(KINDS)}.", "role": "system"})
    return {"id": f"made_{number}", "messages": said, "source": f"made/{draw.one(TOPICS)}"}


@maker(
    "HuggingFaceH4/no_robots",
    {"prompt": "string", "prompt_id": "string", "messages": MESSAGES, "category": "string"},
)
def no_robots(draw: Draw, config: str, split: str, number: int) -> Row:
    said = messages(draw, draw.number(1, 2))
    category = draw.one(["Generation", "Open QA", "Brainstorm", "Chat", "Rewrite"])
    return {
        "prompt": said[0]["content"],
        "prompt_id": f"{split}{number:060x}",
        "messages": said,
        "category": category,
    }


@maker(
    "open-thoughts/OpenThoughts3-1.2M",
    {
        "difficulty": "int64",
        "source": "string",
        "domain": "string",
        "conversations": [{"from": "string", "value": "string"}],
    },
)
def open_thoughts3(draw: Draw, config: str, split: str, number: int) -> Row:
    asked, thought = request(draw), statement(draw)
    return {
        "difficulty": draw.number(1, 10),
        "source": "made-up",
        "domain": draw.one(["math", "code", "science"]),
        "conversations": [
            {"from": "human", "value": asked},
            {"from": "gpt", "value": f"<think>{thought}</think>\n\n{reply(draw)}"},
        ],
    }


@maker(
    "prometheus-eval/Feedback-Collection",
    {
        "orig_instruction": "string",
        "orig_response": "string",
        "orig_reference_answer": "string",
        "orig_criteria": "string",
        "orig_score1_description": "string",
        "orig_score2_description": "string",
        "orig_score3_description": "string",
        "orig_score4_description": "string",
        "orig_score5_description": "string",
        "orig_feedback": "string",
        "orig_score": "string",
        "instruction": "string",
        "input": "string",
        "output": "string",
    },
    file="json",
)
def feedback_collection(draw: Draw, config: str, split: str, number: int) -> Row:
    asked, kind, score = request(draw), draw.one(KINDS), draw.number(1, 5)
    answer, feedback = reply(draw), statement(draw)
    meaning = {f"orig_score{place}_description": f"It is {kind} at {20 * place}%." for place in range(1, 6)}
    return {
        "orig_instruction": asked,
        "orig_response": answer,
        "orig_reference_answer": reply(draw),
        "orig_criteria": f"Is the text {kind}?",
        **meaning,
        "orig_feedback": feedback,
        "orig_score": str(score),
        "instruction": f"Judge this answer.\n\n{asked}\n\n{answer}",
        "input": "",
        "output": f"{feedback} [RESULT] {score}",
    }
