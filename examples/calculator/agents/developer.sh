# Gets the second function wrong at first, as agents do; the check's output comes back in the next prompt.
prompt=$(cat)
if echo "$prompt" | grep -q 'was not enough'; then
  echo "the check failed, so I look at subtract again"
  minus='a - b'
else
  echo "writing src/calculator.js"
  minus='b - a'
fi
sleep 0.8
mkdir -p src
cat > src/calculator.js <<SOURCE
export const add = (a, b) => a + b;
export const subtract = (a, b) => $minus;
SOURCE
