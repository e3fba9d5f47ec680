"""Data of every kind, to be looked at in a browser."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

import crucible_datasets as cd
from support.hostile import ALL_TERMINAL, ALL_XSS, XSS
from support.media import jpeg, sound

TEXT = cd.Value("string")
TURNS = cd.List({"role": TEXT, "content": TEXT})
PROGRAM = 'def add(a, b):\n    """Add two numbers."""\n    return a + b\n'
LESSON = """## Halves

What is **{0}** + $\\frac{{{0}}}{{2}}$? It costs $5 or `$6`, and $$\\int_0^1 x\\,dx$$ <b>raw</b>

| a | b |
|---|---|
| 1 | 2 |

- [link](https://example.com), [no link](javascript:alert(1)), ![no picture](https://example.com/a.png)

```python
return {0}
```
"""


def webm() -> bytes:
    """A film that browsers play without patents."""
    import av

    buffer = io.BytesIO()
    with av.open(buffer, "w", format="webm") as container:
        stream = container.add_stream("libvpx", rate=5)
        stream.width, stream.height, stream.pix_fmt = 32, 16, "yuv420p"
        for index in range(5):
            pixels = np.full((16, 32, 3), 40 * index, "uint8")
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode(None))
    return buffer.getvalue()


def seldom(content: bytes, size: int) -> list[Any]:
    """Media in one row: a browser asks for each of them, whenever rows are drawn."""
    return [{"bytes": content, "path": None} if number == 3 else None for number in range(size)]


def of_every_kind(size: int) -> cd.Dataset:
    """One column of every kind that pages draw in their own way."""
    numbers = range(size)
    chat = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Is $x^2=4$?"}]
    columns: dict[str, tuple[Any, list[Any]]] = {
        "id": (cd.Value("int64"), list(numbers)),
        "score": (cd.Value("float64"), [None if n % 10 == 9 else n / 7 for n in numbers]),
        "animal": (cd.ClassLabel(names=["cat", "dog"]), [n % 2 for n in numbers]),
        "lesson": (TEXT, [LESSON.format(n) for n in numbers]),
        "program": (TEXT, [PROGRAM] * size),
        "messages": (TURNS, [[*chat, {"role": "assistant", "content": f"Yes, and **{n}**."}] for n in numbers]),
        "long": (TEXT, [f"row {n} " + "word " * 1000 + f"needle{n}" for n in numbers]),
        "record": (TEXT, ['{"answer": {"deep": [1, 2]}}'] * size),
        "facts": ({"tags": cd.List(TEXT), "more": {"n": cd.Value("int64")}}, [{"tags": ["x"], "more": {"n": n}} for n in numbers]),
        "chosen": (TEXT, [f"Paris lies on the Seine {n}" for n in numbers]),
        "rejected": (TEXT, [f"Paris lies on the Rhone {n}" for n in numbers]),
        "picture": (cd.Image(), seldom(jpeg(), size)),
        "sound": (cd.Audio(), seldom(sound(), size)),
        "film": (cd.Video(), seldom(webm(), size)),
    }  # fmt: skip
    features = cd.Features({name: feature for name, (feature, _) in columns.items()})
    return cd.Dataset.from_dict({name: values for name, (_, values) in columns.items()}, features=features)


def million() -> cd.Dataset:
    """As many rows as no page can hold."""
    number = np.arange(1_000_000)
    return cd.Dataset.from_dict({"number": number, "rest": number % 7, "group": np.array(["a", "b", "c"])[number % 3]})


def hostile() -> cd.Dataset:
    """Data whose every text, and whose every name, tries to run a script."""
    wrapped = ("**x** {}", "[x]({})", "![x]({})", "${}$", "```html\n{}\n```", "| {} | x |\n|---|---|\n| {} | x |")
    texts = [*XSS, *(each.replace("{}", text) for text in XSS[:29] for each in wrapped)]
    names = list(dict.fromkeys(XSS[:40]))
    columns: dict[str, tuple[Any, Any]] = {
        "turns": (TURNS, [{"role": text, "content": text} for text in texts]),
        "nested": (dict.fromkeys(names, TEXT), dict.fromkeys(names, ALL_XSS)),
        "label": (cd.ClassLabel(names=names), 1),
        "chosen": (TEXT, ALL_XSS + "a"),
        "rejected": (TEXT, ALL_XSS + "b"),
        "program": (TEXT, f"def f():\n    return '''{ALL_XSS}''';\n"),
        "json": (TEXT, '{"<img>": {"t": "image", "src": "javascript:window.hacked=1"}, "a": {"t": "label", "v": 1}}'),
        "picture": (cd.Image(), {"bytes": jpeg(), "path": ALL_XSS}),
        "terminal": (TEXT, ALL_TERMINAL),
        **dict.fromkeys(names[:12], (TEXT, ALL_XSS)),
    }  # fmt: skip
    features = cd.Features({name: feature for name, (feature, _) in columns.items()})
    made = cd.Dataset.from_dict({name: [value] * 3 for name, (_, value) in columns.items()}, features=features)
    made.info.dataset_name = ALL_XSS
    return made
