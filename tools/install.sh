#!/bin/sh
# Make or renew an environment:  install.sh FOLDER PYTHON EXTRAS   (PYTHON may be empty: one is looked for)
set -u
venv=$1
wanted=$2
extras=$3
here=$(dirname "$0")

if [ ! -x "$venv/bin/python" ]; then
  python=$(sh "$here/find_python.sh" $wanted) || exit 1
  echo "Making the environment $venv with $("$python" --version 2>&1)."
  if command -v uv >/dev/null 2>&1; then
    uv venv --quiet --python "$python" "$venv" || exit 1
  elif ! "$python" -m venv "$venv"; then
    rm -rf "$venv"
    echo "$python cannot make an environment. On Debian or Ubuntu: sudo apt install python3-venv. Then try again." >&2
    exit 1
  fi
fi

echo "Installing agentkit [$extras]. The first time this takes a minute or two."
# uv is quicker, but it reads no settings of pip: behind a mirror or a proxy pip may reach what uv cannot.
if ! { command -v uv >/dev/null 2>&1 &&
  uv pip install --quiet --python "$venv/bin/python" -c constraints.txt -e ".[$extras]"; }; then
  "$venv/bin/python" -m pip --version >/dev/null 2>&1 || "$venv/bin/python" -m ensurepip >/dev/null || exit 1
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[$extras]" || exit 1
fi

# The font list of matplotlib is made once, here, so that its message never lands in a notebook.
"$venv/bin/python" -c "import matplotlib.font_manager" 2>/dev/null || true
