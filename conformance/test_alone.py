"""Nothing was reached but the server of our own."""

import json
import subprocess

import loopback
from driver import environment

LOOK = "console.log(JSON.stringify(Object.keys(require('os').networkInterfaces())))"


def test_every_request_came_from_this_machine(runs):
    requests = [served for name in ("plain", "compaction", "steering") for served in runs[name].served]

    assert {served.client for served in requests} == {"127.0.0.1"}


def test_what_is_started_sees_loopback_only_or_a_proxy_that_refuses(alone, installed, tmp_path):
    env = environment(tmp_path, installed)
    if alone:
        done = subprocess.run([installed.node, "-e", LOOK], env=env, capture_output=True, check=True)

        assert loopback.interfaces() == ["lo"]
        assert json.loads(done.stdout) == ["lo"]
    else:
        assert env["HTTP_PROXY"] == env["HTTPS_PROXY"]
        assert env["HTTP_PROXY"].startswith("http://127.0.0.1:")
