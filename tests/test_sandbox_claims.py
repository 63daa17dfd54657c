"""Each cell of `protects()` is attacked: what it claims must be what happens, also where it says "no"."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

from agentkit.safety.sandbox import HEADER, SandboxResult, engines, protects, run_python
from agentkit.safety.sandbox._limits import MOST_OUTPUT
from agentkit.safety.sandbox._protects import CANNOT_BE_TESTED, CLAIMS

LINUX = sys.platform.startswith("linux")
LIFTING = "lifting its own limits"
SLEEPER = "[sys.executable, '-I', '-S', '-c', 'import time; time.sleep(30)', {token!r}]"  # ends by itself, whatever the test does


@dataclass
class Scene:
    """What an attack has: the engine, a folder of its own outside the sandbox, and a word to find its children by."""

    engine: str
    folder: Path
    token: str = field(default_factory=lambda: f"sandbox-child-{secrets.token_hex(8)}")
    patience: float = 10.0  # seconds until what was ended must be gone

    def run(self, code: str, seconds: float = 20.0) -> SandboxResult:
        return run_python(code, engine=self.engine, seconds=seconds)

    def children(self) -> list[psutil.Process]:
        found = []
        for process in psutil.process_iter(["cmdline"]):
            if self.token in (process.info["cmdline"] or []):
                found.append(process)
        return found

    def survivors(self) -> list[psutil.Process]:
        """The children that live on. One that was killed may take a moment to go."""
        end = time.monotonic() + self.patience
        while (alive := [process for process in self.children() if not _gone(process)]) and time.monotonic() < end:
            psutil.wait_procs(alive, timeout=0.05)
        return alive


def _gone(process: psutil.Process) -> bool:
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def endless_loop(scene: Scene) -> bool:
    return scene.run("while True:\n    pass", seconds=0.5).limit == "time"


def memory(scene: Scene) -> bool:
    return scene.run("kept = []\nwhile True:\n    kept.append('x' * 1_000_000)").limit == "memory"


def memory_together(scene: Scene) -> bool:
    one = "x = bytearray(40 * 2**20); print('held', flush=True); import sys; sys.stdin.read()"
    code = f"""
import subprocess, sys
command = [sys.executable, "-I", "-S", "-c", {one!r}]
children = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(3)]
held = [child.stdout.readline() for child in children]
for child in children:
    child.stdin.close()
    child.wait()
held.count(b"held\\n")
"""
    return scene.run(code).value != 3  # 3 times 40 MiB at once, where 64 are allowed


def output(scene: Scene) -> bool:
    result = scene.run("while True:\n    print('x' * 1000)", seconds=3.0)  # monty is stopped only when its time is over
    return result.limit == "output" and 0 < len(result.output) <= MOST_OUTPUT


def value(scene: Scene) -> bool:
    result = scene.run("'x' * 10_000_000")
    return result.limit == "output" and result.value is None


def crash(scene: Scene) -> bool:
    result = scene.run("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)")
    return not result.ok and (scene.engine == "monty" or "SIGSEGV" in result.error or "139" in result.error)


def big_file(scene: Scene) -> bool:
    result = scene.run("open('big', 'wb').write(b'x' * 5_000_000)")
    return not result.ok and (scene.engine == "monty" or result.limit == "file size")


def many_files(scene: Scene) -> bool:
    return not scene.run("for n in range(12):\n    open(f'part-{n}', 'wb').write(b'x' * 900_000)").ok


def many_processes(scene: Scene) -> bool:
    command = SLEEPER.format(token=scene.token)
    code = f"import subprocess, sys\nlen([subprocess.Popen({command}) for _ in range(5)])"
    return scene.run(code).value != 5


def reading(scene: Scene) -> bool:
    secret = scene.folder / "secret.txt"
    secret.write_text("tulip", encoding="utf-8")
    found = scene.run(f"open({str(secret)!r}).read()").value == "tulip"
    also = scene.run(
        f"open({str(Path(__file__))!r}, encoding='utf-8').read(20)"
    ).value  # not under the folder for temporary files
    return not found and not also


def writing(scene: Scene) -> bool:
    target = scene.folder / "written.txt"
    scene.run(f"open({str(target)!r}, 'w').write('x')")
    return not target.exists()


def environment(scene: Scene) -> bool:
    assert os.environ["SANDBOX_TEST_SECRET"] == "tulip"
    result = scene.run("import os\n[name for name in os.environ if name in ('SANDBOX_TEST_SECRET', 'PATH', 'HOME')]")
    return not result.value


def environment_of_others(scene: Scene) -> bool:
    """From a Python that was started with a secret, since /proc shows the variables a process was started with."""
    look = """
