"""Mathematics: word problems and competition problems with correct answers."""

from __future__ import annotations

from crucible_datasets.benchmarks.miniatures.base import NAMES, THINGS, Draw, Row, maker

TYPES = {
    "algebra": "Algebra",
    "counting_and_probability": "Counting & Probability",
    "geometry": "Geometry",
    "intermediate_algebra": "Intermediate Algebra",
    "number_theory": "Number Theory",
    "prealgebra": "Prealgebra",
    "precalculus": "Precalculus",
}


Story = tuple[str, list[str], int]  # a question, the steps of its solution, the answer


def shop(draw: Draw, name: str, thing: str) -> Story:
    """A story about buying things."""
    boxes, each, price = draw.number(2, 12), draw.number(3, 24), draw.number(2, 90)
    question = f"{name} buys {boxes} boxes of {each} {thing}. One of the {thing} costs ${price}. What is paid in all?"
    number, total = boxes * each, boxes * each * price
    steps = [
        f"There are {boxes} * {each} = <<{boxes}*{each}={number}>>{number} {thing}.",
        f"They cost {number} * {price} = $<<{number}*{price}={total}>>{total}.",
    ]
    return question, steps, total


def gifts(draw: Draw, name: str, thing: str) -> Story:
    """A story about adding up things."""
    first, second, third = draw.number(11, 90), draw.number(5, 60), draw.number(5, 60)
    question = f"{name} has {first} {thing}, gets {second} more, and finds {third} more. How many {thing} are that?"
    both, total = first + second, first + second + third
    steps = [
        f"The gift makes it {first} + {second} = <<{first}+{second}={both}>>{both}.",
        f"Those that are found make it {both} + {third} = <<{both}+{third}={total}>>{total}.",
    ]
    return question, steps, total


def change(draw: Draw, name: str, thing: str) -> Story:
    """A story about change."""
    count, price, more = draw.number(2, 9), draw.number(2, 9), draw.number(3, 40)
    cost, note = count * price, count * price + more
    question = f"{name} pays for {count} {thing} at ${price} each with ${note}. How many dollars come back?"
    steps = [
        f"They cost {count} * {price} = $<<{count}*{price}={cost}>>{cost}.",
        f"What comes back is {note} - {cost} = $<<{note}-{cost}={more}>>{more}.",
    ]
    return question, steps, more


def shelves(draw: Draw, name: str, thing: str) -> Story:
    """A story about things on shelves."""
    rows, each, more = draw.number(3, 12), draw.number(4, 15), draw.number(2, 30)
    question = f"{name} puts {each} {thing} on each of {rows} shelves and has {more} left. How many {thing} were there?"
    placed, total = rows * each, rows * each + more
    steps = [
        f"On the shelves are {rows} * {each} = <<{rows}*{each}={placed}>>{placed}.",
        f"With the rest there are {placed} + {more} = <<{placed}+{more}={total}>>{total}.",
    ]
    return question, steps, total


def story(draw: Draw) -> Story:
    """One of the stories, with random names and numbers."""
    return draw.one((shop, gifts, change, shelves))(draw, draw.one(NAMES), draw.one(THINGS))


@maker("openai/gsm8k", {"question": "string", "answer": "string"}, rows=32)
def gsm8k(draw: Draw, config: str, split: str, number: int) -> Row:
    question, steps, total = story(draw)
    asked = ["How many are there?", "What do they cost?"]
    lines = [f"{ask} ** {step}" for ask, step in zip(asked, steps, strict=True)] if config == "socratic" else steps
    return {"question": question, "answer": "\n".join([*lines, f"#### {total:,}"])}


@maker("madrylab/gsm8k-platinum", {"question": "string", "answer": "string", "cleaning_status": "string"})
def gsm8k_platinum(draw: Draw, config: str, split: str, number: int) -> Row:
    question, steps, total = story(draw)
    status = draw.one(["consensus", "verified", "revised"])
    return {"question": question, "answer": "\n".join([*steps, f"#### {total}"]), "cleaning_status": status}


