# Works at the same time as the developer, in a workspace of its own.
echo "describing $(grep -c '^- ' docs/spec.md) functions"
sleep 1
{
  echo '# Calculator'
  echo
  sed -n 's/^- //p' docs/spec.md
} > docs/calculator.md
