"""A short run of `make cluster-kills`: what was answered 200 arrives once and in order, whatever dies."""

import pytest
from brokers import needs_brokers
from cluster_kills import storm

pytestmark = [needs_brokers, pytest.mark.xdist_group("cell")]


def test_nothing_is_lost_doubled_or_out_of_order_while_gateways_and_brokers_die(tmp_path):
    figures = storm(tmp_path, kills=8, seed=11, pace=100, between=100)
    assert figures["accepted"] > 0 and figures["is_good"], figures
