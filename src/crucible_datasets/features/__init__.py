"""The type system: the types of columns, how Arrow stores them, and how values and types are converted.

features, names  `Features`: columns with their types; serialized, yaml, typetext: as JSON, YAML and text
types            values and lists; classlabel, arrays, translation
media            image, audio, video, pdf, nifti, mesh; media_types: recognised by their Python objects
bounds           which files media may open; members, zipped: media in zip archives
dtypes, storage, extension    Arrow types
infer, encode    Python values → Arrow, with shred, leaves, scalars, tensors, jsontext; frames: pandas and Polars
decode           Arrow → what users see, with batch_decode, decode_pipeline; embed: the bytes of media files
cast, unite      from one type to another; the common type of two
"""

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
from crucible_datasets.lazy_imports import names_of_datasets

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

# Modules that are only forwarded: see `dropin/datasets/__init__.py`.
__path__.append(f"{__path__[0]}/../dropin/datasets/features")
names_of_datasets(__name__)
