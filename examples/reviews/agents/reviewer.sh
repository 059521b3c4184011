# Gives a verdict as structured output. It may change nothing, and its output must fit the schema of the task.
topic=$(sed 's/.* for \(.*\)\./\1/')
case $topic in
  security) echo '{ "verdict": "reject", "why": "the password is in the log" }' ;;
  *) echo "{ \"verdict\": \"accept\", \"why\": \"$topic is fine\" }" ;;
esac > "$BOSUN_OUTPUT"
echo "reviewed for $topic"
