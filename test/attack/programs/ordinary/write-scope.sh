# Writes, renames and deletes in the directory that the scope names.
. "$PROGRAMS/report.sh"
cd "$WORKSPACE/src" || stopped 'no workspace'
echo one >a && mv a b && mkdir c && mv b c/d && grep -q one c/d && rm -r c || stopped 'writing'
echo two >>index.js || stopped 'writing to what was there'
echo three >/tmp/mine && rm /tmp/mine || stopped 'writing to /tmp'
succeeded 'wrote'
