"""What lets members in, by the settings of Spark; no session is needed to tell."""

import socket
from types import SimpleNamespace

import pytest

from engine import EvaluationError
from engine.cluster.listener import NoPort, listening
from engine.spark.member_credentials import new_credentials, ports_of
from engine.spark.socket_communicator import Credentials, SocketCommunicator

HOST = "127.0.0.1"


def spark(**settings):
    named = {f"spark.{name.replace('_', '.')}": value for name, value in settings.items()}
    return SimpleNamespace(sparkContext=SimpleNamespace(getConf=lambda: named))


@pytest.mark.parametrize("name", ["network_crypto_enabled", "ssl_enabled", "ssl_rpc_enabled"])
def test_members_encrypt_where_spark_does(name):
    assert b"PRIVATE KEY" in new_credentials(spark(**{name: "true"})).pem
    assert new_credentials(spark(**{name: "false"}, authenticate="true")).pem == b""


def test_each_run_has_a_secret_of_its_own_that_no_log_shows():
    one, other = new_credentials(spark()), new_credentials(spark())
    assert one.key != other.key and len(one.key) == 32
    assert "key" not in repr(one)


def test_ports_are_a_range():
    assert new_credentials(spark(analyze_ports="40000-40001")).ports == range(40000, 40002)
    for text in ("40000", "2-1", "0-9", "1-65536", "a-b"):
        with pytest.raises(EvaluationError, match="write FIRST-LAST"):
            ports_of(text)


def test_a_member_listens_on_the_first_port_that_is_free():
    with socket.create_server((HOST, 0)) as one, socket.create_server((HOST, 0)) as other:
        taken = [server.getsockname()[1] for server in (one, other)]
        with listening(HOST, [*taken, 0]) as listener:
            assert listener.getsockname()[1] not in taken
        with pytest.raises(NoPort), listening(HOST, taken):
            pass
        with pytest.raises(EvaluationError, match="give spark.analyze.ports more of them"):
            SocketCommunicator(0, 2, HOST, Credentials(ports=range(taken[0], taken[0] + 1)), lambda address: [address])
