# Writes the specification, and tells the tasks after it how much there is to do.
echo "reading the prompt: $(cat)"
sleep 0.6
mkdir -p docs
cat > docs/spec.md <<'SPEC'
# Calculator

- `add(a, b)` gives the sum.
- `subtract(a, b)` gives the difference.
SPEC
echo '{ "functions": 2 }' > "$BOSUN_OUTPUT"
echo "docs/spec.md is written"
