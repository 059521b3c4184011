# The first plan has two owners of one file, which is refused; the second has none. One task of it fails, so the planner
# is asked again and writes another in its place.
prompt=$(cat)
page='"page": { "needs": ["store"], "agent": "worker", "prompt": "Write src/page.txt.", "scope": { "write": ["src/page.txt"] } }'
case $prompt in
  *'a part of it failed'*)
    echo '{ "tasks": { "page": { "agent": "worker", "prompt": "Write src/page.txt, simply.", "scope": { "write": ["src/page.txt"] } } } }' > "$BOSUN_OUTPUT"
    exit ;;
  *'was not enough'*) store=src/store.txt ;;
  *) store='src/**'; page=$(echo "$page" | sed 's/"needs": \["store"\], //') ;;
esac
cat > "$BOSUN_OUTPUT" <<PLAN
{ "tasks": {
  "roadmap": { "agent": "worker", "prompt": "Write docs/roadmap.md.", "scope": { "write": ["docs/roadmap.md"] } },
  "store": { "agent": "worker", "prompt": "Write src/store.txt.", "scope": { "write": ["$store"] } },
  $page
} }
PLAN
