# Looks at the code and gives a verdict as structured output.
topic=$(sed 's/.* for \(.*\)\./\1/')
echo "reviewing for $topic: $(wc -l < src/calculator.js) lines"
sleep 0.7
echo '{ "verdict": "accept" }' > "$BOSUN_OUTPUT"
