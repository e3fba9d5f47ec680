"""A folder of pictures with metadata, pictures in rows, and their bytes."""

import json
import os

import numpy as np
from datasets import Dataset, Features, Image, Value, load_dataset
from PIL import Image as Picture

for label, colour in (("cat", (255, 0, 0)), ("dog", (0, 0, 255))):
    os.makedirs(f"pictures/train/{label}")
    for n in range(2):
        Picture.new("RGB", (4, 3 + n), colour).save(f"pictures/train/{label}/{n}.png")
folder = load_dataset("imagefolder", data_dir="pictures", split="train")
print(folder.features, len(folder))
print([(row["image"].size, row["label"], row["image"].getpixel((0, 0))) for row in folder])
os.makedirs("captioned")
Picture.new("L", (2, 2)).save("captioned/a.png")
with open("captioned/metadata.jsonl", "w") as file:
    file.write(json.dumps({"file_name": "a.png", "text": "nothing"}) + "\n")
captioned = load_dataset("imagefolder", data_dir="captioned", split="train")
print(captioned.column_names, captioned[0]["text"], captioned[0]["image"].mode)
paths = [f"pictures/train/cat/{n}.png" for n in range(2)]
dataset = Dataset.from_dict({"image": paths}).cast_column("image", Image())
print(dataset[1]["image"].size, np.array(dataset[0]["image"]).shape)
print(sorted(dataset.cast_column("image", Image(decode=False))[0]["image"]))
small = dataset.map(lambda row: {"image": row["image"].resize((2, 2)), "name": "x"})
print(small[0]["image"].size, small.features)
features = Features({"image": Image(), "name": Value("string")})
arrays = Dataset.from_dict({"image": [np.zeros((2, 2, 3), np.uint8)], "name": ["zero"]}, features=features)
print(arrays[0]["image"].size, arrays.with_format("numpy")[0]["image"].shape)
arrays.to_parquet("arrays.parquet")
print(load_dataset("parquet", data_files="arrays.parquet", split="train").features)
