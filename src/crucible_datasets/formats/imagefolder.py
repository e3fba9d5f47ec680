"""Folders of images."""

from crucible_datasets.features import Image
from crucible_datasets.formats.folders import folder_format

EXTENSIONS = """
.blp .bmp .dib .bufr .cur .pcx .dcx .dds .ps .eps .fit .fits .fli .flc .ftc .ftu .gbr .gif .grib .png .apng .jp2 .j2k
.jpc .jpf .jpx .j2c .icns .ico .im .iim .tif .tiff .jfif .jpe .jpg .jpeg .msp .pcd .pxr .pbm .pgm .ppm .pnm .psd .bw
.rgb .rgba .sgi .ras .tga .icb .vda .vst .webp .wmf .emf .xbm .xpm
"""

FORMAT = folder_format("image", Image, EXTENSIONS, also=".mpg .mpeg")
