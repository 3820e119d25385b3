"""The short form of the suite's outages; and the proxy's faults are what a client sees."""

from __future__ import annotations

import threading
import time

import pytest
from pymongo import MongoClient, timeout
from pymongo.errors import AutoReconnect, ConnectionFailure, PyMongoError

from tests.faults.free_ports import free_ports
from tests.faults.outages import network_cut, primary_goes
from tests.faults.proxy import proxy
from tests.faults.servers import replica_set as three_servers
from tests.faults.subject import Subject


@pytest.fixture
def between(replica_set):
    with MongoClient(replica_set) as client:
        client.admin.command("ping")
        port = client.address[1]
    with proxy(free_ports(1)[0], port) as running:
        yield running


@pytest.fixture
def client(between):
    options = {"retryReads": False, "retryWrites": False, "serverSelectionTimeoutMS": 300}
    with MongoClient(between.uri, **options) as found:
        found.proxied.drop_collection("rows")
        yield found


def meanwhile(work, *arguments):
    thread = threading.Thread(target=work, args=arguments)
    thread.start()
    time.sleep(0.05)
    return thread


def test_a_cut_closes_connections_and_refuses_new_ones(between, client):
    client.proxied.rows.insert_one({"_id": 1})
    cutting = meanwhile(between.cut, 1.0)
    with pytest.raises(ConnectionFailure):
        client.proxied.rows.find_one()
    cutting.join()
    assert client.proxied.rows.find_one() == {"_id": 1}
    assert between.reset > 0


def test_half_open_connections_are_silent_and_dead_afterwards(between, client):
    client.proxied.rows.insert_one({"_id": 1})
    silent = meanwhile(between.half_open, 1.0)
    with timeout(0.3), pytest.raises(PyMongoError) as caught:
        client.proxied.rows.insert_one({"_id": 2})
    assert caught.value.timeout
    silent.join()
    with MongoClient(between.uri) as later:
        assert later.proxied.rows.distinct("_id") == [1]


def test_an_answer_that_is_lost_is_that_of_a_command_that_took_effect(between, client):
    client.proxied.rows.insert_one({"_id": 1})
    losing = meanwhile(between.lose_answers, "insert", 1, 5.0)
    with pytest.raises(AutoReconnect):
        client.proxied.rows.insert_one({"_id": 2})
    losing.join()
    assert between.lost == 1
    assert client.proxied.rows.distinct("_id") == [1, 2]


def test_what_is_slow_comes_late(between, client):
    client.proxied.rows.insert_one({"_id": 1})
    slow = meanwhile(between.slow, 0.1, 0.5)
    start = time.monotonic()
    client.proxied.rows.find_one()
    assert time.monotonic() - start >= 0.2
    slow.join()


def test_a_run_survives_primaries_that_die_or_step_down_and_a_cut(tmp_path):
    *ports, port = free_ports(4)
    with three_servers(ports) as servers:
        subject = Subject(servers.uri, tmp_path, documents=600, serverSelectionTimeoutMS=2000)
        with subject.database.client:
            rows = list(primary_goes(subject, servers, 0.01))
            servers.settle()
            with proxy(port, servers.primary.port) as between:
                rows.append(network_cut(subject, between, 1))
    assert [(row.times, row.good) for row in rows] == [(1, 1)] * 3, rows
