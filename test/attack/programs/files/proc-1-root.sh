# Reads a secret through the root directory of the first process.
. "$PROGRAMS/report.sh"
text=$(cat "/proc/1/root$SECRET_FILE" 2>&1) || stopped "$text"
case $text in *"$SECRET"*) succeeded "read it through /proc/1/root" ;; esac
stopped 'something else was there'
