#!/bin/sh
# Builds the native programs where there is a compiler. Without one bosun works all the same, only slower.
cd "$(dirname "$0")/.." || exit 0
command -v cc >/dev/null 2>&1 || exit 0
mkdir -p build
for source in native/*.c; do
  program=build/$(basename "$source" .c)
  [ "$program" -nt "$source" ] && [ "$program" -nt native/sandbox.h ] && continue
  new=$program.$$
  cc -O2 -Wall -Wextra -static -o "$new" "$source" 2>/dev/null || cc -O2 -o "$new" "$source" || continue
  mv "$new" "$program"
done
