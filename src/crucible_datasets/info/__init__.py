"""What is known about a dataset beside its rows, in the forms that other readers of the same files expect."""

from crucible_datasets.info.info import DatasetInfo, DatasetInfoMixin, PostProcessedInfo, SupervisedKeysData
from crucible_datasets.info.infos import DatasetInfosDict

__all__ = ["DatasetInfo", "DatasetInfoMixin", "DatasetInfosDict", "PostProcessedInfo", "SupervisedKeysData"]
