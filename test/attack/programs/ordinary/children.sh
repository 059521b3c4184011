# Starts a child, ends it with a signal and sees that it ended.
. "$PROGRAMS/report.sh"
sleep 5 &
kill -TERM $! || stopped 'signalling'
wait $!
[ $? -eq 143 ] && succeeded 'ended its child'
stopped 'the child ended otherwise'
