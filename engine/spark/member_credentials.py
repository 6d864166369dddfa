"""Credentials of members by Spark's settings: a secret of the run, ports, and encryption if Spark encrypts."""

from __future__ import annotations

import re

from pyspark.sql import SparkSession

from engine.cluster.tls import certificate
from engine.database import EvaluationError
from engine.spark.socket_communicator import Credentials

PORTS = "spark.analyze.ports"
ENCRYPTING = (
    "spark.network.crypto.enabled",
    "spark.ssl.enabled",
    "spark.ssl.rpc.enabled",
    "spark.authenticate.enableSaslEncryption",
)
"""If one of these is on, Spark encrypts its own traffic, including the secret and the key of members."""


def new_credentials(spark: SparkSession) -> Credentials:
    """Return a new access for the members of a run. Raises EvaluationError."""
    settings = spark.sparkContext.getConf()
    ports = ports_of(settings.get(PORTS, "") or "")
    if not any((settings.get(name, "") or "").lower() == "true" for name in ENCRYPTING):
        return Credentials(ports=ports)
    try:
        return Credentials(ports=ports, pem=certificate())
    except ImportError as error:
        message = f"encrypted connections of members need {error.name}: pip install cryptography"
        raise EvaluationError(message) from None


def ports_of(text: str) -> range:
    """Return the ports FIRST-LAST, or any that the system chooses for ""."""
    if not text:
        return range(1)
    found = re.fullmatch(r"(\d{1,5})-(\d{1,5})", text)
    if not found or not 0 < int(found[1]) <= int(found[2]) < 1 << 16:
        raise EvaluationError(f"{PORTS}={text}: write FIRST-LAST, as 40000-40100, a port for each member of a machine")
    return range(int(found[1]), int(found[2]) + 1)
