"""The typed records: immutable and validated.

records      `Record`, the base class: values as dict, JSON and row of a dataset
messages     Message with Parts and Pictures, Conversation
comparisons  two responses to one prompt, and which is better
sample       Sample and Rubric
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
