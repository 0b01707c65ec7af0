"""Databases with damaged pages, by the hundred."""

import collections
import os
import random

from test_faults import examine, sound  # noqa: F401


def test_hundreds_of_damaged_databases_lose_only_what_cannot_be_read(sound, tmp_path):  # noqa: F811
    count = int(os.environ.get("DAMAGES", "150"))
    first = int(os.environ.get("SEED", random.randrange(1 << 32)))
    outcomes = collections.Counter(examine(sound, tmp_path, seed) for seed in range(first, first + count))
    print(f"seeds {first} to {first + count - 1}: {dict(outcomes)}")
    assert outcomes["repaired"] > count // 2
