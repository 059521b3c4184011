# Reads a secret outside by its absolute path.
. "$PROGRAMS/report.sh"
text=$(cat "$SECRET_FILE" 2>&1) || stopped "$text"
case $text in *"$SECRET"*) succeeded "read $SECRET_FILE" ;; esac
stopped 'something else was there'
