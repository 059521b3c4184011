#!/bin/sh
# Builds the native launcher where there is a compiler. Without one bosun works all the same, only slower.
cd "$(dirname "$0")/.." || exit 0
command -v cc >/dev/null 2>&1 || exit 0
[ build/launch -nt native/launch.c ] && exit 0
mkdir -p build
new=build/launch.$$
cc -O2 -Wall -Wextra -static -o "$new" native/launch.c 2>/dev/null || cc -O2 -o "$new" native/launch.c || exit 0
mv "$new" build/launch
