# Takes a moment longer to write, and less to run.
cat > /dev/null
mkdir -p src
cat > src/sort.js <<'SOURCE'
export function sort(numbers, less = (a, b) => a < b) {
  if (numbers.length < 2) return [...numbers];
  const middle = numbers.length >> 1;
  const [left, right] = [sort(numbers.slice(0, middle), less), sort(numbers.slice(middle), less)];
  const list = [];
  while (left.length && right.length) list.push(less(right[0], left[0]) ? right.shift() : left.shift());
  return [...list, ...left, ...right];
}
SOURCE
echo "merge sort"
