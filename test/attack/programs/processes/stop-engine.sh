# Stops the engine with a signal, without ending it.
. "$PROGRAMS/report.sh"
why=$(kill -STOP "$ENGINE_PID" 2>&1) || stopped "$why"
kill -CONT "$ENGINE_PID"
succeeded "stopped $ENGINE_PID"
