# Phase 2: wants a file in the directory that storage owns. Storage says no while it works there, and yes once it is done.
cat > /dev/null
mkdir -p src/lib/agent src/lib/core
echo 'export function capture(text: string) {}' > src/lib/agent/capture.ts
echo 'export function observe() {}' > src/lib/core/observer.ts
bosun agent request-access src-tauri/src/memory/capture.rs || echo "not yet, so I wait for storage to tell me"
bosun agent wait-for message storage --timeout 60s
bosun agent inbox
bosun agent request-access src-tauri/src/memory/capture.rs
mkdir -p src-tauri/src/memory
echo 'pub fn capture(text: &str) {}' > src-tauri/src/memory/capture.rs
