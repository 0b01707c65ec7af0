"""A drain under client libraries: each request is answered, or surely was not processed (`make drains` runs a hundred)."""

import drains


def test_three_drains_under_client_libraries_lose_nothing(tmp_path):
    figures = drains.drain(tmp_path, drains=3, seed=7, between=100)
    faults = {name: {fault: one[fault] for fault in drains.FAULTS} for name, one in figures["senders"].items()}
    assert figures["is_good"], drains.summary(figures) + f"\n{faults}"
    for name, one in figures["senders"].items():
        assert one[drains.ACCEPTED] >= 3, (name, one)
