"""The process engines: what is left behind, and what a hostile program says about itself."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit.safety.sandbox import (
    SandboxResult,
    _folder,
    _inside,
    _process,
    engines,
    run_python,
)
from agentkit.safety.sandbox._limits import Job

POSIX = os.name == "posix"
posix_only = pytest.mark.skipif(not POSIX, reason="needs limits and process groups of POSIX systems")


def process(code: str, **more: Any) -> SandboxResult:
    return run_python(code, engine="subprocess", **{"seconds": 20.0, **more})


# The process engine: what is left behind, and what a hostile program says about itself


def test_it_is_an_isolated_python_with_nothing_to_read() -> None:
    code = "import sys, os\n[sys.flags.isolated, sys.flags.no_site, sys.stdin.read(), os.listdir('.'), sys.flags.utf8_mode]"
    assert process(code).value == [1, 1, "", [], 1]


def test_the_job_cannot_be_read_again() -> None:
    assert process("import os, stat\n[stat.S_ISCHR(os.fstat(0).st_mode), os.read(0, 9)]").value == [True, ""]


@posix_only
def test_a_child_that_keeps_the_pipes_keeps_nothing_of_ours_open() -> None:
    process("1")
    before = (psutil.Process().num_fds(), threading.active_count())
    command = "[sys.executable, '-I', '-S', '-c', 'import time; time.sleep(30)']"
    result = process(f"import subprocess, sys\nsubprocess.Popen({command}, start_new_session=True).pid")
    try:
        assert psutil.pid_exists(result.value)
        assert (psutil.Process().num_fds(), threading.active_count()) == before
    finally:
        psutil.Process(result.value).kill()


def test_the_system_is_read_only_in_bwrap() -> None:
    if not engines()[2].available:
        pytest.skip(engines()[2].note)
    target = Path(sys.base_prefix) / f"sandbox-test-{os.getpid()}"
    try:
        result = run_python(f"open({str(target)!r}, 'w')", engine="bwrap", seconds=20)
        assert result.error.startswith("OSError in line 1") and not target.exists()
    finally:
        target.unlink(missing_ok=True)


def test_its_folder_is_removed(tmp_path: Path) -> None:
    here = process("import os\nopen('a', 'w').write('x')\nos.getcwd()").value
    assert Path(here).name.startswith("sandbox-") and not Path(here).exists()
    late = process("import os, sys\nprint(os.getcwd())\nwhile True:\n    pass", seconds=0.5)
    assert late.limit == "time" and late.output and not Path(late.output.strip()).exists()


@posix_only
def test_a_folder_full_of_traps_is_removed_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("kept", encoding="utf-8")
    code = f"""
import os
here = os.getcwd()
os.symlink({str(tmp_path)!r}, "outside")
os.mkdir("closed")
os.mkdir("closed/inner")
open("closed/inner/file", "w").close()
os.symlink({str(tmp_path)!r}, "closed/inner/outside")
os.chmod("closed/inner", 0)
os.chmod("closed", 0)
for _ in range(1_500):
    os.mkdir("deep")
    os.chdir("deep")
