"""`thinkback-lab patients`: the simulated patients in the clinic of a real server."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from tests.acceptance.http_app import AuthenticateAs, Client, open_app, serve_app
from typer.testing import CliRunner, Result

from thinkback.memory import Memory
from thinkback.server.app import create_api
from thinkback_lab.cli import app


@pytest.fixture
def client() -> Iterator[Client]:
    with (
        Memory.open(":memory:", embedder="hashing", background=False) as memory,
        open_app(create_api, memory) as api,
        serve_app(AuthenticateAs(api)) as client,
    ):
        yield client


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["patients", *words], prog_name="thinkback-lab")


def test_patients_can_be_seen_in_the_clinic(client: Client) -> None:
    url = f"http://127.0.0.1:{client.port}"
    done = run("--url", url, "--only", "p01", "--json")
    assert done.exit_code == 0, done.output
    stored = json.loads(done.stdout)["patients"]
    assert set(stored) == {"p01.en", "p01.zh"}
    assert run("--url", url, "--only", "p01.en").exit_code == 0, "storing it again changes nothing"
    patients = client.request("GET", "/v1/clinic/patients").json["items"]
    assert {each["name"]: each["turns"] for each in patients} == stored
    record = client.request("GET", "/v1/clinic/patients/p01.en/record").json
    series = {each["item"]: [point["values"] for point in each["points"]] for each in record["findings"]}
    assert series["creatinine"] == [[48.0]]
    assert any("sulfa" in row["quote"] for row in record["rows"] if row["category"] == "allergy")
    assert any("amlodipine" in row["quote"] for row in record["medication"])
    visits = client.request("GET", "/v1/clinic/patients/p01.zh/visits").json["items"]
    assert [visit["session"] for visit in visits] == ["visit-1", "visit-2", "visit-3"]


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "file:///etc", "nonsense"])
def test_unusable_server_is_reported_in_one_line(url: str) -> None:
    done = run("--url", url, "--only", "p01.en")
    assert done.exit_code == 1
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("error: ")
