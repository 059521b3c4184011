# Phase 2: publishes the interface as soon as others can build on it, and goes on.
cat > /dev/null
mkdir -p src-tauri/src/memory
echo 'pub fn save(event: Event) {}' > src-tauri/src/memory/api.rs
bosun agent publish storage --value '{ "table": "events" }'
answer() { # waits for somebody to ask, and answers
  id=
  while [ -z "$id" ]; do id=$(bosun agent inbox --wait 20s | sed -n 's/^\(capture+[0-9]*\) .*/\1/p'); done
  bosun agent answer "$id" "$1"
}
answer no
echo 'pub fn load() -> Vec<Event> { vec![] }' > src-tauri/src/memory/store.rs
bosun agent send capture "I am done with src-tauri/src/memory"
answer yes
