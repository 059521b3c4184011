# Writes through the root and the working directory of the first process.
. "$PROGRAMS/report.sh"
text=$(ls /proc/1/root 2>&1) || stopped "$text"
for file in "/proc/1/root$TARGET_FILE" "/proc/1/root$WORKSPACE/docs/spec.md" "/proc/1/cwd$WORKSPACE/docs/spec.md" \
  /proc/1/cwd/docs/spec.md; do
  [ -e "$file" ] || continue
  echo attacked 2>/dev/null >>"$file" && succeeded "wrote it through $file"
done
stopped 'nothing there can be written'
