# Makes a symbolic link that points outside and writes through it.
. "$PROGRAMS/report.sh"
link=$WORKSPACE/src/link
ln -s "$TARGET_FILE" "$link" || stopped 'no link'
why=$( (echo attacked >>"$link") 2>&1) || { rm -f "$link"; stopped "$why"; }
rm -f "$link"
grep -q attacked "$TARGET_FILE" && succeeded "wrote $TARGET_FILE"
stopped 'nothing arrived'
