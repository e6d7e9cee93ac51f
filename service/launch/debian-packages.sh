#!/usr/bin/env bash
# What the whole suite needs from Debian, where it is missing. On other systems those tests say what they need.
set -u
command -v apt-get > /dev/null || exit 0
missing=()
command -v redis-server > /dev/null || missing+=(redis-server)
# The browser without its window: pictures and layout are the same, in half the time.
command -v chromium-headless-shell > /dev/null || missing+=(chromium-headless-shell)
# The client for Python is tested with Debian's own.
[ -x /usr/bin/python3 ] && /usr/bin/python3 -c 'import httpx, setuptools, wheel' 2> /dev/null || missing+=(python3 python3-httpx python3-setuptools python3-wheel)
[ -x /usr/bin/mypy ] || missing+=(mypy)
# A server whose pg_dump is of its own version, for the test of backups.
compgen -G '/usr/lib/postgresql/*/bin/initdb' > /dev/null || missing+=(postgresql)
[ ${#missing[@]} -eq 0 ] && exit 0
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo -n)
"${as_root[@]}" apt-get update -qq &&
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" > /dev/null
