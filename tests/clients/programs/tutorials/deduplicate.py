"""Clean a corpus: normalise, drop duplicates by hash, drop short rows, count words across batches."""

import hashlib
from collections import Counter

from datasets import Dataset

corpus = Dataset.from_dict({"text": [["The  cat", "the cat", "A dog runs far", "", "x"][n % 5] for n in range(50)]})
seen = set()


def is_new(row):
    digest = hashlib.md5(row["text"].encode()).hexdigest()
    if digest in seen:
        return False
    seen.add(digest)
    return True


normal = corpus.map(lambda row: {"text": " ".join(row["text"].lower().split())})
unique = normal.filter(is_new, load_from_cache_file=False)
print(unique["text"][:])
kept = unique.filter(lambda batch: [len(text) > 3 for text in batch["text"]], batched=True)
print(kept.to_list(), kept.num_rows)
counts = Counter(word for batch in normal.iter(batch_size=7) for text in batch["text"] for word in text.split())
print(counts.most_common(3), len(normal.unique("text")))
lengths = normal.map(lambda text: {"length": len(text)}, input_columns=["text"])
print(lengths.sort("length", reverse=True)[0], lengths.sort(["length", "text"])[:12]["length"])
print(lengths.with_format("numpy")["length"][:].mean(), max(lengths["length"]), lengths.features)
