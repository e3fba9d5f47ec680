"""Folders of audio files."""

from crucible_datasets.features import Audio
from crucible_datasets.formats.folders import folder_format

EXTENSIONS = """
.aiff .au .avr .caf .flac .htk .svx .mat4 .mat5 .mpc2k .ogg .paf .pvf .raw .rf64 .sd2 .sds .ircam .voc .w64 .wav .nist
.wavex .wve .xi .mp3 .opus .3gp .3g2 .asf .flv .m4v .mpg .webm .f4v .wmv .wma .ogm .mxf .nut
"""

FORMAT = folder_format("audio", Audio, EXTENSIONS, also=".avi .mp4 .mov .mkv")
