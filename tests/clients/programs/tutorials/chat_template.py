"""Render conversations with a template, one by one, and keep only the text."""

from datasets import Dataset

conversations = Dataset.from_list(
    [
        {"messages": [{"role": "user", "content": f"What is {n} + {n}?"}, {"role": "assistant", "content": str(2 * n)}]}
        for n in range(5)
    ]
)


def render(example):
    turns = [f"<|{turn['role']}|>{turn['content']}<|end|>" for turn in example["messages"]]
    return {"text": "".join(turns), "turns": len(turns)}


rendered = conversations.map(render, remove_columns=["messages"])
print(conversations.features)
print(rendered)
print(rendered.features)
for row in rendered:
    print(row)
print(conversations[0]["messages"][0]["content"], conversations["messages"][1])
