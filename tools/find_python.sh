#!/bin/sh
# Print a Python that is new enough for the course (3.11 or later), or with --all each minor version once.
# With a name as argument, accept only that one.
set -u

fits() {
  command -v "$1" >/dev/null 2>&1 && "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

refuse() {
  echo "$1 Install one from python.org or with your system's package manager, then run the command again." >&2
  exit 1
}

case "${1:-}" in
  --all)
    all=""
    seen=""
    for one in python3.11 python3.12 python3.13 python3.14 python3 python; do
      fits "$one" || continue
      version=$("$one" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
      case " $seen " in *" $version "*) continue ;; esac
      seen="$seen $version"
      all="$all $one"
    done
    [ -n "$all" ] || refuse "The course needs Python 3.11 or later, and none was found."
    for one in $all; do echo "$one"; done
    ;;
  "")
    for one in python3 python3.14 python3.13 python3.12 python3.11 python; do
      if fits "$one"; then echo "$one"; exit 0; fi
    done
    refuse "The course needs Python 3.11 or later, and none was found."
    ;;
  *)
    fits "$1" || refuse "\`$1\` is not there or is older than Python 3.11, which the course needs."
    echo "$1"
    ;;
esac
