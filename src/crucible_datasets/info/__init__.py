"""The description of a dataset, in the file formats that Hugging Face `datasets` uses."""

from crucible_datasets.info.info import DatasetInfo, DatasetInfoMixin, PostProcessedInfo, SupervisedKeysData
from crucible_datasets.info.infos import DatasetInfosDict
from crucible_datasets.lazy_imports import names_of_datasets

__all__ = ["DatasetInfo", "DatasetInfoMixin", "DatasetInfosDict", "PostProcessedInfo", "SupervisedKeysData"]

names_of_datasets(__name__)
