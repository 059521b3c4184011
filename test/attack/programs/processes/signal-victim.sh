# Ends a process of somebody else.
. "$PROGRAMS/report.sh"
why=$(kill -KILL "$VICTIM_PID" 2>&1) || stopped "$why"
succeeded "sent KILL to $VICTIM_PID"
