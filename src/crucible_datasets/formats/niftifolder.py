"""Folders of NIfTI volumes."""

from crucible_datasets.features import Nifti
from crucible_datasets.formats.folders import folder_format

FORMAT = folder_format("nifti", Nifti, ".nii")