import os
found = False
for name in os.listdir("/proc"):
    try:
        found = found or name.isdigit() and b"=tulip" in open(f"/proc/{name}/environ", "rb").read()
    except OSError:
        pass
found
"""
    code = f"from agentkit.safety.sandbox import run_python as r\nprint(r({look!r}, engine={scene.engine!r}, seconds=20).value)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True, timeout=120,
        env={**os.environ, "SANDBOX_TEST_SECRET": "tulip"},
    )  # fmt: skip
    return done.stdout.strip() != "True"


def network(scene: Scene) -> bool:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket\nwith socket.create_connection(('127.0.0.1', {port}), 10):\n    reached = True\nreached"
        return scene.run(code).value is not True


def other_processes(scene: Scene) -> bool:
    victim = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    try:
        result = scene.run(f"import os, signal\nos.kill({victim.pid}, signal.SIGTERM)\n'sent'")
        if result.value == "sent":
            victim.wait(timeout=20)
        return victim.poll() is None
    finally:
        victim.kill()
        victim.communicate()


def child(scene: Scene, more: str = "") -> bool:
    command = SLEEPER.format(token=scene.token)
    result = scene.run(f"import subprocess, sys\nsubprocess.Popen({command}{more})\n'started'")
    assert scene.engine == "monty" or result.value == "started"
    return not scene.survivors()


def child_that_leaves(scene: Scene) -> bool:
    return child(scene, ", start_new_session=True")


def lifting(scene: Scene) -> bool:
    code = "import resource as r\nr.setrlimit(r.RLIMIT_AS, (r.RLIM_INFINITY, r.RLIM_INFINITY))\n'lifted'"
    return scene.run(code).value != "lifted"


def may_lift_limits() -> bool:
    """Whether a process of this user may raise a hard limit again: root may, but not in every container."""
    code = "import resource as r\nfor most in (2**44, r.RLIM_INFINITY):\n    r.setrlimit(r.RLIMIT_AS, (most, most))"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, timeout=60).returncode == 0


ATTACKS: dict[str, Callable[[Scene], bool]] = {
    "an endless loop": endless_loop,
    "a process that takes too much memory": memory,
    "several processes that take too much together": memory_together,
    "endless output": output,
    "an enormous value as the result": value,
    "a crash of the interpreter": crash,
    "one enormous file": big_file,
    "very many files": many_files,
    "many processes at once": many_processes,
    "reading your files": reading,
    "writing outside its folder": writing,
    "reading its environment variables": environment,
    "reading the variables of the process that started it": environment_of_others,
    "using the network": network,
    "ending your other processes": other_processes,
    "a child that goes on after the end": child,
    "a child that leaves its group and goes on": child_that_leaves,
    LIFTING: lifting,
}


@pytest.fixture
def scene(engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    status = {row.engine: row for row in engines()}[engine]
    if not status.available:
        pytest.skip(status.note)
    if engine != "monty" and not LINUX:
        pytest.skip("what a real process may do differs between systems; the table is about Linux")
    monkeypatch.setenv("SANDBOX_TEST_SECRET", "tulip")
    made = Scene(engine, tmp_path)
    yield made
    for process in made.children():
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()


@pytest.mark.parametrize("engine", HEADER[1:])
@pytest.mark.parametrize("danger", sorted(CLAIMS.keys() - CANNOT_BE_TESTED), ids=lambda text: text.replace(" ", "-"))
def test_what_an_engine_claims_is_what_happens(danger: str, engine: str, scene: Scene) -> None:
    claim = CLAIMS[danger][HEADER.index(engine) - 1]
    scene.patience = 20.0 if claim.holds else 0.5
    expected = claim.holds or (danger == LIFTING and not may_lift_limits())  # as the words of this cell say
    assert ATTACKS[danger](scene) is expected, claim


def test_every_claim_has_an_attack() -> None:
    assert ATTACKS.keys() == CLAIMS.keys() - CANNOT_BE_TESTED


def test_the_table_says_yes_or_no_and_why() -> None:
    rows = protects()
    assert len(rows) == len(CLAIMS) and len(HEADER) == 4
    cells: list[Any] = [cell for row in rows for cell in row[1:]]
    assert all(cell.startswith(("yes: ", "no: ")) and len(cell) > 8 for cell in cells)
    assert any(cell.startswith("no") for row in rows for cell in row[1:2]), "no engine protects from everything"
