"""The typed records: immutable and validated.

sample       Sample and Rubric
messages     `Record`, the base class: values as dict and JSON; Message with Parts and Pictures, Conversation
comparisons  two responses to one prompt, and which is better
schemas      the types as features, as Arrow schemas and as JSON Schemas
datasets     records → a dataset of them
"""

from crucible_datasets.benchmarks.types.comparisons import Comparison, LabeledComparison
from crucible_datasets.benchmarks.types.messages import Conversation, Message, Part, Picture, Record
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
