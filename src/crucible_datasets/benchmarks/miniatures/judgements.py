"""Preference pairs."""

from __future__ import annotations

from crucible_datasets.benchmarks.miniatures.base import (
    KINDS,
    MODELS,
    TOPICS,
    Draw,
    Row,
    chat,
    maker,
    reply,
    request,
    statement,
)

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


ASPECTS = ("helpfulness", "correctness", "coherence", "complexity", "verbosity")


@maker("Anthropic/hh-rlhf", {"chosen": "string", "rejected": "string"}, file="jsonl.gz")
def hh_rlhf(draw: Draw, config: str, split: str, number: int) -> Row:
    said = chat(draw, draw.number(1, 2))[:-1]
    shown = "".join(f"\n\n{'Human' if role == 'user' else 'Assistant'}: {text}" for role, text in said)
    return {
        "chosen": f"{shown}\n\nAssistant: {reply(draw)} Is that good?",
        "rejected": f"{shown}\n\nAssistant: {reply(draw)}",
    }


@maker(
    "nvidia/HelpSteer2",
    {"prompt": "string", "response": "string", **dict.fromkeys(ASPECTS, "int64")},
    file="jsonl.gz",
)
def helpsteer2(draw: Draw, config: str, split: str, number: int) -> Row:
    # As in the original, two consecutive rows answer one prompt.
    prompt = request(Draw(f"nvidia/HelpSteer2/{split}/{number // 2}"))
    return {"prompt": prompt, "response": reply(draw), **{aspect: draw.number(0, 4) for aspect in ASPECTS}}


@maker(
    "nvidia/HelpSteer3",
    {
        "domain": "string",
        "language": "string",
        "context": [{"role": "string", "content": "string"}],
        "response1": "string",
        "response2": "string",
        "overall_preference": "int64",
        "individual_preference": [
            {"score": "int64", "reasoning": "string", "feedback1": "string", "feedback2": "string"}
        ],
    },
    file="jsonl.gz",
)
def helpsteer3(draw: Draw, config: str, split: str, number: int) -> Row:
    said = chat(draw, draw.number(1, 2))[:-1]
    score = number % 7 - 3
    judged = {"reasoning": statement(draw), "feedback1": statement(draw), "feedback2": statement(draw)}
    return {
        "domain": draw.one(["general", "stem", "code", "multilingual"]),
        "language": "english",
        "context": [{"role": role, "content": text} for role, text in said],
        "response1": reply(draw),
        "response2": reply(draw),
        "overall_preference": score,
        "individual_preference": [{"score": score, **judged}],
    }


@maker(
    "argilla/ultrafeedback-binarized-preferences",
    {
        "source": "string",
        "instruction": "string",
        "chosen_response": "string",
        "rejected_response": "string",
        "chosen_avg_rating": "float64",
        "rejected_avg_rating": "float64",
        "chosen_model": "string",
    },
)
def ultrafeedback(draw: Draw, config: str, split: str, number: int) -> Row:
    low = draw.number(4, 15) / 4
    return {
        "source": f"made_{draw.one(TOPICS)}",
        "instruction": request(draw),
        "chosen_response": reply(draw),
        "rejected_response": reply(draw),
        "chosen_avg_rating": low + draw.number(1, 4) / 4,
        "rejected_avg_rating": low,
        "chosen_model": draw.one(MODELS),
    }


@maker(
    "allenai/llama-3.1-tulu-3-8b-preference-mixture",
    {"id": "string", "prompt": "string", "chosen": MESSAGES, "rejected": MESSAGES, "source": "string"},
)
def tulu3_preference(draw: Draw, config: str, split: str, number: int) -> Row:
    asked = {"content": request(draw), "role": "user"}
    good, bad = ({"content": f"{reply(draw)} {draw.one(KINDS)}.", "role": "assistant"} for _ in range(2))
    return {
        "id": f"made_{number}",
        "prompt": asked["content"],
        "chosen": [asked, good],
        "rejected": [asked, bad],
        "source": "made/preferences",
    }


_PARTS = [{"type": "string", "text": "string", "image": "string", "mimeType": "string"}]
_SAID = [{"role": "string", "content": _PARTS}]
_WON = ("model_a", "model_b", "tie", "both_bad")
_TOLD = [{"role": "string", "content": _PARTS}]


@maker(
    "lmarena-ai/arena-human-preference-140k",
    {
        "id": "string",
        "model_a": "string",
        "model_b": "string",
        "winner": "string",
        "evaluation_session_id": "string",
        "evaluation_order": "int32",
        "conversation_a": _SAID,
        "conversation_b": _SAID,
        "full_conversation": [
            {"user": _TOLD[0], "model_side_a": _TOLD[0], "model_side_b": _TOLD[0]},
        ],
        "conv_metadata": {"turns": "int64", "sum_user_tokens": "int64"},
        "category_tag": {"creative_writing": "bool", "math": "bool"},
        "language": "string",
        "is_code": "bool",
    },
)
def arena_140k(draw: Draw, config: str, split: str, number: int) -> Row:
    turns = draw.number(1, 2)
    asked = [_turn("user", request(draw)) for _ in range(turns)]
    replies = [[_turn("assistant", reply(draw)) for _ in range(turns)] for _ in range(2)]
    first, second = ([one for pair in zip(asked, answers, strict=True) for one in pair] for answers in replies)
    models = draw.some(MODELS, 2)
    whole = [
        {"user": user, "model_side_a": a, "model_side_b": b}
        for user, a, b in zip(asked, replies[0], replies[1], strict=True)
    ]
    return {
        "id": f"made-{number:04d}",
        "model_a": models[0],
        "model_b": models[1],
        "winner": _WON[number % len(_WON)],
        "evaluation_session_id": f"session-{number:04d}",
        "evaluation_order": 1,
        "conversation_a": first,
        "conversation_b": second,
        "full_conversation": whole,
        "conv_metadata": {"turns": turns, "sum_user_tokens": 20 * turns},
        "category_tag": {"creative_writing": True, "math": False},
        "language": "en",
        "is_code": False,
    }


def _turn(role: str, text: str) -> Row:
    return {"role": role, "content": [{"type": "text", "text": text, "image": None, "mimeType": None}]}
