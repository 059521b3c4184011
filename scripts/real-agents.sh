#!/bin/sh
# Installs the real agents that the tests run, apart from our own dependencies: 1.6 GB, so only where they are not there
# yet as the lock file says.
set -e
cd "$(dirname "$0")/../test/real"
mark=node_modules/.installed-lock
cmp -s package-lock.json "$mark" && exit 0
echo "bosun: installing the agents for the tests (about a minute, 1.6 GB)" >&2
# Their own scripts would build things that we do not need, and may fail at it.
npm ci --no-audit --no-fund --ignore-scripts --loglevel=error >&2
# But for this one, which puts the right program in place.
node node_modules/opencode-ai/postinstall.mjs >&2
cp package-lock.json "$mark"
