#!/bin/sh
# Installs what bosun needs from the system, when it may; else says in one line what to install.
# git and util-linux hold the workspaces, bubblewrap the fences, socat the way to allowed hosts; tmux shows the tests
# what a person would see, sshd is a remote; the attacks are written in perl and sh, in a network and a terminal of their own.
missing=""
need() { # program package
  command -v "$1" >/dev/null 2>&1 || missing="$missing $2"
}
need git git
need unshare util-linux
need setpriv util-linux
need mount mount
need tar tar
need bwrap bubblewrap
need socat socat
if [ "${1:-}" = test ]; then
  need tmux tmux
  need chromium chromium
  need perl perl
  need script bsdutils
  need openssl openssl
  need gh gh
  need systemd-analyze systemd
  [ -x /usr/sbin/sshd ] || need sshd openssh-server
  [ -x /sbin/ip ] || [ -x /usr/sbin/ip ] || need ip iproute2
fi
# A compiler makes starts faster; it is fetched where that is ours to do, and not asked for elsewhere.
[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 && { need cc gcc; [ -e /usr/include/stdio.h ] || missing="$missing libc6-dev"; }
kind="${1:-}"
finish() { # what is made here, once the system has all it takes
  sh "$(dirname "$0")/build-native.sh"
  [ "$kind" != test ] || sh "$(dirname "$0")/real-agents.sh"
}
[ -z "$missing" ] && { finish; exit; }

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "bosun: installing$missing" >&2
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq >&2 && apt-get install -y -qq --no-install-recommends $missing >&2 && { finish; exit; }
fi
echo "bosun: please install:$missing (on Debian or Ubuntu: sudo apt-get install$missing)" >&2
exit 1
