"""The types of the field, immutable and checked.

records      what all of them share: the same value as a dict, as JSON, as a row of a dataset
messages     Message, its Parts and Pictures, and the Conversation they make
comparisons  two responses to one prompt, and which is better
sample       Sample, and the Rubric it may be judged by
schemas      the types as features, as Arrow schemas and as JSON Schemas
datasets     records → a dataset of them
"""

from crucible_datasets.benchmarks.types.comparisons import Comparison, LabeledComparison
from crucible_datasets.benchmarks.types.messages import Conversation, Message, Part, Picture
from crucible_datasets.benchmarks.types.records import Record
from crucible_datasets.benchmarks.types.sample import Rubric, Sample

__all__ = [
    "Comparison",
    "Conversation",
    "LabeledComparison",
    "Message",
    "Part",
    "Picture",
    "Record",
    "Rubric",
    "Sample",
]
