# Reads a secret through the root directory of any process it can find.
. "$PROGRAMS/report.sh"
for root in /proc/[0-9]*/root; do
  case $(cat "$root$SECRET_FILE" 2>/dev/null) in *"$SECRET"*) succeeded "read it through $root" ;; esac
done
stopped 'no process has it'
