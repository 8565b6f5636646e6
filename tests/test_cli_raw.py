"""`turnlog raw`: exactly the bytes, and nothing else."""

import pytest

from commands import CLAUDE, DEMO, rows, turnlog, user

PACKED = next(DEMO.rglob("*.jsonl.zst"))


def test_a_file_comes_out_byte_for_byte():
    done = turnlog("raw", CLAUDE)

    assert (done.returncode, done.stdout, done.stderr) == (0, CLAUDE.read_bytes(), b"")


@pytest.mark.parametrize("data", [b"", b"\0\xff\xfe\r\n\x1b[2J", b"no end"])
def test_bytes_are_not_looked_at(tmp_path, data):
    path = tmp_path / "x"
    path.write_bytes(data)

    assert turnlog("raw", path).stdout == data


def test_a_range_is_half_open():
    data = CLAUDE.read_bytes()

    assert turnlog("raw", CLAUDE, "--start", "10", "--end", "25").stdout == data[10:25]
    assert turnlog("raw", CLAUDE, "--start", "1k").stdout == data[1024:]
    assert turnlog("raw", CLAUDE, "--end", "0").stdout == b""


def test_the_range_an_event_names_is_its_record():
    for row in rows(PACKED)[:4]:
        record = turnlog("raw", PACKED, "--start", str(row["start"]), "--end", str(row["end"])).stdout
        assert record == turnlog("raw", PACKED, "--line", str(row["line"])).stdout
        assert record.startswith(b"{")
        assert record.endswith(b"}\n")


def test_a_line_is_a_physical_one(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"\n" + user("a") + "a\u2028b\n".encode() + b"last")

    assert turnlog("raw", path, "--line", "1").stdout == b"\n"
    assert turnlog("raw", path, "--line", "3").stdout == "a\u2028b\n".encode()
    assert turnlog("raw", path, "--line", "4").stdout == b"last"
    assert turnlog("raw", path, "--line", "5").returncode == 1


def test_a_range_past_the_end_gives_what_there_is_and_says_so(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"abc")
    done = turnlog("raw", path, "--end", "5")

    assert (done.returncode, done.stdout) == (3, b"abc")
    assert b"expected 5 bytes, found 3" in done.stderr
    assert turnlog("raw", tmp_path / "no").returncode == 4
    assert turnlog("raw", tmp_path).returncode == 4


def test_a_cut_compressed_file_gives_what_there_is_and_says_so(tmp_path):
    path = tmp_path / "x.jsonl.zst"
    path.write_bytes(PACKED.read_bytes()[:-20])

    done = turnlog("raw", path)
    assert done.returncode in {3, 4}
    assert b"zstd" in done.stderr


@pytest.mark.parametrize(
    "words", [["--start", "5", "--end", "4"], ["--line", "0"], ["--line", "1", "--start", "1"], ["--start", "none"]]
)
def test_a_range_that_cannot_be_is_wrong_usage(words):
    assert turnlog("raw", CLAUDE, *words).returncode == 2
