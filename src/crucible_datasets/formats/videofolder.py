"""Folders of videos."""

from crucible_datasets.features import Video
from crucible_datasets.formats.folders import folder_format

FORMAT = folder_format("video", Video, ".mkv .mp4 .avi .mpeg .mov")
