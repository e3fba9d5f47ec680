"""A class made by `records.dataclass` is what the standard library would have made of it."""

import dataclasses
import inspect
from itertools import product
from typing import Any, ClassVar

import pytest

from crucible_datasets.records import dataclass as quick


def classes(decorate: Any, **options: bool) -> tuple[type, type]:
    """A class with every kind of field, and one that inherits from it."""

    @decorate(**options)
    class Base:
        first: int
        second: str = "two"
        more: list[int] = dataclasses.field(default_factory=list)
        hidden: int = dataclasses.field(default=0, repr=False, compare=False)
        kind: str = dataclasses.field(init=False, default="base")
        made: dict[str, int] = dataclasses.field(init=False, default_factory=dict, hash=False)
        shared: ClassVar[int] = 5

        def __post_init__(self) -> None:
            object.__setattr__(self, "hidden", self.hidden + 1)

    @decorate(**options)
    class Derived(Base):
        """With a docstring."""

        third: Any = dataclasses.field(default=None, kw_only=True)

        def __repr__(self) -> str:
            return "derived"

    return Base, Derived


def seen(cls: type) -> list[Any]:
    """What can be told of a class and its instances."""
    one, same, other = cls(1), cls(1, more=[]), cls(first=2, second="zwei", more=[3])
    found = [inspect.signature(cls), cls.__doc__ if cls.__name__ == "Derived" else None, cls.__match_args__]
    found += [[(field.name, field.type, field.init) for field in dataclasses.fields(cls)]]
    found += [repr(one).split(".")[-1], one == same, one == other, one == 3, dataclasses.asdict(other)]
    found += [dataclasses.asdict(dataclasses.replace(other, first=9)), cls.__init__.__annotations__]
    found += [cls.__dataclass_params__.frozen, cls.__dataclass_params__.eq, cls.__hash__ is None]
    for change in (lambda: setattr(one, "first", 2), lambda: setattr(one, "new", 2), lambda: delattr(one, "first")):
        try:
            change()
        except AttributeError as error:
            found.append((type(error), str(error)))
    try:
        found.append(hash(cls(1, more=())) == hash(cls(1, more=())))
    except TypeError as error:
        found.append(str(error).split(".")[-1])
    return found


@pytest.mark.parametrize(
    "options", [dict(zip(("frozen", "eq", "repr"), given, strict=True)) for given in product((True, False), repeat=3)]
)
def test_it_is_what_the_standard_library_makes(options: dict[str, bool]) -> None:
    for quickly, usually in zip(classes(quick, **options), classes(dataclasses.dataclass, **options), strict=True):
        if not options["repr"]:
            quickly.__repr__ = usually.__repr__ = lambda self: "no text"
        assert list(map(str, seen(quickly))) == list(map(str, seen(usually)))


def test_the_standard_decorator_and_this_one_inherit_from_each_other() -> None:
    for below, above in ((quick, dataclasses.dataclass), (dataclasses.dataclass, quick)):
        base, _ = classes(below, frozen=True)

        @above(frozen=True)
        class Mixed(base):
            last: int = 0

        assert Mixed(1, last=4) == Mixed(1, last=4)
        with pytest.raises(dataclasses.FrozenInstanceError):
            Mixed(1).last = 3


def test_methods_that_a_class_defines_stay() -> None:
    @quick(frozen=True)
    class Own:
        value: int

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 7

    assert (Own(1) == Own(2), hash(Own(3))) == (True, 7)
