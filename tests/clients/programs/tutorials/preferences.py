"""From ratings to pairs of chosen and rejected, with rows that multiply and rows that vanish."""

from datasets import Dataset

ratings = Dataset.from_list(
    [
        {"prompt": f"p{n}", "completions": [{"text": f"c{n}.{i}", "rating": (n * i) % 3} for i in range(n % 3 + 1)]}
        for n in range(6)
    ]
)
print(ratings.features)


def pairs(batch):
    out = {"prompt": [], "chosen": [], "rejected": [], "margin": []}
    for prompt, completions in zip(batch["prompt"], batch["completions"], strict=True):
        ranked = sorted(completions, key=lambda each: each["rating"])
        if ranked[0]["rating"] < ranked[-1]["rating"]:
            out["prompt"].append([{"role": "user", "content": prompt}])
            out["chosen"].append([{"role": "assistant", "content": ranked[-1]["text"]}])
            out["rejected"].append([{"role": "assistant", "content": ranked[0]["text"]}])
            out["margin"].append(ranked[-1]["rating"] - ranked[0]["rating"])
    return out


preferences = ratings.map(pairs, batched=True, remove_columns=ratings.column_names)
print(preferences, preferences.features)
for row in preferences:
    print(row)


def explode(batch):
    flat = [(p, c["text"], c["rating"]) for p, cs in zip(batch["prompt"], batch["completions"]) for c in cs]
    return {"prompt": [f[0] for f in flat], "text": [f[1] for f in flat], "rating": [f[2] for f in flat]}


print(ratings.map(explode, batched=True, batch_size=2, remove_columns=ratings.column_names).to_pandas().to_string())
