"""More of `datasets.download.streaming_download_manager`."""

from ..utils.file_utils import *  # noqa: F403
from ..utils.file_utils import __all__ as __all__
