"""Datasets, streams, dicts of splits and what streams are made of, as classes that programs derive from them."""

import copy
import pickle

from datasets import Dataset, DatasetDict, DatasetInfo, Features, IterableDataset, Value
from datasets.iterable_dataset import ExamplesIterable, FormattingConfig, _BaseExamplesIterable, _examples_to_batch


class Named(Dataset):
    def __init__(self, size, name):
        made = Dataset.from_dict({"a": list(range(size))})
        super().__init__(made.data, info=made.info, split=made.split, fingerprint=made._fingerprint)
        self.name = name

    def __getitem__(self, key):
        return self.name, super().__getitem__(key)


data = Named(4, "mine")
print(data[0], len(data), data.with_format("numpy")[1], copy.deepcopy(data).name, pickle.loads(pickle.dumps(data)).name)
print(
    data.select([1])[0],
    data.map(lambda row: {"b": 1})[0],
    data.shuffle(seed=1)["a"][:],
    data.rename_column("a", "z")[0],
)
print([type(made).__name__ for made in (data.select([0]), data.with_format(None), data.train_test_split(0.5))])


class OfNumber(DatasetDict):
    def __init__(self, number):
        super().__init__({"train": Dataset.from_dict({"a": [number]})})


print(OfNumber(3).map(lambda row: {"b": 1}), OfNumber(3).with_format("numpy")["train"][0])


class Squares(_BaseExamplesIterable):
    def __init__(self, numbers):
        super().__init__()
        self.numbers, self.rounds = numbers, 0

    def __iter__(self):
        self.rounds += 1
        for number in self.numbers:
            yield f"row{number}", {"n": number, "square": number**2}

    features = Features({"n": Value("int32"), "square": Value("int64")})
    is_typed = True

    @property
    def num_shards(self):
        return len(self.numbers)

    def shuffle_data_sources(self, generator):
        return Squares(generator.permutation(self.numbers).tolist())

    def shard_data_sources(self, num_shards, index, contiguous=True):
        return Squares(
            [self.numbers[place] for place in self.split_shard_indices_by_worker(num_shards, index, contiguous)]
        )

    def reshard_data_sources(self):
        return self

    def _init_state_dict(self):
        self._state_dict = {}
        return self._state_dict


class Stream(IterableDataset):
    def __init__(self, count):
        made = Squares(list(range(count)))
        super().__init__(ex_iterable=made, info=DatasetInfo(description="squares", features=made.features))
        self.count = count


stream = Stream(5)
print(list(stream), stream.features, stream.num_shards, stream.info.description, stream._ex_iterable.rounds)
print(list(stream.map(lambda row: {"m": -row["n"]}).filter(lambda row: row["n"] > 1).take(2)), stream.count)
print([[row["n"] for row in stream.shard(2, index)] for index in range(2)], list(stream.skip(3)["n"]))
print(isinstance(stream._ex_iterable, Squares), type(stream.map(lambda row: row)).__name__)
shown = IterableDataset(Squares([7]), formatting=FormattingConfig("numpy"))
print(next(iter(shown)), FormattingConfig("arrow").is_table, FormattingConfig(None).is_tensor)


def numbered(shards):
    for shard in shards:
        yield shard, {"x": shard}


own = IterableDataset(ExamplesIterable(numbered, {"shards": [1, 2, 3]}))
print(list(own), own.num_shards, [row["x"] for row in own.shard(3, 1)])
lists = IterableDataset.from_generator(
    lambda shards: iter({"x": n} for n in shards), gen_kwargs={"shards": [1, 2, 3, 4]}
)
inside = lists._ex_iterable
print(
    [[row for _, row in inside.shard_data_sources(num_shards=4, index=index)] for index in range(4)], inside.num_shards
)
print(list(IterableDataset(inside, info=lists._info, split=lists._split, formatting=lists._formatting)))
print(
    [lists.map(lambda batch: batch, batched=True, batch_size=7)._ex_iterable.batch_size, _examples_to_batch([{"a": 1}])]
)
