# Changes nothing. What it prints last is its verdict: the work goes on, or back to the agent that it names.
cat > /dev/null
if grep -q toLowerCase src/slug.js; then
  echo '{ "verdict": "accept" }'
else
  echo '{ "verdict": "reject", "to": "developer", "reasons": "lower case is missing" }'
fi