here
"""
    here = process(code).value
    assert here and not Path(here).exists()
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@posix_only
def test_a_folder_that_cannot_be_removed_is_no_error(tmp_path: Path) -> None:
    _folder.remove(tmp_path / "nothing")
    (tmp_path / "file").write_text("x", encoding="utf-8")
    _folder.remove(tmp_path / "file")
    assert (tmp_path / "file").exists()


@posix_only
def test_nothing_is_left_open(tmp_path: Path) -> None:
    process("1")
    before = (psutil.Process().num_fds(), threading.active_count(), len(psutil.Process().children()))
    for code in ("1", "1 / 0", "while True:\n    print('x' * 1000)", "import os\nos._exit(3)"):
        process(code)
    process("while True:\n    pass", seconds=0.3)
    assert (psutil.Process().num_fds(), threading.active_count(), len(psutil.Process().children())) == before


@posix_only
def test_an_interrupt_ends_the_program_and_removes_its_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def interrupt(_: Any) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(_process, "_has_ended", interrupt)
    monkeypatch.setattr(_folder.tempfile, "tempdir", str(tmp_path))
    children = psutil.Process().children()
    with pytest.raises(KeyboardInterrupt):
        process("while True:\n    pass")
    assert psutil.Process().children() == children and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import os\nos._exit(7)", "exit status 7"), ("import sys\nsys.exit('enough')", "ended itself with 'enough'"),
        pytest.param("import os\nos.kill(os.getpid(), 9)", "SIGKILL", marks=posix_only),
        ("import os\nfor n in range(3, 9):\n    try:\n        os.write(n, b'[' * 50_000)\n    except OSError:\n        pass\nos._exit(0)", "without an answer"),
        ("import os\nfor n in range(3, 9):\n    try:\n        os.write(n, b'[1]')\n    except OSError:\n        pass\nos._exit(0)", "without an answer"),
        ("class E(Exception):\n    def __str__(self):\n        raise E\nraise E", "E in line 4"),
        ("import sys\nsys.stdout.close()\n1 / 0", "ZeroDivisionError in line 3"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt in line 1"),
    ],
    ids=range(8),
)  # fmt: skip
def test_a_strange_end_is_told(code: str, words: str) -> None:
    result = process(code)
    assert not result.ok and words in result.error and not result.limit


def test_leaving_early_without_a_fault_is_no_fault() -> None:
    result = process("print('done')\nimport sys\nsys.exit()")
    assert (result.ok, result.output) == (True, "done\n")


def test_a_report_without_end_meets_a_limit() -> None:
    code = "import os\nwhile True:\n    for n in range(3, 9):\n        try:\n            os.write(n, b' ' * 10_000)\n        except OSError:\n            pass"
    assert process(code).limit == "output"


def test_the_python_stack_may_overflow() -> None:
    result = process("import sys\nsys.setrecursionlimit(10**9)\ndef f():\n    return f()\nf()")
    assert not result.ok and result.error
    assert process("1").value == 1


def test_threads_of_the_program_do_not_hold_it_back() -> None:
    result = process("import threading, time\nthreading.Thread(target=time.sleep, args=(30,)).start()\n'done'")
    assert (result.ok, result.value) == (True, "done")


@posix_only
def test_the_report_is_not_open_for_children_and_so_are_other_files() -> None:
    code = "import subprocess, sys\nsubprocess.run([sys.executable, '-I', '-S', '-c', 'import os; print(os.listdir(\"/dev/fd\"))'], close_fds=False).returncode"
    result = process(code)
    assert result.value == 0 and len(eval(result.output)) <= 4  # 0, 1, 2 and the listing itself


# Small parts


def test_a_report_is_believed_only_as_far_as_it_is_one() -> None:
    job = Job("", {}, 1.0, 64, "subprocess")
    for raw in (
        b"",
        b"null",
        b"[]",
        b'"x"',
        b"{",
        b"\xff",
        b"[" * 99_999,
        b'{"ok": 1}',
        b'{"limit": ["time"], "error": {}}',
    ):
        result = _process.told(job, _process.Ended(0, False, b"", raw, False))
        assert (
            not result.ok
            and result.error == "The program ended without an answer (exit status 0)."
            and result.limit == ""
        )
    assert (
        _process.told(job, _process.Ended(-999, False, b"", b"", False)).error
        == "The program was ended by the signal 999."
    )
    assert (
        _process.told(job, _process.Ended(0, False, b"\xff", b'{"ok": true}', False)).output
        == "\N{REPLACEMENT CHARACTER}"
    )


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda part: st.lists(part, max_size=4) | st.dictionaries(st.text(), part, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_a_value_that_json_has_stays_as_it_is(value: Any) -> None:
    assert _inside.plain(value, 100_000) == value


def test_a_value_costs_as_much_as_it_is_long() -> None:
    assert _inside.plain("x" * 99, 100) == "x" * 99
    for value in ("x" * 100, list(range(60)), {"k" * 60: "v" * 60}, b"x" * 100):
        with pytest.raises(_inside.TooLong):
            _inside.plain(value, 100)
