# Changes a file and commits it, as coding agents do.
. "$PROGRAMS/report.sh"
cd "$WORKSPACE" || stopped 'no workspace'
echo changed >>src/index.js
why=$(git status --porcelain 2>&1 && git add src 2>&1 && git -c user.name=a -c user.email=a@localhost commit -qm mine 2>&1) || stopped "$why"
git log --oneline | grep -q mine && succeeded 'committed'
stopped 'no commit'
