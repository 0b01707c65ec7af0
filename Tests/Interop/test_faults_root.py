"""The fastest of the faults that need root; without it they are skipped, and say so. `make faults` runs all."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent / "faults"))

from test_full_disk import disk, test_a_disk_that_fills_refuses_pushes_and_loses_none_and_recovers_by_itself  # noqa
from test_network import gateway, interval, link, subscriber, test_a_short_cut_ends_no_connection  # noqa
