# Climbs over its own root directory with .. and reads a secret.
. "$PROGRAMS/report.sh"
text=$(cat "/proc/self/root/../..$SECRET_FILE" 2>&1) || stopped "$text"
case $text in *"$SECRET"*) succeeded 'read it over the root' ;; esac
stopped 'something else was there'
