"""The description of a dataset, in the file formats that Hugging Face `datasets` uses."""

from crucible_datasets.info.info import DatasetInfo, DatasetInfoMixin, PostProcessedInfo, SupervisedKeysData
from crucible_datasets.info.infos import DatasetInfosDict

__all__ = ["DatasetInfo", "DatasetInfoMixin", "DatasetInfosDict", "PostProcessedInfo", "SupervisedKeysData"]
