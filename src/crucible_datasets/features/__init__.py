"""The type system: what columns mean, how Arrow stores them, how they change."""

from crucible_datasets.features.arrays import Array2D, Array3D, Array4D, Array5D
from crucible_datasets.features.audio import Audio
from crucible_datasets.features.classlabel import ClassLabel
from crucible_datasets.features.features import Features
from crucible_datasets.features.image import Image
from crucible_datasets.features.media import BioSequence, BioStructure
from crucible_datasets.features.mesh import Mesh
from crucible_datasets.features.nifti import Nifti
from crucible_datasets.features.pdf import Pdf
from crucible_datasets.features.serialized import register_feature
from crucible_datasets.features.translation import Translation, TranslationVariableLanguages
from crucible_datasets.features.types import Json, LargeList, List, Sequence, Value
from crucible_datasets.features.video import Video

__all__ = [
    "Array2D",
    "Array3D",
    "Array4D",
    "Array5D",
    "Audio",
    "BioSequence",
    "BioStructure",
    "ClassLabel",
    "Features",
    "Image",
    "Json",
    "LargeList",
    "List",
    "Mesh",
    "Nifti",
    "Pdf",
    "Sequence",
    "Translation",
    "TranslationVariableLanguages",
    "Value",
    "Video",
    "register_feature",
]
