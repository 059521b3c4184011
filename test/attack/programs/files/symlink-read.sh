# Makes a symbolic link to a secret's directory and reads through it.
. "$PROGRAMS/report.sh"
link=$WORKSPACE/src/link
ln -s "$(dirname "$SECRET_FILE")" "$link" || stopped 'no link'
text=$(cat "$link/$(basename "$SECRET_FILE")" 2>&1)
rm -f "$link"
case $text in *"$SECRET"*) succeeded "read $SECRET_FILE" ;; esac
stopped "$text"
