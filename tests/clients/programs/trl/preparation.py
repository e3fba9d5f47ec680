"""TRL's functions over datasets: templates, packing, truncation, preferences."""

from datasets import Dataset, DatasetDict
from tiny import tokenizer
from trl import (
    apply_chat_template,
    extract_prompt,
    is_conversational,
    maybe_apply_chat_template,
    maybe_convert_to_chatml,
    maybe_extract_prompt,
    maybe_unpair_preference_dataset,
    pack_dataset,
    unpair_preference_dataset,
)

words = tokenizer()


def show(dataset):
    print(dataset.features, len(dataset))
    for row in dataset:
        print(row)


chat = Dataset.from_list(
    [
        {
            "prompt": [{"role": "user", "content": f"what is {n} ?"}],
            "completion": [{"role": "assistant", "content": f"{n} ."}],
        }
        for n in range(4)
    ]
)
show(chat.map(apply_chat_template, fn_kwargs={"processing_class": words}))
show(
    chat.map(
        lambda row: {"text": words.apply_chat_template(row["prompt"] + row["completion"], tokenize=False)},
        remove_columns=chat.column_names,
    )
)
print([is_conversational(row) for row in chat], words.apply_chat_template(chat[0]["prompt"], tokenize=False))
shared = Dataset.from_list(
    [
        {
            "chosen": [{"role": "user", "content": "the sky"}, {"role": "assistant", "content": "is blue"}],
            "rejected": [{"role": "user", "content": "the sky"}, {"role": "assistant", "content": "is red"}],
        }
    ]
    * 3
)
show(shared.map(extract_prompt))
show(shared.map(maybe_extract_prompt).map(maybe_apply_chat_template, fn_kwargs={"processing_class": words}))
plain = Dataset.from_dict(
    {"prompt": ["the sky is", "the sea is"], "chosen": [" blue", " good"], "rejected": [" red", " bad"]}
)
show(unpair_preference_dataset(plain))
print(maybe_unpair_preference_dataset(DatasetDict(train=plain, test=plain.select([0]))))
print(list(unpair_preference_dataset(plain.to_iterable_dataset())))
share_gpt = Dataset.from_list(
    [{"conversations": [{"from": "user", "value": "a"}, {"from": "assistant", "value": "the"}]}]
)
show(share_gpt.map(maybe_convert_to_chatml))
tokenised = Dataset.from_dict(
    {"input_ids": [list(range(n)) for n in (3, 1, 5, 2, 4, 7)], "labels": [[1] * n for n in (3, 1, 5, 2, 4, 7)]}
)
for strategy in ("bfd", "bfd_split", "wrapped"):
    try:
        show(pack_dataset(tokenised, seq_length=6, strategy=strategy))
    except ValueError as error:
        print(error)
show(
    pack_dataset(DatasetDict(train=tokenised), seq_length=4, strategy="wrapped", map_kwargs={"batch_size": 3})["train"]
)
print(list(pack_dataset(tokenised.to_iterable_dataset(), seq_length=6)))
