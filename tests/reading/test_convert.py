"""Files are shared out so that processes have equally much to do."""

from hypothesis import given
from hypothesis import strategies as st

from crucible_datasets.reading.convert import shared_out
from crucible_datasets.reading.files import DataFile


@given(sizes=st.lists(st.integers(0, 100), min_size=1, max_size=12), parts=st.integers(1, 6))
def test_every_file_goes_to_one_process_in_order(sizes, parts):
    files = [DataFile(str(number), size, (number,)) for number, size in enumerate(sizes)]
    runs = shared_out(files, parts)
    assert [file for run in runs for file in run] == files
    assert len(runs) <= parts
    assert all(runs)


def test_large_files_stand_alone():
    files = [DataFile(str(size), size, (size,)) for size in (100, 3, 3, 3, 91)]
    assert [[file.size for file in run] for run in shared_out(files, 2)] == [[100], [3, 3, 3, 91]]
