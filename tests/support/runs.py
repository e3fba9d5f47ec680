"""Runs made by hand, for what reads runs: reports and commands."""

from crucible_datasets.evaluation.outcome import Outcome
from crucible_datasets.evaluation.runs.record import EvaluationResult, RunInfo, SampleResult
from crucible_datasets.evaluation.runs.summaries import Tally
from support.hostile import ALL_TERMINAL, ALL_XSS, XSS

METRIC = "exact_match@2"


def run_of(model, values, *, samples=None, metric=METRIC, dataset="quiz", info=None):
    """A run of right (1), wrong (0) and unread (None) answers; `samples` gives further fields of each."""
    results = []
    for number, value in enumerate(values):
        outcome = Outcome(0.0, None, "unparsed") if value is None else Outcome(float(value), f"answer {number}")
        fields = {"prediction": f"{model} says {value}", "target": "4", "input": f"What is {number}?", "metadata": {}}
        fields |= {} if samples is None else samples(number)
        results.append(SampleResult(**{"id": f"q{number}", "outcomes": {metric: outcome}, **fields}))
    tally = Tally(metric)
    tally.add([result.outcomes[metric] for result in results])
    facts = {"run_id": f"{model}-run", "model": model, "dataset": dataset, "split": "test", "dataset_hash": "h1"}
    facts |= {"metrics": [metric], "rules": ["gsm8k/official@1"], "num_samples": len(results)}
    facts |= {"created_at": "2026-01-02T03:04:05Z", **(info or {})}
    return EvaluationResult(RunInfo(**facts), results, {metric: tally.summary()})


def hostile_run(model, text=ALL_XSS, payloads=(*XSS, ALL_TERMINAL)):
    """A run in which every field is hostile: `text` in those of the run, one payload in those of each sample."""

    def fields(number):
        bad = payloads[number]
        parts = [{"type": "text", "text": bad}, {"type": "image", "image": bad}, bad, {bad: bad}]
        return {
            "id": f"{number}{bad}",
            "input": [{"role": bad, "content": parts}, {"role": "user", "content": bad}, bad] if number % 2 else bad,
            "target": bad,
            "prediction": bad if number % 3 else [bad, bad],
            "choices": [bad, bad],
            "metadata": {bad: bad, "group": payloads[number % 2], "deep": {bad: [bad]}},
        }

    info = {"run_id": text, "dataset": text, "split": text, "revision": text, "rules": [text], "tags": [text]}
    info |= {"options": {text: text}, "library_version": text, "created_at": text, "config": text, "missing": text}
    values = [number % 2 if "a" in model else 1 for number in range(len(payloads))]
    return run_of(f"{model}{text}", values, samples=fields, metric=f"exact{text}@1", info=info)
