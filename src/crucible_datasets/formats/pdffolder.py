"""Folders of PDF documents."""

from crucible_datasets.features import Pdf
from crucible_datasets.formats.folders import folder_format

FORMAT = folder_format("pdf", Pdf, ".pdf")
