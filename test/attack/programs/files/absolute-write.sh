# Writes to a file outside by its absolute path.
. "$PROGRAMS/report.sh"
why=$( (echo attacked >>"$TARGET_FILE") 2>&1) || stopped "$why"
grep -q attacked "$TARGET_FILE" && succeeded "wrote $TARGET_FILE"
stopped 'nothing arrived'
