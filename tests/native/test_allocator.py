"""What is freed goes back to the system."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

_FREED = """
import psutil
from dedup_job.native.allocator import give_back
here = psutil.Process()
small = [bytes(1000) for _ in range(200_000)]
last = bytes(1000)  # above them, so that the heap cannot shrink
before = here.memory_info().rss
del small
give_back()
print(before - here.memory_info().rss)
"""


@pytest.mark.measured
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other allocators do so themselves")
def test_memory_that_was_freed_between_things_in_use_goes_back_to_the_system():
    said = subprocess.run([sys.executable, "-c", _FREED], check=True, capture_output=True).stdout
    assert int(said) > 150_000_000
