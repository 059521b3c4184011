# Writes through the working directory of any process it can find.
. "$PROGRAMS/report.sh"
name=$(basename "$TARGET_FILE")
for cwd in /proc/[0-9]*/cwd; do
  [ -f "$cwd/$name" ] || continue
  (echo attacked >>"$cwd/$name") 2>/dev/null && grep -q attacked "$cwd/$name" && succeeded "wrote it through $cwd"
done
stopped 'no process has it'
