# Right, and slow.
cat > /dev/null
mkdir -p src
cat > src/sort.js <<'SOURCE'
export function sort(numbers, less = (a, b) => a < b) {
  const list = [...numbers];
  for (let i = 0; i < list.length; i++)
    for (let j = i + 1; j < list.length; j++) if (less(list[j], list[i])) [list[i], list[j]] = [list[j], list[i]];
  return list;
}
SOURCE
echo "two loops"
