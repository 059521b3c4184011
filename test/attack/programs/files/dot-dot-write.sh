# Climbs out of the workspace with .. and writes there.
. "$PROGRAMS/report.sh"
cd "$WORKSPACE/src" || stopped 'no workspace'
why=$( (echo attacked >>../../../outside/target.txt) 2>&1) || stopped "$why"
grep -q attacked "$TARGET_FILE" && succeeded "wrote $TARGET_FILE"
stopped 'nothing arrived'