def competition(draw: Draw) -> tuple[str, str, str]:
    """A problem, its solution, and the answer as LaTeX."""
    a, b, c = draw.number(2, 30), draw.number(2, 30), draw.number(31, 90)
    if draw.number(0, 1):
        answer = f"\\frac{{{c - b}}}{{{a}}}"
        return f"Solve ${a}x + {b} = {c}$ for $x$.", f"We have ${a}x = {c - b}$, so $x = \\boxed{{{answer}}}$.", answer
    answer = str(a * b + c)
    return f"Compute ${a} \\cdot {b} + {c}$.", f"It is ${a * b} + {c} = \\boxed{{{answer}}}$.", answer


def _level(draw: Draw) -> int:
    return draw.number(1, 5)


@maker("EleutherAI/hendrycks_math", {"problem": "string", "level": "string", "type": "string", "solution": "string"})
def hendrycks_math(draw: Draw, config: str, split: str, number: int) -> Row:
    problem, solution, _ = competition(draw)
    return {"problem": problem, "level": f"Level {_level(draw)}", "type": TYPES[config], "solution": solution}


@maker(
    "HuggingFaceH4/MATH-500",
    {
        "problem": "string",
        "solution": "string",
        "answer": "string",
        "subject": "string",
        "level": "int64",
        "unique_id": "string",
    },
    file="jsonl",
)
def math_500(draw: Draw, config: str, split: str, number: int) -> Row:
    # As in the original, its problems are in the test set of hendrycks_math.
    subject, place = list(TYPES)[number % len(TYPES)], number // len(TYPES)
    same = Draw(f"EleutherAI/hendrycks_math/{subject}/test/{place}")
    problem, solution, answer = competition(same)
    return {
        "problem": problem,
        "solution": solution,
        "answer": answer,
        "subject": TYPES[subject],
        "level": _level(same),
        "unique_id": f"test/{subject}/{place}.json",
    }


@maker(
    "zwhe99/DeepMath-103K",
    {
        "question": "string",
        "final_answer": "string",
        "difficulty": "float64",
        "topic": "string",
        "r1_solution_1": "string",
        "r1_solution_2": "string",
        "r1_solution_3": "string",
    },
)
def deepmath(draw: Draw, config: str, split: str, number: int) -> Row:
    problem, solution, answer = competition(draw)
    ways = {f"r1_solution_{way}": f"Attempt {way}. {solution}" for way in (1, 2, 3)}
    topic = f"Mathematics -> {draw.one(list(TYPES.values()))}"
    return {
        "question": problem,
        "final_answer": answer,
        "difficulty": draw.number(2, 18) / 2,
        "topic": topic,
        **ways,
    }


@maker(
    "POLARIS-Project/Polaris-Dataset-53K",
    {"problem": "string", "answer": "string", "difficulty": "string"},
    file="jsonl",
)
def polaris(draw: Draw, config: str, split: str, number: int) -> Row:
    problem, _, answer = competition(draw)
    return {"problem": problem, "answer": answer, "difficulty": f"{draw.number(0, 7)}/8"}


@maker(
    "HuggingFaceH4/aime_2024",
    {
        "id": "int64",
        "problem": "string",
        "solution": "string",
        "answer": "string",
        "url": "string",
        "year": "string",
    },
    rows=30,
)
def aime(draw: Draw, config: str, split: str, number: int) -> Row:
    a, b = draw.number(2, 30), draw.number(2, 30)
    return {
        "id": 60 + number,
        "problem": f"Find ${a} \\cdot {b}$, an integer between 0 and 999.",
        "solution": f"It is $\\boxed{{{a * b:03d}}}$.",
        "answer": f"{a * b:03d}",
        "url": f"https://example.org/aime/{number}",
        "year": "2024",
    }
